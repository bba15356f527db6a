"""Traces as tables. The command exports them; here they are read, and each call gets its pass and phase."""
from __future__ import annotations

import bisect
import csv
import itertools
import os
import pathlib
import tempfile
from typing import Any, Iterable, Literal

from ._files import Error, run

Frame = Literal["arrow", "pandas", "polars", "rows"]
# What a call gets from the pass that it was made in: name, type, meaning.
_JOINED = [("phase", "text", "phase of that pass: prompt, decode, forward, …, or its label"),
           ("pass", "integer", "number of the pass in its process, from 1"),
           ("ne11_least", "integer", "fewest columns of a matrix multiplication of that pass"),
           ("ne11_most", "integer", "most columns of one")]


def read(traces: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, frame: Frame = "arrow") -> dict[str, Any]:
    """Returns the tables of trace files, or of folders of them, by name: `launches`, `gemms`, `phases`, …

    `frame` chooses the type of a table: a `pyarrow.Table`, a pandas or polars `DataFrame`, or, with "rows", a list of
    dicts, which needs no other package. `rocshim export --columns` describes all tables. In Arrow each field's metadata
    has its `description` and, where it has one, its `unit`: times are Unix nanoseconds, durations nanoseconds.

    Every table of calls also has the columns `phase`, `pass`, `ne11_least` and `ne11_most` of the pass that the call was
    made in. They are inferred from the call's time; they are empty outside of passes, and where passes of several model
    instances overlap.

    Raises:
        Error: a trace is missing or cannot be read.
        ImportError: the package for `frame` is not installed.
    """
    paths = [traces] if isinstance(traces, (str, os.PathLike)) else list(traces)
    columns = _columns(run(["export", "--columns"]))
    with tempfile.TemporaryDirectory(prefix="rocshim-") as scratch:
        folder = pathlib.Path(scratch) / "tables"
        form = "csv" if frame == "rows" else "parquet"
        run(["export", "--to", form, "-o", folder, *paths])
        if frame == "rows":
            rows = {file.stem: _rows(file, columns[file.stem]) for file in sorted(folder.glob("*.csv"))}
            return _joined_rows(rows)
        if frame not in ("arrow", "pandas", "polars"):
            raise Error(f"there are no tables of the kind {frame!r}; it is arrow, pandas, polars or rows")
        tables = _joined_arrow({name: _arrow(folder / name, columns[name]) for name in sorted(columns)}, columns)
    if frame == "pandas":
        return {name: table.to_pandas() for name, table in tables.items()}
    if frame == "polars":
        import polars  # type: ignore[import-not-found,import-untyped,unused-ignore]
        return {name: polars.from_arrow(table) for name, table in tables.items()}
    return tables


def _columns(text: str) -> dict[str, list[tuple[str, str, str]]]:
    """Each table's columns, (name, type, meaning), from what `export --columns` prints."""
    tables: dict[str, list[tuple[str, str, str]]] = {}
    every: dict[str, list[tuple[str, str, str]]] = {}
    into: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if line.startswith("  "):
            name, kind, meaning = line.split(None, 2)
            into.append((name, kind, meaning))
        elif line:
            head, what = line.split(":", 1)
            begin = list(every.get("every table", []))
            if what.endswith("(a call)"):
                begin += every["every call"]
            into = begin
            (every if head.startswith("every ") else tables)[head] = into
            if head == "every call":
                every[head] = into = []
    return tables


