"""Answers a query over a dataset with DuckDB, in this process: `rocshim sql` runs it by Python.

Arguments: the dataset's folder, the query (SQL, or a file of it; empty: the tables with their rows), `text` or `json`.
"""
import json
import os
import pathlib
import sys

TABLES = ["launches", "gemms", "convolutions", "collectives", "phases", "ranks"]


def fail(sentence):
    sys.stderr.write(f"rocshim: {sentence}\n")
    raise SystemExit(1)


def is_whole(path):
    """Whether a file begins and ends as Parquet does."""
    try:
        with open(path, "rb") as file:
            begin = file.read(4)
            file.seek(-4, os.SEEK_END)
            return begin == b"PAR1" == file.read(4)
    except OSError:
        return False


def views(engine, folder):
    """A view for each table, over its files that can be read. Names of files that begin with a dot are not whole yet."""
    for table in TABLES:
        files = sorted(path for path in (folder / table).rglob("*.parquet") if not path.name.startswith("."))
        whole = [str(path) for path in files if is_whole(path)]
        if len(whole) < len(files):
            first = next(path for path in files if str(path) not in whole)
            sys.stderr.write(f"rocshim: left out: {len(files) - len(whole)} of {len(files)} files of {table} are damaged, "
                             f"the first is {first}; export its process again\n")
        if not whole:
            fail(f"{folder} has no readable file of {table}; `rocshim export --to dataset -o {folder} TRACE` adds a trace")
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in whole)
        engine.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{listed}], hive_partitioning = false)")


def main():
    folder, query, form = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    try:
        import duckdb
    except ImportError:
        fail("sql needs DuckDB for Python: pip install 'rocshim[sql]', or pip install duckdb; "
             "ROCSHIM_PYTHON names another Python")
    if not (folder / "_rocshim.json").exists():
        fail(f"{folder} is no dataset; `rocshim export --to dataset -o {folder} TRACE` makes one")
    if query.endswith(".sql"):
        try:
            query = pathlib.Path(query).read_text()
        except OSError as error:
            fail(f"cannot read the query {query}: {error.strerror}")
    engine = duckdb.connect()
    views(engine, folder)
    query = query or " UNION ALL ".join(f"SELECT '{name}' AS name, COUNT(*) AS row_count FROM {name}" for name in TABLES)
    try:
        result = engine.execute(query)
        names = [column[0] for column in result.description or []]
        rows = result.fetchall() if names else []
    except duckdb.Error as error:
        fail("the query failed: " + " ".join(str(error).split()))
    try:
        if form == "json":
            print(json.dumps([dict(zip(names, row)) for row in rows], indent=2, default=str))
        else:
            for row in [names, *rows]:
                print("\t".join("" if value is None else str(value) for value in row))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


main()
