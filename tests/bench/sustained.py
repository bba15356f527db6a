"""Section sustained: the highest rate of calls that is written to a file without loss, and what writing costs."""
from running import tell
from steady import steady
from table import Column, Table

RATES = [500_000, 1_000_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000, 8_000_000]
SECONDS = 2
TRIES = 3


def measure(bench):
    by_arguments = {str(arguments): climb(bench, arguments) for arguments in (0, 6)}
    bare = by_arguments["0"]
    without_loss = [row for row in bare if row["lost"] == 0]
    best = max(without_loss, key=lambda row: row["rate"]) if without_loss else bare[0] | {"rate": 0}
    return {"urgent": bench.options.urgent, "rows": by_arguments, "best": best, "line_bytes": best["line_bytes"]}


def climb(bench, arguments):
    """One row per rate, until two consecutive rates lose events in every attempt, or the program
    itself cannot reach the rate."""
    rows = []
    for rate in RATES[: 3 if bench.options.short else None]:
        tries = []
        while len(tries) < TRIES and not any(each["lost"] == 0 for each in tries):
            tell(f"sustained: {rate:,} a second with {arguments} arguments, try {len(tries) + 1}")
            tries.append(steady(bench, "on", arguments, rate, rate * SECONDS, kernels=10, urgent=bench.options.urgent))
        best = min(tries, key=lambda each: each["lost"])
        rows.append(best | {"asked": rate, "tries": len(tries)})
        if all(row["lost"] for row in rows[-2:]) and len(rows) > 1 or best["rate"] < 0.8 * rate:
            break
    tell("")
    return rows


def tables(results):
    columns = [Column("reached", 12), Column("lost", 12), Column("cores", 8), Column("ns/event", 10), Column("B/event", 9), Column("B/line", 8)]
    for arguments, measured in results["rows"].items():
        rows = [[f"{row['asked']:,} a second", f"{row['rate']:,.0f}", f"{row['lost']:,}", f"{row['cores']:.2f}", f"{row['collector_ns_per_event']:.0f}", f"{row['bytes_per_event']:.1f}", f"{row['line_bytes']:.1f}",
                 f"in {row['tries']} tries" if row["tries"] > 1 else ""] for row in measured]
        yield Table(f"sustained, one thread, {arguments} arguments, for {SECONDS} s each{', at real-time priority' if results['urgent'] else ''}: events to a file, and the collector's CPU", columns, rows)
