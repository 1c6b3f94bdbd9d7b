"""Group `nats`: client CPU of ours over that of bare nats.c, in interleaved pairs on one server.

The measured client has one CPU and the server and the feeder have another, so that how often its threads wake each other
does not depend on what else the machine does.
"""
import os
import re
import subprocess
import sys
import tempfile

from . import pairs

TARGETS = ["bench_nats"]
MESSAGES = {"consume.16": 3_000_000, "publish.16": 6_000_000, "consume.json512": 1_000_000, "jetstream.pull": 200_000}
FED = ("consume.16", "consume.json512")
THREADS = {"consume.16": (0, 2), "publish.16": (0,), "consume.json512": (0, 2), "jetstream.pull": (0, 2)}
RUN_TIMEOUT = 120
LIFECYCLE = re.compile(r"start=([\d.]+) shutdown=([\d.]+)")


def run_side(program, side, case, url, threads):
    """CPU seconds and wall seconds for a million messages, from the first to the last, of one process."""
    messages = MESSAGES[case]
    command = [program, side, case, url, str(messages), str(threads)]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=pairs.on_client_cpu)
    feeder = subprocess.Popen([program, "feed", case, url, str(messages)], stdin=client.stdout) if case in FED else None
    try:
        _, said = client.communicate(timeout=RUN_TIMEOUT) if feeder is None else (None, read_errors(client))
    finally:
        for process in filter(None, (client, feeder)):
            if process.poll() is None:
                process.kill()
            process.wait()
    return pairs.cost_of(command, client.returncode, said, messages)


def read_errors(client):
    """Standard output belongs to the feeder."""
    client.stdout.close()
    try:
        client.wait(timeout=RUN_TIMEOUT)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"{' '.join(client.args)}: no end after {RUN_TIMEOUT} s") from late
    return client.stderr.read()


def measure(program, case, url, rounds):
    sides = [("bare", 0)] + [("millrace", threads) for threads in THREADS[case]]
    taken = pairs.alternate(sides, rounds, lambda side: run_side(program, side[0], case, url, side[1]))
    for threads in THREADS[case]:
        ratios = [mine[0] / theirs[0] for mine, theirs in zip(taken["millrace", threads], taken["bare", 0])]
        yield pairs.spread(f"nats.{case}{f'.threads{threads}' if threads else ''}.cpu_ratio", "ours/bare", ratios)
    for (side, threads), seen in taken.items():
        yield from pairs.costs(f"nats.{case}{f'.threads{threads}' if threads else ''}.{side}", seen)


def lifecycle(program, url, rounds):
    """Milliseconds to start a service with one subscription, and to stop it with nothing in flight."""
    seen = []
    for _ in range(rounds):
        ran = subprocess.run([program, "millrace", "lifecycle", url, "1"], capture_output=True, text=True, check=True, timeout=RUN_TIMEOUT)
        seen.append([float(number) for number in LIFECYCLE.search(ran.stderr).groups()])
    for name, values in zip(("start", "shutdown"), zip(*seen)):
        yield pairs.spread(f"nats.{name}.milliseconds", "ms", values)


def run(build_dir, options):
    program = str(build_dir / "bench" / "bench_nats")
    os.sched_setaffinity(0, {pairs.OTHER_CPU})  # what this starts from here on inherits it
    with tempfile.TemporaryDirectory() as folder:
        server, url = pairs.load_tool("with-nats").start(folder)
        try:
            cases = [case for case in MESSAGES if options.only in f"nats.{case}"]
            if "jetstream.pull" in cases:
                subprocess.run([program, "fill", "jetstream.pull", url, str(MESSAGES["jetstream.pull"])], check=True)
            found = []
            for case in cases:
                print(f"bench: {case}, {options.pairs} pairs", file=sys.stderr, flush=True)
                found += measure(program, case, url, options.pairs)
            if options.only in "nats.lifecycle":
                found += lifecycle(program, url, options.pairs)
            return found
        finally:
            server.kill()
            server.wait()
            os.sched_setaffinity(0, set(pairs.CPUS))
