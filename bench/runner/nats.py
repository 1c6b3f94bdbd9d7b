"""Group `nats`: client CPU of ours over that of bare nats.c, in interleaved pairs on one server.

The measured client has one CPU and the server and the feeder have another, so that how often its threads wake each other
does not depend on what else the machine does.
"""
import importlib.machinery
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .figures import figure

TARGETS = ["bench_nats"]
TOOLS = Path(__file__).resolve().parents[2] / "tools"
MESSAGES = {"consume.16": 3_000_000, "publish.16": 6_000_000, "consume.json512": 1_000_000, "jetstream.pull": 200_000}
FED = ("consume.16", "consume.json512")
THREADS = {"consume.16": (0, 2), "publish.16": (0,), "consume.json512": (0, 2), "jetstream.pull": (0, 2)}
REPORT = re.compile(r"cpu=([\d.]+) wall=([\d.]+)")
RUN_TIMEOUT = 120
CPUS = sorted(os.sched_getaffinity(0))
CLIENT_CPU, OTHER_CPU = CPUS[0], CPUS[-1]


def on_client_cpu():
    os.sched_setaffinity(0, {CLIENT_CPU})


def server_starter():
    loader = importlib.machinery.SourceFileLoader("with_nats", str(TOOLS / "with-nats"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("with_nats", loader))
    loader.exec_module(module)
    return module.start


def run_side(program, side, case, url, threads):
    """CPU seconds and wall seconds for a million messages, from the first to the last, of one process."""
    messages = MESSAGES[case]
    command = [program, side, case, url, str(messages), str(threads)]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=on_client_cpu)
    feeder = subprocess.Popen([program, "feed", case, url, str(messages)], stdin=client.stdout) if case in FED else None
    try:
        _, said = client.communicate(timeout=RUN_TIMEOUT) if feeder is None else (None, read_errors(client))
    finally:
        for process in filter(None, (client, feeder)):
            if process.poll() is None:
                process.kill()
            process.wait()
    found = REPORT.search(said)
    if client.returncode != 0 or not found:
        raise RuntimeError(f"{' '.join(command)}: exit code {client.returncode}\n{said}")
    return tuple(float(number) / messages * 1e6 for number in found.groups())


def read_errors(client):
    """Standard output belongs to the feeder."""
    client.stdout.close()
    try:
        client.wait(timeout=RUN_TIMEOUT)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"{' '.join(client.args)}: no end after {RUN_TIMEOUT} s") from late
    return client.stderr.read()


def measure(program, case, url, pairs):
    sides = [("bare", 0)] + [("millrace", threads) for threads in THREADS[case]]
    taken = {side: [] for side in sides}
    for i in range(pairs + 1):
        for side in sides if i % 2 else reversed(sides):
            taken[side].append(run_side(program, side[0], case, url, side[1]))
    cpu = {side: [one for one, _ in seen[1:]] for side, seen in taken.items()}  # the first round only warms up
    for threads in THREADS[case]:
        ratios = [mine / theirs for mine, theirs in zip(cpu["millrace", threads], cpu["bare", 0])]
        yield spread(f"nats.{case}{f'.threads{threads}' if threads else ''}.cpu_ratio", "ours/bare", ratios)
    for (side, threads), seen in taken.items():
        name = f"nats.{case}{f'.threads{threads}' if threads else ''}.{side}"
        yield spread(f"{name}.cpu", "CPU s/million", [cpu for cpu, _ in seen[1:]])
        yield spread(f"{name}.rate", "messages/s", [1e6 / wall for _, wall in seen[1:]])


def spread(name, unit, values):
    """Median and quartiles."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return figure(name, unit, values, low, high)


def run(build_dir, options):
    program = str(build_dir / "bench" / "bench_nats")
    os.sched_setaffinity(0, {OTHER_CPU})  # what this starts from here on inherits it
    with tempfile.TemporaryDirectory() as folder:
        server, url = server_starter()(folder)
        try:
            cases = [case for case in MESSAGES if options.only in f"nats.{case}"]
            if "jetstream.pull" in cases:
                subprocess.run([program, "fill", "jetstream.pull", url, str(MESSAGES["jetstream.pull"])], check=True)
            found = []
            for case in cases:
                print(f"bench: {case}, {options.pairs} pairs", file=sys.stderr, flush=True)
                found += measure(program, case, url, options.pairs)
            return found
        finally:
            server.kill()
            server.wait()
            os.sched_setaffinity(0, set(CPUS))
