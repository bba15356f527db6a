"""Section full-ring: what a call costs while events are dropped, because the ring is small and calls come as fast as they go."""
from figures import spread
from running import tell
from steady import steady
from table import Column, Table

RINGS_KIB = [64, 1024]
CALLS = 1_000_000


def measure(bench):
    rows = []
    for arguments in (0, 6):
        for ring in RINGS_KIB:
            tell(f"full ring: {ring} KiB, {arguments} arguments")
            # In pairs: with, without.
            runs = [(steady(bench, "bare", arguments, calls=CALLS), steady(bench, "on", arguments, calls=CALLS, ROCSHIM_RING_KIB=str(ring))) for _ in range(bench.repeats(5))]
            rows.append({
                "arguments": arguments, "ring_kib": ring, "calls": CALLS, "added": spread([on["p50"] - bare["p50"] for bare, on in runs]),
                "lost": spread([on["lost"] / on["produced"] for _, on in runs]), "p99.9": spread([on["p99.9"] for _, on in runs]),
                "counted": all(on["produced"] >= on["events"] for _, on in runs),
            })
    tell("")
    return {"rows": rows}


def tables(results):
    rows = [[f"ring of {row['ring_kib']} KiB, {row['arguments']} arguments", f"{row['added']['median']:.1f}", f"{row['p99.9']['median']:.0f}", f"{row['lost']['median']:.1%}",
             "" if row["counted"] else "NOT ALL WERE COUNTED"] for row in results["rows"]]
    yield Table(f"full ring: {results['rows'][0]['calls']:,} calls without a pause; ns that the median call is longer, and what was dropped (and counted)", [Column("added", 10), Column("p99.9", 10), Column("dropped", 10)], rows)
