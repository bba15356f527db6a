"""Section forks: what a fork costs in a process that records, and what the child's own recording costs."""
import random
from build import program
from figures import spread
from running import run, tell, verify
from table import Column, Table

FORKS, LAUNCHES, ROUNDS = 200, 10, 5
CHILDREN = {"the child calls nothing": 0, f"it launches {LAUNCHES} times and exits": LAUNCHES}
VARIANTS = ["bare", "off", "on"]


def measure(bench):
    forks, results = program(bench.work, "forks"), {}
    for what, launches in CHILDREN.items():
        measured = {name: [] for name in VARIANTS}
        for number in range(bench.repeats(ROUNDS)):
            for name in random.sample(VARIANTS, len(VARIANTS)):
                tell(f"forks: {what}, {number + 1}, {name}")
                printed = run(bench.variants[name], bench.work, [forks, FORKS, launches])
                verify(bench.variants[name], bench.work, printed["events"][0])
                measured[name].append({"ms": printed["fork_ms"][0], "cpu": printed["cpu_ms"][0]})
        ratios = {name: {kind: spread([each[kind] / bare[kind] for each, bare in zip(measured[name], measured["bare"])]) for kind in ("ms", "cpu")} for name in VARIANTS[1:]}
        results[what] = {"measured": {name: {kind: spread([each[kind] for each in rounds]) for kind in ("ms", "cpu")} for name, rounds in measured.items()}, "ratios": ratios}
    tell("")
    return results


def tables(results):
    rows = []
    for what, row in results.items():
        cell = lambda name, kind: f"{row['measured'][name][kind]['median']:.2f}"
        ratio = lambda name, kind: f"{row['ratios'][name][kind]['median']:.1f}"
        rows.append([what, cell("bare", "ms"), cell("on", "ms"), ratio("on", "ms"), cell("bare", "cpu"), cell("on", "cpu"), ratio("off", "ms")])
    yield Table(f"forks: ms of a fork with its child's life, the median of {FORKS}; CPU: of both processes, the mean", [Column("alone", 9), Column("on", 9), Column("on ÷ alone"), Column("CPU alone", 11), Column("CPU on", 9), Column("off ÷ alone")], rows)
