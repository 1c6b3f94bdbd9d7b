"""What must not compile: every file of cases/ says in its first lines what the compiler answers, and why.

    // expect: <text of the diagnostic>

Usage: run.py <compiler> <include folder>..."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"


def expected(path):
    return [line.split("// expect: ", 1)[1].strip() for line in path.read_text().splitlines() if "// expect: " in line]


def compile_case(compiler, includes, path):
    command = [compiler, "-std=c++23", "-fsyntax-only", *(f"-I{folder}" for folder in includes), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main(compiler, *includes):
    wrong = []
    paths = sorted(CASES.glob("*.cpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = list(pool.map(lambda path: compile_case(compiler, includes, path), paths))
    for path, (status, output) in zip(paths, compiled):
        texts = expected(path)
        if not texts and status != 0:
            wrong.append(f"{path.name}: is right and does not compile\n{output}")
        if texts and status == 0:
            wrong.append(f"{path.name}: compiles, and must not")
        for text in texts if status != 0 else []:
            if text not in output:
                wrong.append(f"{path.name}: does not say: {text}\n{output[:2000]}")
    for line in wrong:
        print(line)
    print(f"{len(paths)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
