#!/usr/bin/env python3
"""Figures for the decision on the coroutine type: run.py BUILD_DIR, after building bench_decision_coroutines there."""
import os
import re
import resource
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def instructions(program, kind, shape):
    counts = []
    for calls in (1000, 2000):
        ran = subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null", program,
                              kind, shape, str(calls)], capture_output=True, text=True, check=True)
        counts.append(int(re.search(r"Collected : (\d+)", ran.stderr).group(1)))
    return (counts[1] - counts[0]) / 1000


def blocks(program, kind, shape):
    counts = []
    for calls in (1000, 2000):
        ran = subprocess.run(["valgrind", "--tool=dhat", "--dhat-out-file=/dev/null", program, kind, shape, str(calls)],
                             capture_output=True, text=True, check=True)
        counts.append(int(re.search(r"Total: .* in ([\d,]+) blocks", ran.stderr).group(1).replace(",", "")))
    return (counts[1] - counts[0]) / 1000


def compile_seconds(source):
    taken = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["clang++-19", "-std=c++23", "-O2", f"-I{ROOT}/libs/core/include", f"-I{ROOT}/libs/memory/include",
                        "-c", source, "-o", os.devnull], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(taken)


def main():
    program = Path(sys.argv[1]) / "bench" / "bench_decision_coroutines"
    for kind in ("task", "asio-spawned", "asio-awaited"):
        for shape in ("plain", "nested"):
            print(f"{kind:13} {shape:7} {instructions(program, kind, shape):8.1f} instructions/call "
                  f"{blocks(program, kind, shape):6.3f} blocks/call")
    for source in sorted(HERE.glob("compile_*.cpp")):
        print(f"{source.name:28} {compile_seconds(source):5.2f} CPU s")


if __name__ == "__main__":
    main()
