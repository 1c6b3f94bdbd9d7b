"""What tools that run a command beside a server have in common: one server that all commands of this tree share, which ends
some seconds after the last of them, and a server of its own for a command that may harm it.

A server is a `Server` with `start()` and `describe()`, made by `make(folder, ports)`; `ports` is None for free ones, and its file
ports.json in the folder keeps them. `spawn()`, if there is one, starts it again and waits only until it listens.
"""
import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IDLE_SECONDS = 30
KEEP_SECONDS = 900  # what `--start-shared` keeps a server that nobody uses yet


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


class Server:
    """One process, whose id is in the file pid of its folder."""

    PORTS = 1

    def __init__(self, folder, ports=None):
        self.folder = Path(folder)
        self.ports = ports or free_ports(self.PORTS)

    def pid(self):
        try:
            return int((self.folder / "pid").read_text())
        except (OSError, ValueError):
            return None

    def kill(self):
        end_process(self.pid(), signal.SIGKILL)
        (self.folder / "pid").unlink(missing_ok=True)

    def stop(self):
        self.kill()


def await_idle(lock):
    """Takes the users' lock when nobody held it, and nobody asked for the server, for a while."""
    idle_since = time.monotonic()
    while True:
        time.sleep(1)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            idle_since = time.monotonic()
            continue
        asked = time.time() - os.fstat(lock.fileno()).st_mtime
        if time.monotonic() - idle_since >= IDLE_SECONDS and asked >= IDLE_SECONDS:
            return
        fcntl.flock(lock, fcntl.LOCK_UN)


def leave_parent():
    """False in the caller, True in a process of its own that holds nothing of it."""
    if os.fork() != 0:
        return False
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.closerange(3, 256)
    return True


class Tool:
    """The command line of tools/with-<name>. `extra` has further options, of a server in a folder: {"--ctl": lambda server, arguments}."""

    def __init__(self, name, make, usage, extra=None):
        self.name = name
        self.make = make
        self.usage = usage
        self.extra = extra or {}

    def shared_folder(self, kind=""):
        root = str(Path(__file__).resolve().parent.parent).encode()
        folder = Path(tempfile.gettempdir()) / f"millrace-{self.name}{kind}-{os.getuid()}-{sum(root) % 10000}"
        folder.mkdir(exist_ok=True)
        return folder

    def in_folder(self, folder):
        return self.make(Path(folder), json.loads((Path(folder) / "ports.json").read_text()))

    def watch(self, server, users):
        """A process of its own: ends the server when nobody has held the users' lock for a while."""
        if not leave_parent():
            return
        with open(users, "a") as lock:
            await_idle(lock)  # and keeps the lock: nobody begins to use the server now
            with open(users.parent / "start.lock", "w") as starting:
                fcntl.flock(starting, fcntl.LOCK_EX)
                described = users.parent / "server.json"
                if described.exists() and json.loads(described.read_text())["folder"] == str(server.folder):
                    described.unlink()
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

    def running(self, base):
        """The server that base describes, if it is alive."""
        described = base / "server.json"
        folder = Path(json.loads(described.read_text())["folder"]) if described.exists() else None
        server = self.in_folder(folder) if folder and folder.exists() else None
        return server if server and server.pid() and Path(f"/proc/{server.pid()}").exists() else None

    def shared(self, base):
        """The server of that folder, started if it is not there, and its description."""
        with open(base / "start.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            users = base / "users.lock"
            self.ask(users)
            server = self.running(base)
            if server is None:
                server = self.start_somewhere(base)
                known = {**server.describe(), "folder": str(server.folder), "lock": str(users)}
                (base / "server.json").write_text(json.dumps(known))
                self.watch(server, users)
            return server, json.loads((base / "server.json").read_text())

    def ask(self, users, ahead=0):
        """Writes down that somebody will use the server; it may be said long ahead."""
        until = time.time() + ahead
        if not users.exists() or users.stat().st_mtime < until:
            users.touch()
            os.utime(users, (until, until))

    def share(self, kind="", keep=False):
        base = self.shared_folder(kind)
        known = self.shared(base)[1]
        if keep:
            self.ask(base / "users.lock", KEEP_SECONDS)
        print(json.dumps(known), flush=True)
        return 0

    def release(self, kind):
        """It ends as soon as nobody uses it."""
        users = self.shared_folder(kind) / "users.lock"
        if users.exists():
            os.utime(users)
        return 0

    def lend(self):
        """The second shared server, to one user at a time, who may harm it."""
        base = self.shared_folder("-fragile")
        with open(base / "users.lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            server, known = self.shared(base)
            orders = {
                "kill": server.kill,
                "start": getattr(server, "spawn", server.start),
                "pause": lambda: os.kill(server.pid(), signal.SIGSTOP),
                "resume": lambda: os.kill(server.pid(), signal.SIGCONT),
            }
            print(json.dumps(known), flush=True)
            for order in sys.stdin:
                orders[order.strip()]()
                print("done", flush=True)
            with contextlib.suppress(OSError, TypeError):
                os.kill(server.pid(), signal.SIGCONT)
        return 0

    def run(self, command, known):
        prefix = f"MILLRACE_{self.name.upper()}_"
        extra = {prefix + key.upper(): value for key, value in known.items() if key != "lock"}
        return subprocess.run(command, env={**os.environ, **extra}, check=False).returncode

    def run_beside_shared(self, command):
        _, known = self.shared(self.shared_folder())
        with open(known["lock"], "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            return self.run(command, known)

    def run_with_own(self, command):
        with tempfile.TemporaryDirectory(prefix=f"millrace-{self.name}-own-") as folder:
            server = self.make(Path(folder), None)
            try:
                server.start()
                return self.run(command, {**server.describe(), "folder": folder})
            finally:
                server.stop()

    def of_a_folder(self, option, folder, arguments):
        server = self.in_folder(folder)
        if option in self.extra:
            return self.extra[option](server, arguments)
        server.kill() if option == "--kill" else server.start()
        return 0

    def main(self):
        first, *rest = sys.argv[1:] or [""]
        if first == "--where":
            print(self.shared_folder())
            return 0
        if first in ("--start-shared", "--end-shared"):
            kind = "".join(f"-{word}" for word in rest)
            return self.share(kind, keep=True) if first == "--start-shared" else self.release(kind)
        if first == "--share":
            return self.share()
        if first == "--fragile":
            return self.lend()
        if first == "--own" and rest:
            return self.run_with_own(rest)
        if first in (*self.extra, "--kill", "--start") and rest:
            return self.of_a_folder(first, rest[0], rest[1:])
        if not first or first.startswith("--"):
            sys.exit(self.usage)
        return self.run_beside_shared(sys.argv[1:])