def _rows(file: pathlib.Path, columns: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    kinds = {name: kind for name, kind, _ in columns}
    with open(file, newline="") as lines:
        return [{name: _value(kinds.get(name, "text"), text) for name, text in row.items()} for row in csv.DictReader(lines)]


def _value(kind: str, text: str) -> Any:
    if text == "":
        return None
    if kind == "integer":
        return int(text)
    if kind == "address":
        return int(text, 0)
    if kind == "flag":
        return text in ("true", "1")
    return text


def _unit(name: str) -> str | None:
    """The unit that a column's name says."""
    if name == "begin_ns":
        return "ns since 1970-01-01T00:00:00Z"
    return "ns" if name.endswith("_ns") else "bytes" if name.split("_")[-1] == "bytes" else None


def _arrow(path: pathlib.Path, columns: list[tuple[str, str, str]]) -> Any:
    import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    if not path.is_dir():  # The traces have no such call.
        types = {"text": pyarrow.string(), "integer": pyarrow.int64(), "address": pyarrow.uint64(), "flag": pyarrow.bool_()}
        return _described(pyarrow.schema([(name, types[kind]) for name, kind, _ in columns]).empty_table(), columns)
    table = pyarrow.parquet.read_table(path)
    table = table.set_column(table.schema.get_field_index("host"), "host", table["host"].cast(pyarrow.string()))
    table = table.set_column(table.schema.get_field_index("pid"), "pid", table["pid"].cast(pyarrow.int64()))
    order = [name for name, _, _ in columns if name in table.column_names]
    return _described(table.select(order + [name for name in table.column_names if name not in order]), columns)


def _described(table: Any, columns: list[tuple[str, str, str]]) -> Any:
    import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
    meaning = {name: text for name, _, text in columns}
    fields = []
    for field in table.schema:
        metadata = {"description": meaning.get(field.name, "")}
        unit = _unit(field.name)
        if unit:
            metadata["unit"] = unit
        fields.append(field.with_metadata(metadata))
    return table.cast(pyarrow.schema(fields))


class _Passes:
    """The passes of each process, by time."""

    def __init__(self, passes: list[dict[str, Any]]) -> None:
        self.of: dict[tuple[str, int], tuple[list[int], list[int], list[tuple[Any, ...]]]] = {}
        for row in sorted(passes, key=lambda row: row["begin_ns"]):
            begins, ends, values = self.of.setdefault((row["host"], row["pid"]), ([], [], []))
            begins.append(row["begin_ns"])
            ends.append(row["begin_ns"] + (row["dur_ns"] or 0))
            values.append((row["label"] or row["kind"], len(begins), row["columns_least"], row["columns_most"]))
        # The latest end up to each pass: before it no earlier pass needs to be looked at.
        self.latest = {key: list(itertools.accumulate(ends, max)) for key, (_, ends, _) in self.of.items()}

    def at(self, host: str, pid: int, time: int) -> tuple[Any, ...]:
        """What a call of that time gets: of the only pass that it is in, else nothing."""
        nothing = (None,) * len(_JOINED)
        if (host, pid) not in self.of:
            return nothing
        begins, ends, values = self.of[host, pid]
        latest, at, found = self.latest[host, pid], bisect.bisect_right(begins, time) - 1, nothing
        while at >= 0 and latest[at] >= time:
            if ends[at] >= time:
                if found is not nothing:
                    return nothing
                found = values[at]
            at -= 1
        return found


def _joined_rows(tables: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    passes = _Passes(tables.get("passes", []))
    for rows in tables.values():
        for row in rows if rows and "id" in rows[0] else []:
            row.update(zip((name for name, _, _ in _JOINED), passes.at(row["host"], row["pid"], row["begin_ns"])))
    return tables


def _joined_arrow(tables: dict[str, Any], columns: dict[str, list[tuple[str, str, str]]]) -> dict[str, Any]:
    import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
    passes = _Passes(tables["passes"].to_pylist() if "passes" in tables else [])
    for name, table in tables.items():
        if "id" not in table.column_names:
            continue
        times = zip(*(table[key].to_pylist() for key in ("host", "pid", "begin_ns")))
        values = [passes.at(*time) for time in times]
        for at, (column, kind, _) in enumerate(_JOINED):
            typed = pyarrow.string() if kind == "text" else pyarrow.int64()
            table = table.append_column(column, pyarrow.array([value[at] for value in values], typed))
        tables[name] = _described(table, columns[name] + _JOINED)
    return tables
