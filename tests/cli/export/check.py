#!/usr/bin/env python3
"""check.py FORM OUT SUMMARY PHASES TRACE...: holds an export against its traces, read line by line, and against what `rocshim summary --json` and `rocshim phases --json` say.

Nothing of rocshim's own reads the export: chrome by json, csv by csv, perfetto by the protobuf schema of the package `perfetto`, parquet by pyarrow.
Prints one line; exit code 1 and what differs otherwise.
"""
import csv, json, pathlib, sys
from collections import Counter, defaultdict

TABLES = {
    "launch": "launches", "gemm": "gemms", "matmul": "gemms", "conv": "convolutions", "blas": "blas_calls", "span": "spans",
    "copy": "copies", "sync": "syncs", "graph_launch": "graph_launches", "graph_call": "graph_calls", "load": "loads",
    "mark": "marks", "gap": "losses",
}


def expected(traces):
    """Of each table: how many rows there are of (tid, begin, dur). Of launches: how many of each kernel. Arrows; ranges."""
    rows, kernels, ranges, calls, parents = defaultdict(Counter), Counter(), 0, set(), []
    for trace in traces:
        names = {}
        for line in open(trace):
            record = json.loads(line)
            kind, dur = record["type"], record.get("dur")
            if kind == "header":
                epoch = int(record["epoch"])
            elif kind == "kernel":
                names[record["id"]] = record["name"]
            elif kind == "in_flight":
                record, dur = record["event"], None
                kind = record["type"]
            if kind not in TABLES:
                continue
            rows[TABLES[kind]][record["tid"], epoch + record["t"], dur] += 1
            if kind == "launch":
                kernels[names.get(record.get("kernel"))] += 1
                parents += [(epoch, record["tid"], record["parent"])] if "parent" in record else []
            if kind != "gap":
                calls.add((epoch, record["tid"], record["id"]))
            ranges += record.get("action") in ("push", "start")
    return rows, kernels, sum(parent in calls for parent in parents), ranges


def number(text):
    return int(text) if text not in ("", None) else None


def read_csv(out):
    tables = {}
    for file in out.glob("*.csv"):
        with open(file, newline="") as lines:
            tables[file.stem] = [{**row, **{key: number(row[key]) for key in ("tid", "begin_ns", "dur_ns")}} for row in csv.DictReader(lines)]
    return tables, None


def read_parquet(out):
    import pyarrow.dataset
    tables = {}
    for folder in out.iterdir():
        table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
        assert {"host", "pid"} <= set(table.column_names), table.column_names
        tables[folder.name] = table.to_pylist()
    return tables, None


def read_chrome(out, traces):
    epoch = min(int(json.loads(open(trace).readline())["epoch"]) for trace in traces)
    events = json.load(open(out))
    tables, ends, begun = defaultdict(list), Counter(), Counter()
    for event in events:
        if event["ph"] in "XB":
            dur = round(event["dur"] * 1000) if event["ph"] == "X" else None
            tables[event["cat"]].append({"tid": event["tid"], "begin_ns": epoch + round(event["ts"] * 1000), "dur_ns": dur, **event["args"]})
        elif event["name"] == "launches":
            (begun if event["ph"] == "s" else ends)[event["id"]] += 1
    return tables, sum(begun[arrow] * ends[arrow] for arrow in ends)


