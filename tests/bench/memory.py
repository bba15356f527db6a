"""Section memory: what a thread that records takes, what 1, 64 and 1,000 take, and what the collector uses while the program does nothing."""
from build import program
from figures import spread
from running import run, tell, verify
from steady import steady
from table import Column, Table

THREADS = (1, 17)
SLEEP_MS = 2000
MANY = (1, 64, 1000)
BURST = 200_000  # launches, by all threads together
REST_MS = 8000  # in which what a burst took is returned
POINTS = ("idle", "burst", "rest")


def measure(bench):
    slopes, base, idle = [], [], []
    for number in range(bench.repeats(5)):
        tell(f"memory and idleness, {number + 1}")
        runs = {(variant, threads): steady(bench, variant, 6, 1000, 200, threads, sleep_ms=SLEEP_MS if threads == 1 else 0) for variant in ("bare", "on") for threads in THREADS}
        with_shim = {threads: runs["on", threads]["memory_kib"][1] - runs["bare", threads]["memory_kib"][1] for threads in THREADS}
        slope = (with_shim[THREADS[1]] - with_shim[THREADS[0]]) / (THREADS[1] - THREADS[0])
        slopes.append(slope)
        base.append(with_shim[THREADS[0]] - slope)
        idle.append(runs["on", 1]["idle_ms_per_s"] - runs["bare", 1]["idle_ms_per_s"])
    tell("")
    return {"per_thread_kib": spread(slopes), "process_kib": spread(base), "idle_ms_per_s": spread(idle), "many": many(bench)}


def many(bench):
    """Threads → point → resident and mapped KiB above a run without the shim."""
    resident, results = program(bench.work, "resident"), {}
    for threads in MANY:
        measured = {}
        for variant in ("bare", "on"):
            tell(f"memory of {threads} threads, {variant}")
            measured[variant] = run(bench.variants[variant], bench.work, [resident, threads, BURST // threads, REST_MS])
            verify(bench.variants[variant], bench.work, measured[variant]["events"][0])
        results[threads] = {point: [on - bare for on, bare in zip(measured["on"][point], measured["bare"][point])] for point in POINTS}
    tell("")
    return results


def tables(results):
    rows = [["a thread that records, KiB", f"{results['per_thread_kib']['median']:.0f}"], ["the process beside that, KiB", f"{results['process_kib']['median']:.0f}"],
            ["CPU, after 1.5 s of rest, ms/s", f"{results['idle_ms_per_s']['median']:.2f}"]]
    yield Table("memory and idleness: resident, above a run without the shim", [Column("", 10)], rows)
    rows = [[f"{threads:,}", *(f"{kib / 1024:.1f}" for kind in (0, 1) for kib in (row[point][kind] for point in POINTS))] for threads, row in results["many"].items()]
    columns = [Column(title) for title in ("idle", "after burst", f"{REST_MS // 1000} s later", "mapped idle", "after burst", f"{REST_MS // 1000} s later")]
    yield Table(f"memory of threads: MiB resident, and mapped, above a run without the shim; a burst of {BURST:,} launches by all together", columns, rows)
