"""What tools that run a command beside a server have in common: one server that all commands of this tree share, which ends
some seconds after the last of them, and a server of its own for a command that may harm it.

A server is an object with `folder`, `start()`, `stop()`, `kill()`, `pid()` and `describe()`, made by `make(folder, ports)`; `ports`
is None for free ones, and its file ports.json in the folder keeps them.
"""
import fcntl
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IDLE_SECONDS = 30


def free_ports(count):
    """Below the range that the system gives to outgoing connections, so that nobody takes them before the server does."""
    found = []
    while len(found) < count:
        port = random.randrange(15000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def listens(port, process, bound):
    """Whether the server's process opened the port in time."""
    deadline = time.monotonic() + bound
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


def end_process(pid, number):
    """Sends the signal and waits for the end."""
    if pid is None:
        return
    try:
        os.kill(pid, number)
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[-1][:3]:
            time.sleep(0.02)
    except OSError:
        pass


class Tool:
    """The command line of tools/with-<name>."""

    def __init__(self, name, make, usage, extra=None):
        self.name = name
        self.make = make
        self.usage = usage
        self.extra = extra or {}

    def shared_folder(self):
        root = str(Path(__file__).resolve().parent.parent).encode()
        return Path(tempfile.gettempdir()) / f"millrace-{self.name}-{os.getuid()}-{sum(root) % 10000}"

    def in_folder(self, folder):
        return self.make(Path(folder), json.loads((Path(folder) / "ports.json").read_text()))

    def watch(self, server, users):
        """A process of its own: ends the server when nobody has held the users' lock for a while."""
        if os.fork() != 0:
            return
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.closerange(3, 256)
        idle_since = time.monotonic()
        while time.monotonic() - idle_since < IDLE_SECONDS:
            time.sleep(1)
            with open(users, "w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    idle_since = time.monotonic()
        with open(users.parent / "start.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (users.parent / "server.json").unlink(missing_ok=True)
            server.stop()
            shutil.rmtree(server.folder, ignore_errors=True)
        os._exit(0)

    def start_somewhere(self, base):
        """A server on ports of its own; once more on others if somebody was quicker."""
        for attempt in (1, 2):
            server = self.make(Path(tempfile.mkdtemp(prefix="server-", dir=base)), None)
            try:
                server.start()
                return server
            except RuntimeError:
                shutil.rmtree(server.folder, ignore_errors=True)
                if attempt == 2:
                    raise

    def share(self):
        """The description of the shared server, started if it is not there."""
        base = self.shared_folder()
        base.mkdir(exist_ok=True)
        with open(base / "start.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            described = base / "server.json"
            if described.exists():
                known = json.loads(described.read_text())
                if Path(known["folder"]).exists():
                    pid = self.in_folder(known["folder"]).pid()
                    if pid and Path(f"/proc/{pid}").exists():
                        return known
            server = self.start_somewhere(base)
            users = base / "users.lock"
            users.touch()
            known = {**server.describe(), "folder": str(server.folder), "lock": str(users)}
            described.write_text(json.dumps(known))
            self.watch(server, users)
            return known

    def run(self, command, known):
        prefix = f"MILLRACE_{self.name.upper()}_"
        extra = {prefix + key.upper(): value for key, value in known.items() if key != "lock"}
        return subprocess.run(command, env={**os.environ, **extra}, check=False).returncode

    def run_with_own(self, command):
        with tempfile.TemporaryDirectory(prefix=f"millrace-{self.name}-own-") as folder:
            server = self.make(Path(folder), None)
            try:
                server.start()
                return self.run(command, {**server.describe(), "folder": folder})
            finally:
                server.stop()

    def main(self):
        arguments = sys.argv[1:]
        if arguments[:1] == ["--share"]:
            print(json.dumps(self.share()), flush=True)
            return 0
        if arguments[:1] == ["--own"] and len(arguments) > 1:
            return self.run_with_own(arguments[1:])
        if arguments and arguments[0] in self.extra and len(arguments) > 1:
            return self.extra[arguments[0]](self.in_folder(arguments[1]), arguments[2:])
        if arguments[:1] in (["--kill"], ["--start"]) and len(arguments) == 2:
            server = self.in_folder(arguments[1])
            server.kill() if arguments[0] == "--kill" else server.start()
            return 0
        if not arguments or arguments[0].startswith("--"):
            sys.exit(self.usage)
        known = self.share()
        with open(known["lock"], "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            return self.run(arguments, known)