def read_perfetto(out):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    trace = Trace()
    trace.ParseFromString(out.read_bytes())
    interned, epochs, tids, events = defaultdict(dict), {}, {}, []
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        for clock in packet.clock_snapshot.clocks:
            if clock.clock_id == 1:
                epochs[sequence] = clock.timestamp
                interned[sequence] = {}
        tids[packet.track_descriptor.uuid] = packet.track_descriptor.thread.tid or None
        for field, values in packet.interned_data.ListFields():
            for value in values:
                text = getattr(value, "name", None) or value.str
                interned[sequence][field.name, value.iid] = text if isinstance(text, str) else text.decode()
        if packet.HasField("track_event"):
            events.append((epochs[sequence] + packet.timestamp, packet.track_event, interned[sequence]))
    tables, open_slices, begun, ends = defaultdict(list), defaultdict(list), Counter(), Counter()
    # By time; entries with equal times in the order of the file, as Perfetto sorts.
    for t, event, names in sorted(events, key=lambda event: event[0]):
        if event.type == event.TYPE_SLICE_END:
            row = open_slices[event.track_uuid].pop()
            row["dur_ns"] = t - row["begin_ns"]
            continue
        row = {"tid": tids[event.track_uuid], "begin_ns": t, "dur_ns": None}
        for annotation in event.debug_annotations:
            value = getattr(annotation, annotation.WhichOneof("value") or "dict_entries")
            key = names["debug_annotation_names", annotation.name_iid]
            row[key] = names["debug_annotation_string_values", value] if annotation.HasField("string_value_iid") else value
        open_slices[event.track_uuid].append(row)
        category = names["event_categories", event.category_iids[0]]
        tables[category].append(row)
        begun.update(event.flow_ids)
        ends.update(event.terminating_flow_ids)
    return tables, sum(begun[arrow] * ends[arrow] for arrow in ends)


def main(form, out, summary, phases, *traces):
    out, summary, phases = pathlib.Path(out), json.load(open(summary)), json.load(open(phases))
    rows, kernels, arrows, ranges = expected(traces)
    tables, exported_arrows = read_chrome(out, traces) if form == "chrome" else {"csv": read_csv, "parquet": read_parquet, "perfetto": read_perfetto}[form](out)
    wrong = []

    def same(what, exported, known):
        if exported != known:
            wrong.append(f"{what}: {exported} in the export, {known} otherwise")

    in_slices = form in ("chrome", "perfetto")
    for table in sorted(set(TABLES.values())):
        exported = Counter((None if in_slices and table == "losses" else row["tid"], row["begin_ns"], row["dur_ns"]) for row in tables.get(table, []))
        known = Counter({(None, *key[1:]) if in_slices and table == "losses" else key: count for key, count in rows[table].items()})
        if exported != known:
            wrong.append(f"{table}: only in the export {list((exported - known).items())[:3]}, only in the trace {list((known - exported).items())[:3]}")
    same("kernels", Counter(row.get("kernel") or None for row in tables.get("launches", [])), kernels)
    of_summary = {row["name"]: (row["launches"] - row["by_graphs"] + row["captured"], row["total_ns"]) for row in summary["kernels"] if not row["name"].startswith("unknown kernel")}
    of_export = defaultdict(lambda: (0, 0))
    for row in tables.get("launches", []):
        if row.get("kernel") and row["dur_ns"] is not None:
            calls, total = of_export[row["kernel"]]
            of_export[row["kernel"]] = calls + 1, total + row["dur_ns"]
    same("kernels of summary", dict(of_export), {name: row for name, row in of_summary.items() if row[0]})
    totals = summary["totals"]
    for table, total in [("gemms", "gemm_calls"), ("convolutions", "convolutions"), ("graph_launches", "graph_launches"), ("marks", "marks"), ("loads", "module_calls"), ("processes", "processes")]:
        same(f"{table} of summary", sum(row["dur_ns"] is not None for row in tables.get(table, [])), totals[total])
    same("lost", sum(int(row["lost"]) for row in tables.get("losses", [])), totals["lost"])
    epoch = int(phases["epoch"])
    same("phases", sorted((row["begin_ns"], row["dur_ns"], row["kind"], number(row.get("tokens"))) for row in tables.get("phases", [])),
         sorted((epoch + row["begin_ns"], row["end_ns"] - row["begin_ns"], row["kind"].replace("_", "-"), row["tokens"]) for row in phases["phases"]))
    same("passes", len(tables.get("passes", [])), sum(row["passes"] for row in phases["phases"]))
    same("ranges", len(tables.get("ranges", [])), ranges)
    if exported_arrows is not None:
        same("arrows", exported_arrows, arrows)
    if wrong:
        sys.exit("\n".join(wrong))
    counts = {table: len(rows) for table, rows in sorted(tables.items()) if rows}
    print(f"{form}: {counts}")


if __name__ == "__main__":
    main(*sys.argv[1:])
