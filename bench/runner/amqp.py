"""Group `amqp`: client CPU of ours over that of Proton's C++ container API, in interleaved pairs on one RabbitMQ with its amqp1_0
plugin; instructions and heap blocks of a received message, of both and of Proton's bare engine; how much publishes under way
together are worth; and the same, and the time of a request, on ActiveMQ Artemis, where it is there.

The measured client has one CPU and the server another; for rates and times both have the machine.
"""
import os
import re
import subprocess
import sys
import tempfile

from . import cost, pairs
from .figures import figure

TARGETS = ["bench_amqp"]
MESSAGES = {"publish": 51_200, "consume": 51_200, "publish_one_at_a_time": 2_000, "request": 3_000}
LATENCY = re.compile(r"median=([\d.]+) p99=([\d.]+)")
RUN_TIMEOUT = 120
COUNTED = (5_000, 25_000)  # messages of the two runs whose difference counts
WHOLE_RUN = {
    "instructions": (["--tool=callgrind", "--callgrind-out-file=/dev/null"], cost.TOOLS["instructions"][1]),
    "heap_blocks": cost.TOOLS["heap_blocks"],
}


class Bench:
    def __init__(self, build_dir, server):
        self.program = str(build_dir / "bench" / "bench_amqp")
        self.server = server
        self.runs = 0

    def take(self, side, case, queue, pin=pairs.on_client_cpu):
        command = [self.program, side, case, self.server.url, queue, str(MESSAGES[case])]
        return pairs.run(command, MESSAGES[case], RUN_TIMEOUT, pin)

    def fresh_queue(self):
        self.runs += 1
        return f"/queue/bench.{self.runs}"

    def both(self, side):
        """Publishes into an empty queue, then empties it."""
        queue = self.fresh_queue()
        return {case: self.take(side, case, queue) for case in ("publish", "consume")}

    def cpu_ratios(self, rounds):
        taken = pairs.alternate(("bare", "millrace"), rounds, self.both)
        for case in ("consume", "publish"):
            seen = {side: [one[case] for one in all_of] for side, all_of in taken.items()}
            ratios = [mine[0] / theirs[0] for mine, theirs in zip(seen["millrace"], seen["bare"])]
            yield pairs.spread(f"amqp.{case}.cpu_ratio", "ours/Proton's", ratios)
            for side in seen:
                yield from pairs.costs(f"amqp.{case}.{side}", seen[side])

    def count(self, side, tool, messages):
        queue = self.fresh_queue()
        subprocess.run([self.program, "bare", "publish", self.server.url, queue, str(messages)], check=True, capture_output=True)
        arguments, pattern = WHOLE_RUN[tool]
        command = ["valgrind", *arguments, self.program, side, "consume", self.server.url, queue, str(messages)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        found = pattern.search(ran.stderr)
        if ran.returncode != 0 or not found:
            raise RuntimeError(f"{' '.join(command)}:\n{ran.stderr}")
        return int(found.group(1).replace(",", ""))

    def counts(self):
        for tool in WHOLE_RUN:
            for side in ("millrace", "engine", "bare"):
                less, more = (self.count(side, tool, messages) for messages in COUNTED)
                unit = "instructions/message" if tool == "instructions" else "blocks/message"
                yield figure(f"amqp.consume.{side}.{tool}", unit, [(more - less) / (COUNTED[1] - COUNTED[0])])

    def pipelining(self, rounds):
        return pipelining(self.program, self.server.url, self.fresh_queue(), rounds, "amqp.pipelining.rabbitmq")


def pipelining(program, url, queue, rounds, name):
    def run_of(case, messages):
        return pairs.run([program, "millrace", case, url, queue, str(messages)], messages, RUN_TIMEOUT, pairs.on_all_cpus)

    def take(case):
        """Into an empty queue, which is emptied again: what it holds is the server's memory."""
        taken = run_of(case, MESSAGES[case])
        run_of("consume", MESSAGES[case])
        return taken

    cases = ("publish_one_at_a_time", "publish")
    taken = pairs.alternate(cases, rounds, take)
    ratios = [one[1] / many[1] for one, many in zip(*(taken[case] for case in cases))]
    yield pairs.spread(f"{name}.rate_ratio", "256 under way/one", ratios)


def median_of_requests(program, side, url):
    command = [program, side, "request", url, f"bench.requests.{side}", str(MESSAGES["request"])]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=RUN_TIMEOUT)
    found = LATENCY.search(ran.stderr)
    if ran.returncode != 0 or not found:
        raise RuntimeError(f"{' '.join(command)}: exit code {ran.returncode}\n{ran.stderr}")
    return float(found.group(1))


def on_artemis(build_dir, rounds):
    if subprocess.run([str(pairs.TOOLS / "get-artemis"), "--path"], capture_output=True, check=False).returncode != 0:
        print("bench: amqp.request and amqp.pipelining are left out: tools/get-artemis has not fetched Artemis", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="millrace-bench-artemis-") as folder:
        server = pairs.load_tool("with-artemis").Server(folder)
        try:
            server.start()
            url = server.describe()["url"]
            program = str(build_dir / "bench" / "bench_amqp")
            yield from pipelining(program, url, "bench.pipelining", rounds, "amqp.pipelining")
            taken = pairs.alternate(("bare", "millrace"), rounds, lambda side: median_of_requests(program, side, url))
            yield pairs.spread("amqp.request.median_ms", "ms", taken["millrace"])
            yield pairs.spread("amqp.request.bare.median_ms", "ms", taken["bare"])
        finally:
            server.stop()


def run(build_dir, options):
    os.sched_setaffinity(0, {pairs.OTHER_CPU})  # what this starts from here on inherits it
    found = []
    with tempfile.TemporaryDirectory(prefix="millrace-bench-amqp-") as folder:
        server = pairs.load_tool("with-rabbitmq").Server(folder)
        try:
            server.start()
            bench = Bench(build_dir, server)
            print(f"bench: amqp, {options.pairs} pairs", file=sys.stderr, flush=True)
            found += bench.cpu_ratios(options.pairs)
            found += bench.counts()
            for thread in os.listdir(f"/proc/{server.pid()}/task"):
                os.sched_setaffinity(int(thread), set(pairs.CPUS))
            found += bench.pipelining(options.pairs)
        finally:
            server.stop()
            os.sched_setaffinity(0, set(pairs.CPUS))
    found += on_artemis(build_dir, options.pairs)
    return found
