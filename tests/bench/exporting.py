"""Section exporting: how fast `rocshim export` writes each form of a trace, and that its memory does not grow with the trace's length."""
import shutil
from reading import KERNELS, RATE, SIZES_MB, watched
from running import tell
from steady import steady
from table import Column, Table

# A dataset's rows are sorted: it keeps 150 bytes of each launch.
SORTED = "dataset"
FORMS = ["perfetto", "chrome", "csv", "parquet", SORTED]


def measure(bench):
    a_call = steady(bench, "on", 6, RATE, RATE, kernels=KERNELS)["bytes_per_event"]
    rows = [row for size in (SIZES_MB[:1] if bench.options.short else SIZES_MB) for row in all_forms(bench, int(size * 1e6 / a_call))]
    tell("")
    of = lambda form: [row["rss_mib"] for row in rows if row["form"] == form]
    return {"rows": rows, "growth": max(of(form)[-1] / of(form)[0] for form in FORMS if form != SORTED)}


def all_forms(bench, calls):
    tell(f"exporting: the shim writes {calls:,} launches")
    written = steady(bench, "on", 6, RATE, calls, kernels=KERNELS, keep=True)
    for form in FORMS:
        tell(f"exporting: {written['bytes'] / 1e6:.0f} MB to {form}")
        yield one(bench, form, written)
    shutil.rmtree(bench.work / "traces")


def one(bench, form, written):
    out, mb = bench.work / "export", written["bytes"] / 1e6
    took = watched([bench.command, "export", "--to", form, "-o", out, bench.work / "traces"])
    size = sum(file.stat().st_size for file in (out.rglob("*") if out.is_dir() else [out]) if file.is_file())
    shutil.rmtree(out) if out.is_dir() else out.unlink()
    return {"form": form, "mb": mb, "events": written["produced"], "kernels": KERNELS, **took, "out_mb": size / 1e6, "mb_per_cpu_second": mb / took["cpu_s"], "mb_per_second": mb / took["wall_s"]}


def tables(results):
    columns = [Column("MB", 8), Column("launches", 12), Column("MB/s per core", 15), Column("MB/s", 8), Column("peak MiB", 10), Column("out, MB", 10)]
    rows = [[f"to {row['form']}", f"{row['mb']:.0f}", f"{row['events']:,}", f"{row['mb_per_cpu_second']:.0f}", f"{row['mb_per_second']:.0f}", f"{row['rss_mib']:.1f}", f"{row['out_mb']:.0f}"] for row in results["rows"]]
    yield Table(f"exporting: traces that the shim wrote, {KERNELS} kernels with 6 arguments, from the page cache", columns, rows)
