"""What `rocshim.read` returns is the same in Arrow as in rows, typed, with units. Run by tests/real/export.rs."""
import sys

import pyarrow
import rocshim

for trace in sys.argv[1:]:
    tables, rows = rocshim.read(trace), rocshim.read(trace, frame="rows")
    assert set(tables) == set(rows), set(tables) ^ set(rows)
    for name, table in tables.items():
        assert isinstance(table, pyarrow.Table) and table.num_rows == len(rows[name]), name
        for one, other in zip(table.to_pylist(), rows[name]):
            assert one == {key: other.get(key) for key in one}, (name, one, other)
        for field in table.schema:
            assert field.metadata[b"description"], (name, field.name)
    begin, dur = (tables["launches"].schema.field(name) for name in ("begin_ns", "dur_ns"))
    assert begin.metadata[b"unit"] == b"ns since 1970-01-01T00:00:00Z" and dur.metadata[b"unit"] == b"ns"
    assert begin.type == pyarrow.int64()
print("same")
