"""One table of the timed calls: a row a variant, what it adds to each kind of call, and its instructions."""
from table import Column, Table

COLUMNS = [("launch", "module"), ("6 arguments", "args6"), ("16 args", "args16"), ("hipLaunch", "stub"), ("GEMM", "gemm"), ("2 threads", "module x2"), ("8 threads", "module x8")]


def tables(sections):
    if "calls" not in sections:
        return
    workloads = {each["name"]: {row["variant"]: row for row in each["rows"]} for each in sections["calls"]["workloads"]}
    measured = [(title, workloads[name]) for title, name in COLUMNS if name in workloads]
    what = {name: row["what"] for _, rows in measured for name, row in rows.items() if name != "bare"}
    counted = sections.get("instructions", {}).get("module", {})
    rows = []
    for name, words in what.items():
        cells = [number(found["added"]["median"]) if (found := of.get(name)) and found["added"] else "" for _, of in measured]
        tail = workloads.get("tail", {}).get(name)
        rows.append([words, *cells, number(tail["p99.9"]["median"]) if tail else "", f"{counted[name]:.0f}" if name in counted else ""])
    columns = [Column(title, max(10, len(title) + 2)) for title, _ in measured] + [Column("p99.9", 9), Column("instructions", 14)]
    yield Table("what a hook adds to a call, ns (medians; p99.9: of the whole call; instructions: added to a launch)", columns, rows)


def number(value):
    return f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"
