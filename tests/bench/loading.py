"""Section loading: what the library adds to a program's start, and to the first call of a real libamdhip64."""
import os, random, sys
from figures import spread
from running import environment, tell
from table import Column, Table
from time import perf_counter_ns

PROGRAMS = {"/bin/true": ["/bin/true"], "python3 -c pass": [sys.executable, "-c", "pass"]}
VARIANTS = ["bare", "off", "on"]
RUNS = 150


def measure(bench):
    results = {what: start(bench, command) for what, command in PROGRAMS.items()}
    return {"rows": results, "runs": bench.repeats(RUNS)}


def start(bench, command):
    times = {name: [] for name in VARIANTS}
    for number in range(bench.repeats(RUNS)):
        tell(f"loading: {command[0]}, {number + 1}")
        for name in random.sample(VARIANTS, len(VARIANTS)):
            env = environment(bench.variants[name], bench.work)
            begun = perf_counter_ns()
            _, status, usage = os.wait4(os.posix_spawn(command[0], command, env), 0)
            ended = perf_counter_ns()
            if status:
                sys.exit(f"bench: {command[0]} under {bench.variants[name].what}: status {status}")
            times[name].append(((ended - begun) / 1e6, (usage.ru_utime + usage.ru_stime) * 1e3))
    tell("")
    if any((bench.work / "traces").glob("*")):
        sys.exit(f"bench: {command[0]} called nothing, and left a trace in {bench.work}/traces")
    return {name: {"wall_ms": spread([wall for wall, _ in times[name]]), "cpu_ms": spread([cpu for _, cpu in times[name]])} for name in VARIANTS}


def tables(results):
    rows = []
    for what, row in results["rows"].items():
        added = lambda name, kind: f"{row[name][kind]['q1'] - row['bare'][kind]['q1']:.2f}"
        rows.append([what, f"{row['bare']['wall_ms']['q1']:.2f}", added("off", "wall_ms"), added("on", "wall_ms"), added("on", "cpu_ms")])
    yield Table(f"loading: ms from start to end, the lower quartile of {results['runs']} runs in turn", [Column("alone", 10), Column("off adds", 10), Column("on adds", 10), Column("in CPU", 10)], rows)
