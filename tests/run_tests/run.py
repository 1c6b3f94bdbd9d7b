"""tools/run-tests leaves out what passed with the same inputs, and nothing else. Usage: run.py path/to/run-tests"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = """add_test(unit "{root}/build/unit")
add_test(flaky "{root}/build/flaky")
add_test(tools.page "/bin/sh" "{root}/tools/page")
"""


class Tree:
    """A project with two programs and a test of its tools; flaky passes where the file `good` is."""

    def __init__(self, root, script):
        self.root = root
        for folder in ("tools", "build", "libs/a/src", "libs/a/tests"):
            (root / folder).mkdir(parents=True)
        shutil.copy(script, root / "tools/run-tests")
        self.write("build/CTestTestfile.cmake", TESTS.format(root=root))
        self.write("tools/page", "exit 0")
        self.write("libs/a/src/a.cpp", "int a;")
        self.write("libs/a/tests/data.pem", "data")
        self.program("unit", "exit 0")
        self.program("flaky", f"test -e {root}/build/good")

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def program(self, name, text):
        self.write(f"build/{name}", f"#!/bin/sh\n{text}\n")
        (self.root / "build" / name).chmod(0o755)

    def ran(self, *arguments, **environment):
        """The tests that ran, and the status."""
        clean = {name: value for name, value in os.environ.items() if name != "CI"}
        done = subprocess.run([self.root / "tools/run-tests", self.root / "build", *arguments], capture_output=True, text=True,
                              env=clean | environment, check=False)
        lines = [line for line in done.stdout.splitlines() if " Test " in line and "#" in line]
        return sorted(line.split(": ", 1)[1].split(" ", 1)[0] for line in lines), done.returncode


def expect(wrong, what, got, wanted):
    if got != wanted:
        wrong.append(f"{what}: {got}, not {wanted}")


def main(script):
    wrong = []
    everything = ["flaky", "tools.page", "unit"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder), script)
        expect(wrong, "a first run", tree.ran(), (everything, 8))
        expect(wrong, "what failed runs again", tree.ran(), (["flaky"], 8))
        tree.write("build/good", "")
        expect(wrong, "and again until it passes", tree.ran(), (["flaky"], 0))
        expect(wrong, "nothing has changed", tree.ran(), ([], 0))
        expect(wrong, "--all", tree.ran("--all"), (everything, 0))
        expect(wrong, "CI", tree.ran(CI="true"), (everything, 0))
        expect(wrong, "arguments are those of ctest", tree.ran("-R", "unit"), (["unit"], 0))
        tree.program("unit", "exit 0 # otherwise")
        expect(wrong, "a program changed", tree.ran(), (["unit"], 0))
        tree.write("libs/a/src/a.cpp", "int b;")
        expect(wrong, "a source changed, and no program", tree.ran(), (["tools.page"], 0))
        tree.write("libs/a/tests/data.pem", "other")
        expect(wrong, "data of the tests changed", tree.ran(), (everything, 0))
        (tree.root / "build/good").unlink()
        expect(wrong, "what passed may fail", tree.ran("--all"), (everything, 8))
        expect(wrong, "and is not taken for passed", tree.ran(), (["flaky"], 8))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
