"""Runs the program steady: its figures, and the counters of its trace."""
import re
from running import accounts, run


def steady(bench, variant, arguments=0, rate=0, calls=100_000, threads=1, kernels=1, sleep_ms=0, keep=False, **env):
    """The figures of one run by name; with a trace, its counters too."""
    numbers = run(bench.variants[variant], bench.work, [bench.steady, arguments, rate, calls, threads, kernels, sleep_ms], **env)
    made, seconds = numbers["calls"]
    figures = {"calls": int(made), "seconds": seconds, "rate": made / seconds, "ns": seconds * 1e9 / made * threads}
    figures |= dict(zip(("p50", "p99", "p99.9", "max", "mean"), numbers["ns"]))
    before, after = numbers["memory"]
    used, slept = numbers["idle"]
    figures |= {"memory_kib": [before, after], "idle_ms_per_s": used / 1e6 / slept if sleep_ms else None, "events": int(numbers["events"][0])}
    if bench.variants[variant].records:
        figures["line_bytes"] = line_bytes(bench.work)
        account = accounts(bench.work, keep)
        figures |= {"produced": account.produced, "lost": account.lost, "bytes": account.size, "collector_ns": account.collector_ns}
        figures |= {"cores": account.collector_ns / 1e9 / (seconds + (slept if sleep_ms else 0)), "collector_ns_per_event": account.collector_ns / max(1, account.written), "bytes_per_event": account.size / max(1, account.written)}
    return figures


def line_bytes(work):
    """Mean length of the launches' lines in the middle of the trace."""
    lengths = []
    for trace in (work / "traces").glob("*.ndjson"):
        with open(trace, "rb") as text:
            text.seek(trace.stat().st_size // 2)
            lengths += [len(line) + 1 for line in text.read(1 << 20).split(b"\n")[1:-1] if re.match(rb'\{"type":"launch"', line)]
    return sum(lengths) / len(lengths) if lengths else None
