"""Group `rabbitmq`: ours against bare rabbitmq-c, and amqplib for orientation, in interleaved pairs on one rabbitmq-server.

Where CPU is compared, the measured client has one CPU and the server another. Where rates are, both have the machine.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import cost, npm, pairs
from .figures import figure

TARGETS = ["bench_rabbitmq"]
MESSAGES = {"publish.16": 200_000, "publish.1024": 100_000, "consume.16": 100_000, "confirms": 76_800}
MEASURED = {"confirms": "rate_ratio"}  # the others: cpu_ratio
THREADS = {"publish.16": (0,), "publish.1024": (0,), "consume.16": (0, 1), "confirms": (0, 1)}
AMQPLIB = "amqplib@2.3.1"
SCRIPT = Path(__file__).resolve().parents[1] / "rabbitmq" / "amqplib.mjs"
RUN_TIMEOUT = 120
COUNTED_MESSAGES = (4000, 8000)
COUNTED = {"instructions": ("publish.16", "publish.1024", "consume.16"), "heap_blocks": ("consume.16",)}


class Bench:
    def __init__(self, build_dir, server):
        self.program = str(build_dir.resolve() / "bench" / "bench_rabbitmq")
        self.server = server
        self.node = npm.folder_with(build_dir, "amqplib", AMQPLIB)

    def spread_server(self, cpus):
        for thread in os.listdir(f"/proc/{self.server.pid()}/task"):
            os.sched_setaffinity(int(thread), cpus)

    def fill(self, messages):
        subprocess.run([self.program, "fill", "queues", self.server.url, str(messages)], check=True)

    def take(self, case, side):
        """One run of (name, threads): CPU and wall seconds for a million messages."""
        messages = MESSAGES[case]
        self.fill(messages if case == "consume.16" else 0)
        name, threads = side
        command = [self.program, name, case, self.server.url, str(messages), str(threads)]
        if name == "amqplib":
            command = ["node", str(SCRIPT), case, self.server.url, str(messages)]
        pin = pairs.on_all_cpus if case in MEASURED else pairs.on_client_cpu
        return pairs.run(command, messages, RUN_TIMEOUT, pin, cwd=self.node)

    def measure(self, case, rounds):
        self.spread_server(set(pairs.CPUS) if case in MEASURED else {pairs.OTHER_CPU})
        ours = [("millrace", threads) for threads in THREADS[case]]
        if case == "confirms":
            ours.append(("ready", 0))  # bytes that were ready before: the most that the server lets any client reach
        others = [("bare", 0)] + ([("amqplib", 0)] if self.node else [])
        taken = pairs.alternate(others + ours, rounds, lambda side: self.take(case, side))
        for mine in ours:
            for other in others:
                yield ratio(case, mine, other, taken)
        for side, seen in taken.items():
            yield from pairs.costs(f"rabbitmq.{case}{marks(case, side)}.{side[0]}", seen)

    def counted(self, tool, case, side):
        """The difference of two runs, for one message."""
        less, more = (self.count(tool, case, side, messages) for messages in COUNTED_MESSAGES)
        name = f"rabbitmq.{case}{'' if side == 'millrace' else '.' + side}.{tool}"
        unit = "blocks/message" if tool == "heap_blocks" else "instructions/message"
        return figure(name, unit, [(more - less) / (COUNTED_MESSAGES[1] - COUNTED_MESSAGES[0])])

    def count(self, tool, case, side, messages):
        self.fill(messages if case == "consume.16" else 0)
        return cost.count(tool, [self.program, side, case, self.server.url, str(messages), "0"])

    def count_all(self, only):
        for tool, cases in COUNTED.items():
            for case in cases:
                if only in f"rabbitmq.{case}.{tool}":
                    yield from (self.counted(tool, case, side) for side in ("millrace", "bare"))


def marks(case, side):
    """What a name says beyond the case: more threads than the first that are measured."""
    return f".threads{side[1]}" if side[0] == "millrace" and side[1] != THREADS[case][0] else ""


def ratio(case, mine, other, taken):
    what = MEASURED.get(case, "cpu_ratio")
    whose = "" if mine[0] == "millrace" else f".{mine[0]}"
    against = "" if other[0] == "bare" else f".{other[0]}"
    pairs_of = zip(taken[mine], taken[other])
    values = [theirs[1] / ours[1] if what == "rate_ratio" else ours[0] / theirs[0] for ours, theirs in pairs_of]
    return pairs.spread(f"rabbitmq.{case}{whose}{marks(case, mine)}{against}.{what}", f"ours/{other[0]}", values)


def run(build_dir, options):
    with tempfile.TemporaryDirectory(prefix="millrace-bench-rabbitmq-") as folder:
        server = pairs.load_tool("with-rabbitmq").Server(folder)
        try:
            server.start()
            os.sched_setaffinity(0, {pairs.OTHER_CPU})  # what this starts from here on inherits it
            bench = Bench(build_dir, server)
            found = []
            for case in MESSAGES:
                if options.only not in f"rabbitmq.{case}":
                    continue
                print(f"bench: {case}, {options.pairs} pairs", file=sys.stderr, flush=True)
                found += bench.measure(case, options.pairs)
            return found + list(bench.count_all(options.only))
        finally:
            server.stop()
            os.sched_setaffinity(0, set(pairs.CPUS))
