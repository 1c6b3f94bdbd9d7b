"""Group `cost`: instructions (callgrind) and heap blocks (DHAT) for one message on the embedded broker."""
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from .figures import figure

TARGETS = ["bench_cost"]
SCENARIOS = ["consume.raw", "consume.json", "consume.coroutine", "consume.coroutine_nested", "consume.workers4",
             "consume.middleware4", "batch64.raw", "reply.json", "headers_publish", "request_reply",
             "publish.raw", "publish.json"]
# What a scenario adds to another one: name, the scenario, the other one.
ADDED = [("middleware4", "consume.middleware4", "consume.raw")]
COUNTS = (1000, 2000, 3000)
TOOLS = {
    "instructions": (["--tool=callgrind", "--callgrind-out-file=/dev/null"], re.compile(r"Collected : (\d+)")),
    "heap_blocks": (["--tool=dhat", "--dhat-out-file=/dev/null"],
                    re.compile(r"Total: +[\d,]+ bytes in ([\d,]+) blocks")),
}


def count(tool, command, *options):
    arguments, pattern = TOOLS[tool]
    ran = subprocess.run(["valgrind", *arguments, *options, *command], capture_output=True, text=True, check=False)
    found = pattern.search(ran.stderr)
    if ran.returncode != 0 or not found:
        raise RuntimeError(f"{' '.join(command)} under {arguments[0]}:\n{ran.stderr}")
    return int(found.group(1).replace(",", ""))


def measure(program, scenario, tool):
    """The value is that of 1000 and 2000 messages; that of 2000 and 3000 shows whether it depends on the count."""
    options = ["--instr-atstart=no"] if tool == "instructions" else []  # the program says from where on
    totals = [count(tool, [program, scenario, str(messages)], *options) for messages in COUNTS]
    steps = [(more - less) / (COUNTS[1] - COUNTS[0]) for less, more in zip(totals, totals[1:])]
    unit = "instructions/message" if tool == "instructions" else "blocks/message"
    return figure(f"cost.{scenario}.{tool}", unit, steps[:1], min(steps), max(steps))


def added(name, tool, found):
    """What one scenario costs more than another, from the figures of both."""
    more, less = (found[f"cost.{scenario}.{tool}"] for scenario in name[1:])
    return figure(f"cost.{name[0]}.{tool}", more["unit"], [more["value"] - less["value"]],
                  more["low"] - less["high"], more["high"] - less["low"])


def run(build_dir, _options):
    program = str(build_dir / "bench" / "bench_cost")
    jobs = [(scenario, tool) for tool in TOOLS for scenario in SCENARIOS]
    with ThreadPoolExecutor(max_workers=2) as pool:
        figures = list(pool.map(lambda job: measure(program, *job), jobs))
    found = {one["name"]: one for one in figures}
    return figures + [added(name, tool, found) for tool in TOOLS for name in ADDED]
