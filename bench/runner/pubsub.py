"""Group `pubsub`: client CPU of ours over that of a bare gRPC program, and messages for a CPU second over those of
@google-cloud/pubsub on Node, in interleaved pairs on one fake server, which is a process of its own.

The measured client has one CPU and the server another.
"""
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from . import cost, npm, pairs
from .figures import figure

TARGETS = ["bench_pubsub"]
MESSAGES = {"consume": 400_000, "publish": 1_000_000}
NODE_MESSAGES = {"consume": 50_000, "publish": 100_000}
COUNTED = (20_000, 40_000)
THREADS = {"consume": (0, 2), "publish": (0, 2)}
PACKAGE = "@google-cloud/pubsub@5.3.1"
SCRIPT = Path(__file__).resolve().parents[1] / "pubsub" / "node.mjs"
RUN_TIMEOUT = 120


class Server:
    """The fake, with what the benchmark needs on it."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve", "all", "-", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def waiting(self):
        """How many messages the subscription keeps."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def server_of(program):
    server = Server(program)
    try:
        yield server
    finally:
        server.stop()


class Bench:
    def __init__(self, build_dir, server):
        self.program = str(build_dir.resolve() / "bench" / "bench_pubsub")
        self.server = server
        self.node = npm.folder_with(build_dir, "pubsub_node", PACKAGE)

    def fill(self, messages):
        if self.server.waiting() != 0:
            raise RuntimeError("the run before left messages behind")
        subprocess.run([self.program, "fill", "consume", self.server.address, str(messages)], check=True, stderr=subprocess.DEVNULL)

    def command(self, case, side, messages):
        name, threads = side
        if name == "node":
            return ["node", str(SCRIPT), case, self.server.address, str(messages)]
        return [self.program, name, case, self.server.address, str(messages), str(threads)]

    def take(self, case, side):
        """One run of (name, threads): CPU and wall seconds for a million messages."""
        messages = (NODE_MESSAGES if side[0] == "node" else MESSAGES)[case]
        if case == "consume":
            self.fill(messages)
        return pairs.run(self.command(case, side, messages), messages, RUN_TIMEOUT, cwd=self.node)

    def sides(self, case):
        return [("bare", 0)] + ([("node", 0)] if self.node else []) + [("millrace", threads) for threads in THREADS[case]]

    def measure(self, case, rounds, taken):
        taken[case] = pairs.alternate(self.sides(case), rounds, lambda side: self.take(case, side))
        for threads in THREADS[case]:
            mark = f".threads{threads}" if threads else ""
            yield ratio(f"pubsub.{case}{mark}.cpu_ratio", "ours/bare", taken[case]["millrace", threads], taken[case]["bare", 0])
        for (side, threads), seen in taken[case].items():
            yield from pairs.costs(f"pubsub.{case}{f'.threads{threads}' if threads else ''}.{side}", seen)

    def count(self, case, side, tool):
        """Instructions or heap blocks of one message: the difference of two runs, connection and start included in both."""
        totals = []
        for messages in COUNTED:
            if case == "consume":
                self.fill(messages)
            totals.append(cost.count(tool, self.command(case, (side, 0), messages)))
        unit = "instructions/message" if tool == "instructions" else "blocks/message"
        mark = "" if side == "millrace" else f".{side}"
        return figure(f"pubsub.{case}{mark}.{tool}", unit, [(totals[1] - totals[0]) / (COUNTED[1] - COUNTED[0])])


def ratio(name, unit, over, under):
    return pairs.spread(name, unit, [one[0] / other[0] for one, other in zip(over, under)])


def node_ratios(taken):
    """Messages for a CPU second, ours over Node's; `pubsub.node.cpu_ratio` is of a message that is published and consumed."""
    ours = {case: seen["millrace", 0] for case, seen in taken.items()}
    nodes = {case: seen["node", 0] for case, seen in taken.items()}
    for case in taken:
        yield ratio(f"pubsub.node.{case}.cpu_ratio", "ours/node", nodes[case], ours[case])
    both = {side: [(sum(runs[i][0] for runs in seen.values()),) for i in range(len(seen["publish"]))]
            for side, seen in (("ours", ours), ("node", nodes))}
    yield ratio("pubsub.node.cpu_ratio", "ours/node", both["node"], both["ours"])


def measure_all(bench, options):
    taken = {}
    for case in MESSAGES:
        if options.only not in f"pubsub.{case}.cpu_ratio" and options.only not in "pubsub.node.cpu_ratio":
            continue
        print(f"bench: {case}, {options.pairs} pairs", file=sys.stderr, flush=True)
        yield from bench.measure(case, options.pairs, taken)
    if bench.node and len(taken) == len(MESSAGES):
        yield from node_ratios(taken)
    for case in MESSAGES:
        for side in ("millrace", "bare"):
            for tool in cost.TOOLS:
                if options.only in f"pubsub.{case}.{tool}":
                    yield bench.count(case, side, tool)


def run(build_dir, options):
    os.sched_setaffinity(0, {pairs.OTHER_CPU})  # what this starts from here on inherits it
    try:
        with server_of(str(build_dir.resolve() / "bench" / "bench_pubsub")) as server:
            return list(measure_all(Bench(build_dir, server), options))
    finally:
        os.sched_setaffinity(0, set(pairs.CPUS))
