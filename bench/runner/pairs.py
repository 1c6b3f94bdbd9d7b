"""Two programs that do the same work in turn, each run a process of its own, and the ratio of what they took."""
import importlib.machinery
import importlib.util
import os
import re
import statistics
import subprocess
from pathlib import Path

from .figures import figure

TOOLS = Path(__file__).resolve().parents[2] / "tools"
REPORT = re.compile(r"cpu=([\d.]+) wall=([\d.]+)")
CPUS = sorted(os.sched_getaffinity(0))
CLIENT_CPU, OTHER_CPU = CPUS[0], CPUS[-1]


def on_client_cpu():
    os.sched_setaffinity(0, {CLIENT_CPU})


def on_all_cpus():
    os.sched_setaffinity(0, set(CPUS))


def load_tool(name):
    """A script of tools/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def cost_of(command, returncode, said, messages):
    """CPU seconds and wall seconds for a million messages, of what a run reported."""
    found = REPORT.search(said)
    if returncode != 0 or not found:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {returncode}\n{said}")
    return tuple(float(number) / messages * 1e6 for number in found.groups())


def alternate(sides, pairs, take):
    """What `take(side)` answers, in rounds whose order turns round; the first round only warms up."""
    taken = {side: [] for side in sides}
    for i in range(pairs + 1):
        for side in sides if i % 2 else reversed(sides):
            taken[side].append(take(side))
    return {side: seen[1:] for side, seen in taken.items()}


def run(command, messages, timeout, pin=on_client_cpu, **options):
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, preexec_fn=pin, **options)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"{' '.join(map(str, command))}: no end after {timeout} s") from late
    return cost_of(command, ran.returncode, ran.stderr, messages)


def spread(name, unit, values):
    """Median and quartiles."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return figure(name, unit, values, low, high)


def costs(name, seen):
    """The two figures behind a ratio."""
    yield spread(f"{name}.cpu", "CPU s/million", [cpu for cpu, _ in seen])
    yield spread(f"{name}.rate", "messages/s", [1e6 / wall for _, wall in seen])
