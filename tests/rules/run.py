"""tools/rules on a small tree: what counts as naming a rule, and when a rule is due. Usage: run.py path/to/tools/rules"""
import subprocess
import sys
import tempfile
from pathlib import Path

RULES = """# Lifecycle
- **L1.** One.
- **L2.** Two.
- **L3.** Three.
- **N1.** Four.
- **N3.** Five.
- **R2.** Six.
- **R2.1.** Seven.
"""
CORE_TEST = """// L2: not inside a test, so it proves nothing.

TEST(construction, L1_does_no_io) { EXPECT_EQ("N1", text); }

// The publisher is refused first (L3).
TEST_F(closing, refuses) {
  RecordProperty("rule", "N1"); // of another library: does not count here
}
"""
NATS_TEST = """TEST(subscribe, flushes) {
  if (ready) {
    // N3
  }
}
TEST(streams, replicas) { RecordProperty("rule", "N1"); } // R2_1 and R3: replicas, not rules
"""


def put(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def rules(tool, root):
    done = subprocess.run([sys.executable, tool, "--root", str(root)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def main(tool):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        put(root, "docs/lifecycle.md", RULES)
        put(root, "libs/core/tests/a.cpp", CORE_TEST)
        status, output = rules(tool, root)
        assert status == 1, output
        assert "L1. One.\n    libs/core/tests/a.cpp:3 construction.L1_does_no_io\n" in output, output
        assert "L2. Two.\n    NO TEST NAMES THIS RULE\n" in output, output
        assert "L3. Three.\n    libs/core/tests/a.cpp:6 closing.refuses\n" in output, output
        assert "N1. Four.\nN3. Five.\nR2. Six.\nR2.1. Seven.\n" in output, output

        put(root, "libs/core/tests/b.cpp", "TEST(start, L2_connects_once) {}\n")
        assert rules(tool, root)[0] == 0

        put(root, "libs/nats/src/a.cpp", "")
        status, output = rules(tool, root)
        assert status == 1 and "N1. Four.\n    NO TEST" in output and "N3. Five.\n    NO TEST" in output, output
        put(root, "libs/nats/tests/server/a.cpp", NATS_TEST)
        status, output = rules(tool, root)
        assert status == 0, output
        assert "N3. Five.\n    libs/nats/tests/server/a.cpp:1 subscribe.flushes\n" in output, output

        put(root, "libs/rabbitmq/src/a.cpp", "")
        status, output = rules(tool, root)
        assert status == 1 and "R2. Six.\nR2.1. Seven.\n    NO TEST NAMES THIS RULE\n" in output, output
    print("rules finds what it should")


if __name__ == "__main__":
    main(sys.argv[1])
