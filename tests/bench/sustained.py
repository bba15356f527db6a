"""Section sustained: the highest rate of calls that is written to a file without loss, and what writing costs."""
from running import tell
from steady import steady
from table import Column, Table

RATES = [500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000, 8_000_000, 10_000_000]
# Threads and arguments.
LOADS = [(1, 0), (1, 6), (8, 0), (8, 6)]
SECONDS = 2
TRIES = 3


def measure(bench):
    loads = [{"what": f"{threads} thread{'s' if threads > 1 else ''}, {arguments} arguments", "rows": climb(bench, threads, arguments)} for threads, arguments in LOADS]
    return {"loads": loads, "best": {threads: best(load["rows"]) for (threads, arguments), load in zip(LOADS, loads) if arguments == 0}}


def best(rows):
    """The row of the highest rate without loss."""
    without_loss = [row for row in rows if row["lost"] == 0]
    return max(without_loss, key=lambda row: row["rate"]) if without_loss else rows[0] | {"rate": 0}


def climb(bench, threads, arguments):
    """One row per rate, until two consecutive rates lose events in every attempt, or the program
    itself cannot reach the rate."""
    rows = []
    for rate in RATES[: 3 if bench.options.short else None]:
        tries = []
        while len(tries) < TRIES and not any(each["lost"] == 0 for each in tries):
            tell(f"sustained: {rate:,} a second from {threads} threads with {arguments} arguments, try {len(tries) + 1}")
            tries.append(steady(bench, "on", arguments, rate // threads, rate // threads * SECONDS, threads=threads, kernels=10))
        row = min(tries, key=lambda each: each["lost"])
        rows.append(row | {"asked": rate, "tries": len(tries)})
        if all(row["lost"] for row in rows[-2:]) and len(rows) > 1 or row["rate"] < 0.8 * rate:
            break
    tell("")
    return rows


def tables(results):
    columns = [Column("reached", 12), Column("lost", 12), Column("cores", 8), Column("ns/event", 10), Column("B/event", 9), Column("B/line", 8)]
    for load in results["loads"]:
        rows = [[f"{row['asked']:,} a second", f"{row['rate']:,.0f}", f"{row['lost']:,}", f"{row['cores']:.2f}", f"{row['collector_ns_per_event']:.0f}", f"{row['bytes_per_event']:.1f}", f"{row['line_bytes']:.1f}",
                 f"in {row['tries']} tries" if row["tries"] > 1 else ""] for row in load["rows"]]
        yield Table(f"sustained for {SECONDS} s, {load['what']}: events to a file, and the collector's CPU", columns, rows)

