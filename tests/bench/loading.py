"""Section loading: what the library adds to a program's start, and to the first call of a real libamdhip64."""
import os, random, sys
from figures import spread
from running import environment, tell
from table import Column, Table
from time import perf_counter_ns

PROGRAMS = {"/bin/true": ["/bin/true"], "python3 -c pass": [sys.executable, "-c", "pass"]}
VARIANTS = ["bare", "off", "on"]
RUNS = 200


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
    rows = {"bare": spread([wall for wall, _ in times["bare"]])}
    return rows | {name: spread([wall - bare for (wall, _), (bare, _) in zip(times[name], times["bare"])]) for name in VARIANTS[1:]}


def tables(results):
    rows = [[what, f"{row['bare']['q1']:.2f}", *(f"{row[name][key]:.2f}" for name in VARIANTS[1:] for key in ("q1", "median"))] for what, row in results["rows"].items()]
    yield Table(f"loading: ms from start to end, {results['runs']} times in turn (q1: the lower quartile); added is of each pair of neighbours", [Column("alone, q1", 11), Column("off, q1", 10), Column("median", 10), Column("on, q1", 10), Column("median", 10)], rows)
