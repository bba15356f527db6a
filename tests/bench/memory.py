"""Section memory: what a thread that records takes, and what the collector uses while the program does nothing."""
from figures import spread
from running import tell
from steady import steady
from table import Column, Table

THREADS = (1, 17)
SLEEP_MS = 2000


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
    return {"per_thread_kib": spread(slopes), "process_kib": spread(base), "idle_ms_per_s": spread(idle)}


def tables(results):
    rows = [["a thread that records, KiB", f"{results['per_thread_kib']['median']:.0f}"], ["the process beside that, KiB", f"{results['process_kib']['median']:.0f}"],
            ["CPU, after 1.5 s of rest, ms/s", f"{results['idle_ms_per_s']['median']:.2f}"]]
    yield Table("memory and idleness: resident, above a run without the shim", [Column("", 10)], rows)
