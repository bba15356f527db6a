"""Tables as text: a title, right-aligned columns, rows of cells; what does not fit a column follows the row."""
from dataclasses import dataclass

FIRST = 36  # width of the first column


@dataclass
class Column:
    title: str
    width: int = 12


@dataclass
class Table:
    title: str
    columns: list
    rows: list      # each: what it is, a cell a column, and perhaps a remark
    note: str = ""  # a line above the title
    after: str = ""  # a line below the rows


def show(table):
    if table.note:
        print(table.note)
    print(f"\n{table.title}\n  {'':{FIRST - 2}}" + "".join(f"{column.title:>{column.width}}" for column in table.columns))
    for what, *cells in table.rows:
        remark = cells[len(table.columns)] if len(cells) > len(table.columns) else ""
        print((f"  {what:{FIRST - 2}}" + "".join(f"{cell:>{column.width}}" for cell, column in zip(cells, table.columns)) + (f"   {remark}" if remark else "")).rstrip())
    if table.after:
        print(f"  {table.after}")


def middle_half(measured, digits=2):
    return f"({measured['q1']:.{digits}f}–{measured['q3']:.{digits}f})"


def of_bars(rows):
    cells = [[row["name"], f"{row['value']:.2f}", middle_half(row) if "q1" in row else "", *("" if limit is None else str(limit) for limit in (row["bar"], row["goal"])), row["unit"]] for row in rows]
    return Table("held against", [Column("", 11), Column("", 22), Column("bar", 8), Column("goal", 8)], cells)
