"""Section reading: how fast `rocshim summary` reads a trace, and that its memory does not grow with the trace's length."""
import os, pathlib, shutil, subprocess, sys
from time import perf_counter, sleep
from running import tell
from steady import steady
from table import Column, Table

RATE = 300_000  # the rate at which the shim itself writes the trace to be read
KERNELS = 100
SIZES_MB = [250, 2300]


def measure(bench):
    a_call = steady(bench, "on", 6, RATE, RATE, kernels=KERNELS)["bytes_per_event"]
    rows = [one(bench, int(size * 1e6 / a_call)) for size in (SIZES_MB[:1] if bench.options.short else SIZES_MB)]
    tell("")
    return {"rows": rows, "shortest": rows[0], "longest": rows[-1]}


def one(bench, calls):
    tell(f"reading: the shim writes {calls:,} launches")
    written = steady(bench, "on", 6, RATE, calls, kernels=KERNELS, keep=True)
    tell(f"reading: summary of {written['bytes'] / 1e6:.0f} MB")
    command = [bench.command, "summary", bench.work / "traces"]
    runs = [watched(command) for _ in range(bench.repeats(3))]
    mb = written["bytes"] / 1e6
    on = {number: mb / min(watched(command, cpus)["wall_s"] for _ in range(bench.repeats(3))) for number, cpus in cores()}
    shutil.rmtree(bench.work / "traces")
    best = min(runs, key=lambda run: run["cpu_s"])
    return {"mb": mb, "events": written["produced"], "kernels": KERNELS, **best, "mb_per_cpu_second": mb / best["cpu_s"], "mb_per_second": mb / best["wall_s"], "on_cores": on, "runs": runs}


def cores():
    """1, 2 and 4 CPUs of as many cores, as far as the machine has them: two hardware threads of one core are not two cores."""
    first = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        first.setdefault(pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(), cpu)
    return [(number, list(first.values())[:number]) for number in (1, 2, 4) if number <= len(first)]


def watched(command, cpus=None):
    """What a command takes, on these CPUs only: time, processor, and the most memory that it held."""
    begun, peak = perf_counter(), 0
    child = subprocess.Popen([*(["taskset", "-c", ",".join(map(str, cpus))] if cpus else []), *command], stdout=subprocess.DEVNULL)
    # Read from the process itself while it runs: wait4 includes what its parent had in memory when
    # it was started.
    while not (ended := os.wait4(child.pid, os.WNOHANG))[0]:
        peak = max(peak, peak_kib(child.pid))
        sleep(0.005)
    _, status, usage = ended
    if status:
        sys.exit(f"bench: {' '.join(map(str, command))}: status {status}")
    return {"wall_s": perf_counter() - begun, "cpu_s": usage.ru_utime + usage.ru_stime, "rss_mib": peak / 1024}


def peak_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)


def tables(results):
    columns = [Column("MB", 8), Column("launches", 12), Column("MB/s per core", 15), Column("MB/s", 8), Column("peak MiB", 10)]
    rows = [["rocshim summary", f"{row['mb']:.0f}", f"{row['events']:,}", f"{row['mb_per_cpu_second']:.0f}", f"{row['mb_per_second']:.0f}", f"{row['rss_mib']:.1f}"] for row in results["rows"]]
    columns += [Column(f"{number} core{'s' if number > 1 else ''}", 10) for number in results["shortest"]["on_cores"]]
    rows = [row + [f"{rate:.0f}" for rate in measured["on_cores"].values()] for row, measured in zip(rows, results["rows"])]
    yield Table(f"reading: traces that the shim wrote, {KERNELS} kernels with 6 arguments, from the page cache; the best of {len(results['rows'][0]['runs'])}; MB/s on all CPUs, and on as many cores", columns, rows)
