"""Section calls: what a call costs, in bursts that fit the ring, so that nothing is dropped while it is timed."""
import random, sys
import bars
from figures import keep_full_speed, over_rounds, rounds_of
from running import Void, run, tell, verify
from table import Column, Table, middle_half
from workloads import PERCENTILES, WORKLOADS

# What a hot path must not do. Preemption depends on the machine.
DISTURBANCES = [("faults", "page faults"), ("blocked", "waits")]


def measure(bench):
    """Runs every variant of every workload once a round, in an order drawn again each time, so that what disturbs the
    machine for a while disturbs all."""
    chosen = [w for w in WORKLOADS if not bench.options.only or w.name in bench.options.only]
    figures = {w.name: {name: [] for name in w.who(bench.variants)} for w in chosen}
    for number in range(bench.options.rounds):
        for workload in chosen:
            names = list(figures[workload.name])
            for name in random.sample(names, len(names)):
                tell(f"round {number + 1} of {bench.options.rounds}: {workload.name}, {name}")
                figures[workload.name][name].append(one(bench, workload, bench.variants[name]))
    tell("")
    return summarise(figures, bench.variants)


def one(bench, workload, variant):
    """Runs one process; again with a longer pause if events were lost."""
    for pause in (workload.pause_us, 3 * workload.pause_us, 10 * workload.pause_us):
        try:
            return once(bench, workload, variant, pause)
        except Void as void:
            reason = void
    sys.exit(f"bench: {variant.what}, {workload.name}: {reason}")


def once(bench, workload, variant, pause):
    calls = max(10, int(workload.calls * variant.share))
    numbers = run(variant, bench.work, [bench.loop, workload.form, workload.mode, bench.options.bursts, calls, workload.threads, pause])
    verify(variant, bench.work, numbers["events"][0])
    figures = dict(zip(("faults", "blocked", "preempted"), map(int, numbers["usage"])))
    if workload.mode == "tail":
        return figures | dict(zip(PERCENTILES, numbers["tail"]))
    return figures | {"bursts": [(float(line[1]), float(line[2])) for line in numbers["lines"] if line[0] == "burst"]}


def summarise(figures, variants):
    """The numbers of all tables. Differences and ratios are taken within each round; the median
    over rounds is shown."""
    kept = keep_full_speed(figures)
    rounds = rounds_of(figures)
    results = {"rounds": len(rounds), "full_speed": kept, "workloads": [], "bars": bars.of_calls(rounds)}
    for workload in (w for w in WORKLOADS if w.name in figures):
        rows = []
        for name, runs in figures[workload.name].items():
            row = {"variant": name, "what": variants[name].what, **{kind: sum(run[kind] for run in runs) for kind in ("faults", "blocked", "preempted")}}
            if workload.mode == "tail":
                row |= {percentile: over_rounds(rounds, lambda r: r.tail(name, percentile)) for percentile in PERCENTILES}
            else:
                row |= {"ns": over_rounds(rounds, lambda r: r.per_call(workload.name, name)), "added": over_rounds(rounds, lambda r: r.added(workload.name, name))}
            rows.append(row)
        results["workloads"].append({"name": workload.name, "what": workload.what, "rows": rows})
    return results


def tables(results):
    first = f"medians of {results['rounds']} rounds, in brackets the middle half of them; ns; {results['full_speed']:.0%} of the bursts ran at full speed and count"
    for workload in results["workloads"]:
        tail = workload["name"] == "tail"
        columns = [Column(p, 10) for p in PERCENTILES] if tail else [Column("a call", 11), Column("", 22), Column("added", 9)]
        rows = []
        for row in workload["rows"]:
            if tail:
                cells = [f"{row[p]['median']:.0f}" for p in PERCENTILES]
            else:
                cells = [f"{row['ns']['median']:.2f}", middle_half(row["ns"]), f"{row['added']['median']:.2f}" if row["variant"] != "bare" and row["added"] else ""]
            said = ", ".join(f"{row[kind]} {what}" for kind, what in DISTURBANCES if row[kind] and not row["variant"].startswith(("lttng", "uftrace", "ltrace", "fprintf")))
            rows.append([row["what"], *cells, said])
        yield Table(workload["what"], columns, rows, note=first)
        first = ""
