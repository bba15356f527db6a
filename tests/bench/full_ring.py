"""Section full-ring: what a call costs while events are dropped, because there is little ring memory and calls come as fast as they go."""
from figures import spread
from running import tell
from steady import steady
from table import Column, Table

MEMORY_MIB = [0.25, 1]
CALLS = 1_000_000


def measure(bench):
    rows = []
    for arguments in (0, 6):
        for memory in MEMORY_MIB:
            tell(f"full ring: {memory} MiB, {arguments} arguments")
            # In pairs: with, without.
            runs = [(steady(bench, "bare", arguments, calls=CALLS), steady(bench, "on", arguments, calls=CALLS, ROCSHIM_MEMORY_MIB=str(memory))) for _ in range(bench.repeats(5))]
            rows.append({
                "arguments": arguments, "memory_mib": memory, "calls": CALLS, "added": spread([on["p50"] - bare["p50"] for bare, on in runs]),
                "lost": spread([on["lost"] / on["produced"] for _, on in runs]), "p99.9": spread([on["p99.9"] for _, on in runs]),
                "counted": all(on["produced"] >= on["events"] for _, on in runs),
            })
    tell("")
    return {"rows": rows}


def tables(results):
    rows = [[f"{row['memory_mib']} MiB, {row['arguments']} arguments", f"{row['added']['median']:.1f}", f"{row['p99.9']['median']:.0f}", f"{row['lost']['median']:.1%}",
             "" if row["counted"] else "NOT ALL WERE COUNTED"] for row in results["rows"]]
    yield Table(f"full ring: {results['rows'][0]['calls']:,} calls without a pause; ns that the median call is longer, and what was dropped (and counted)", [Column("added", 10), Column("p99.9", 10), Column("dropped", 10)], rows)
