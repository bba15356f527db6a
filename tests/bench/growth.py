"""Section growth: how the cost of a call, the collector's CPU and the trace grow with threads, distinct kernels and length."""
from figures import spread
from running import tell
from steady import steady
from table import Column, Table

RATE = 100_000  # calls a second, all threads together
# What grows; each row one point: threads, kernels, calls.
AXES = {
    "threads": [(threads, 10, 100_000) for threads in (1, 2, 4, 8, 16, 32, 64)],
    "kernels": [(1, kernels, 100_000) for kernels in (1, 10, 100, 1_000, 10_000, 100_000)],
    "calls": [(1, 10, calls) for calls in (10_000, 100_000, 500_000)],
}


def measure(bench):
    return {axis: [point(bench, axis, *row) for row in (rows[:2] if bench.options.short else rows)] for axis, rows in AXES.items()}


def point(bench, axis, threads, kernels, calls):
    pairs = []
    for number in range(bench.repeats(3)):
        tell(f"growth: {threads} threads, {kernels} kernels, {calls} calls, {number + 1}")
        how = {"rate": RATE // threads, "calls": calls // threads, "threads": threads, "kernels": kernels, "arguments": 6}
        pairs.append((steady(bench, "bare", **how), steady(bench, "on", **how)))
    tell("")
    point = {"threads": threads, "kernels": kernels, "calls": calls}
    return point | {
        "at": point[axis], "added": spread([on["p50"] - bare["p50"] for bare, on in pairs]), "collector_ns_per_event": spread([on["collector_ns_per_event"] for _, on in pairs]),
        "bytes_per_event": spread([on["bytes_per_event"] for _, on in pairs]), "lost": max(on["lost"] for _, on in pairs),
        "memory_mib": spread([(on["memory_kib"][1] - bare["memory_kib"][1]) / 1024 for bare, on in pairs]),
    }


def tables(results):
    columns = [Column("added, ns", 11), Column("collector, ns", 15), Column("B/event", 10), Column("MiB", 8)]
    for axis, points in results.items():
        rows = [[f"{each['at']:,}", f"{each['added']['median']:.1f}", f"{each['collector_ns_per_event']['median']:.0f}", f"{each['bytes_per_event']['median']:.1f}", f"{each['memory_mib']['median']:.1f}",
                 f"{each['lost']:,} lost" if each["lost"] else ""] for each in points]
        yield Table(f"growth with {axis} ({RATE:,} calls a second in all, 6 arguments): the median call, the collector per event, the trace, memory", columns, rows)
