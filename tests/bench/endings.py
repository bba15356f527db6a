"""Section endings: how much of what a program did is recorded, however it ends; with --peers, by each tracer of the same program.

The program counts its calls in a file, whatever happens to it. What a tracer has afterwards is read with its own commands.
"""
import shutil, struct, subprocess
from contextlib import nullcontext
import build
from running import environment, lines_of, tell
from table import Column, Table

CALLS = 100_000
# How the program ends; in words; how many calls may be in flight then.
ENDINGS = [
    ("exit", "returns from main", 0),
    ("_exit", "_exit", 0),
    ("quick_exit", "quick_exit", 0),
    ("abort", "abort", 0),
    ("segv", "SIGSEGV", 0),
    ("kill", "SIGKILL", 0),
    ("busy", "SIGKILL while four threads launch", 4),
    ("threads", "four threads, which end", 0),
    ("late", "half of them in a destructor", 0),
    ("fork", "fork: the child calls as often", 0),
]
TRACERS = ["on", "lttng", "uftrace"]


def measure(bench):
    program = build.program(bench.work, "endings")
    names = [name for name in TRACERS if name in bench.variants]
    rows = []
    for how, words, in_flight in ENDINGS:
        row = {"ending": how, "what": words, "tracers": {}}
        for name in names:
            tell(f"endings: {words}, {name}")
            row["tracers"][name] = one(bench, program, how, bench.variants[name], in_flight)
        rows.append(row)
    tell("")
    return {"rows": rows, "names": {name: bench.variants[name].what for name in names}}


def one(bench, program, how, variant, in_flight):
    """What was called and what was recorded; `more`: recorded though no call was counted, beyond those in flight."""
    counts, traces = bench.work / "counts", bench.work / "traces"
    shutil.rmtree(traces, ignore_errors=True)
    with variant.peer.around(bench.work) if variant.peer else nullcontext(([], {})) as (before, env):
        subprocess.run([*map(str, before), program, how, str(CALLS), counts], env=environment(variant, bench.work, **env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    called = sum(struct.unpack("<512Q", counts.read_bytes()))
    if variant.peer:
        recorded = variant.peer.recorded(bench.work)
    else:
        subprocess.run([bench.command, "recover", traces], stdout=subprocess.DEVNULL, check=True)
        subprocess.run([bench.command, "verify", traces], stdout=subprocess.DEVNULL, check=True)
        recorded = sum(1 for trace in traces.glob("*.ndjson") for _ in lines_of(trace, "launch"))
        shutil.rmtree(traces)
    return {"called": called, "recorded": recorded, "missing": max(0, called - recorded), "more": max(0, recorded - called - in_flight)}


def tables(results):
    columns = [Column(what.split(",")[0], 26) for what in results["names"].values()]
    rows = [[row["what"], *(cell(row["tracers"][name]) for name in results["names"])] for row in results["rows"]]
    yield Table(f"endings: launches recorded, of those that the program has counted ({CALLS:,}, or until it is killed)", columns, rows)


def cell(figures):
    if figures["missing"] == 0 and figures["more"] == 0:
        return f"all {figures['called']:,}"
    return f"{figures['recorded']:,} of {figures['called']:,}"
