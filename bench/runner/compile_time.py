"""Group `compile`: CPU seconds of the compiler for one file, without precompiled header and ccache."""
import os
import resource
import subprocess
from pathlib import Path

from .figures import figure

TARGETS = []
ROOT = Path(__file__).resolve().parents[2]
SOURCES = {"one_handler": "one_handler.cpp", "ten_handlers": "ten_handlers.cpp"}
RUNS = 5
COMPILER = os.environ.get("CXX", "clang++-19")


def seconds(source):
    includes = [f"-I{ROOT}/libs/{library}/include" for library in ("core", "memory")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([COMPILER, "-std=c++23", "-O2", *includes, "-c", ROOT / "bench" / "compile" / source, "-o", os.devnull],
                   check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(_build_dir, _options):
    times = {name: [] for name in SOURCES}
    for _ in range(RUNS):
        for name, source in SOURCES.items():
            times[name].append(seconds(source))
    return [figure(f"compile.{name}.seconds", "CPU seconds", values) for name, values in times.items()]
