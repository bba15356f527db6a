"""Section first: what a kernel's first launch takes, with and without its callers, and one that is not the first."""
from build import program
from figures import spread
from running import run, tell
from table import Column, Table

RUNS = 20
DEPTH = 24
VARIANTS = {"alone": ("bare", "0"), "no callers": ("on", "0"), "16 callers": ("on", "16"), "32 callers": ("on", "32")}


def measure(bench):
    first = program(bench.work, "first")
    times = {name: {"first": [], "again": []} for name in VARIANTS}
    for number in range(bench.repeats(RUNS)):
        tell(f"first: {number + 1}")
        for name, (variant, callers) in VARIANTS.items():
            said = run(bench.variants[variant], bench.work, [first, 1000, DEPTH], ROCSHIM_CALLERS=callers)
            for which in ("first", "again"):
                times[name][which].append(said[which][0])
    tell("")
    return {name: {which: spread(found) for which, found in of.items()} for name, of in times.items()}


def tables(results):
    rows = [[name, *(f"{of[which]['q1']:.0f}" for which in ("first", "again"))] for name, of in results.items()]
    yield Table(f"first: CPU time of a launch in ns, of 1,000 kernels under {DEPTH} callers, the lower quartile", [Column("first", 10), Column("again", 10)], rows)
