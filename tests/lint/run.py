"""Seeds violations and expects tools/lint to find each of them, and nothing else. Usage: run.py path/to/tools/lint"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"


def lint(tool, *files):
    done = subprocess.run([sys.executable, tool, *map(str, files)], capture_output=True, text=True, check=False)
    found = {tuple(line.split(": ")[:2]) for line in done.stdout.splitlines() if re.match(r".+:\d+: ", line)}
    return done.returncode, found


def expected(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.search(r"// finds ([\w-]+)$", line):
            yield f"{path}:{number}", match.group(1)


def check_cases(tool):
    for path in sorted(CASES.rglob("*.cpp")):
        wanted = set(expected(path))
        status, found = lint(tool, path)
        assert found == wanted, f"{path.name}: not found {wanted - found}, found too much {found - wanted}"
        assert status == (1 if wanted else 0), f"{path.name}: ended with {status}"


def check_long_file(tool):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.hpp"
        path.write_text("// line\n" * 500)
        assert lint(tool, path) == (0, set())
        path.write_text("// line\n" * 501)
        assert lint(tool, path) == (1, {(f"{path}:501", "long-file")})


if __name__ == "__main__":
    check_cases(sys.argv[1])
    check_long_file(sys.argv[1])
    print("lint finds what it should")
