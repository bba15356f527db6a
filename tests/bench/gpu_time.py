"""Section gpu-time: what requesting GPU times costs, on the real HIP 6.4 and 7.2 on the null GPU.

Each round runs launches.c three times, in an order drawn anew: without the shim, with it, and with it and GPU times.
The device's log of one run each says whether the runtime gave the device other packets: kernels, barriers, packets
with a signal to complete, and with a fence of the whole system. The trace says how exactly the reports' times are
brought to the trace's clock.
"""
import json, os, random, subprocess, sys
import build
from collections import Counter
from figures import spread
from running import lines_of, tell
from table import Column, Table, middle_half

TREES = [("HIP 6.4", "hip6", "libamdhip64.so.6"), ("HIP 7.2", "hip7", "libamdhip64.so.7")]
RUNS = ["off", "on", "gpu"]
ROUNDS = 10
DEVICE = {"NULL_GPU_POLL_US": "20"}
# The same for all runs: HIP 7.2 reports the kernels of graphs under their names only with it.
HIP = {"DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING": "0"}
# In a packet's header: bits 11 and 12 are the fence after it; 2 is that of the system.
RELEASE, SYSTEM = 11, 2


def measure(bench):
    program = build.compile_c(bench.work / "launches", "launches.c")
    results = {}
    for name, tree, library in TREES:
        subprocess.run([build.ROOT / "scripts/real-rocm", "--tree", tree, "prepare"], check=True, stdout=subprocess.DEVNULL)
        command = [program, library, build.ROOT / "tests/programs/real/vectors-gfx1100.co"]
        rounds = []
        for number in range(bench.repeats(ROUNDS)):
            figures = {}
            for run in random.sample(RUNS, len(RUNS)):
                tell(f"gpu-time: {name}, round {number + 1}, {run}")
                figures[run] = execute(bench, tree, command, run)[0]
            rounds.append(figures)
        logged = {run: execute(bench, tree, command, run, log=True)[1] for run in RUNS}
        errors = execute(bench, tree, command, "gpu")[2]
        results[name] = {"calls": {kind: ratios(rounds, kind) for kind in ("launch", "graph", "rss")}, "packets": logged, "errors": errors}
    tell("")
    return results


def ratios(rounds, kind):
    of = lambda over, under: spread([each[over][kind] / each[under][kind] for each in rounds])
    return {"off": spread([each["off"][kind] for each in rounds]), "on ÷ off": of("on", "off"), "gpu ÷ off": of("gpu", "off"), "gpu ÷ on": of("gpu", "on")}


def execute(bench, tree, command, run, log=False):
    """What it prints; what the device was given; the uncertainty of the reports' times, ns."""
    out, device = bench.work / "gpu-traces", bench.work / "device.log"
    variables = dict(HIP)
    if run != "off":
        variables |= {"LD_PRELOAD": bench.variants["on"].preload.absolute(), "ROCSHIM_OUT": out}
    if run == "gpu":
        variables["ROCSHIM_GPU_TIME"] = "on"
    words = [build.ROOT / "scripts/real-rocm", "--tree", tree, "exec", *(["--log", device] if log else []), "--", "env"]
    words += [f"{key}={value}" for key, value in variables.items()] + list(command)
    done = subprocess.run([str(word) for word in words], env=os.environ | DEVICE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: gpu-time: {' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    printed = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    reports = [json.loads(line) for trace in out.glob("*.ndjson") for line in lines_of(trace, "gpu")]
    for trace in out.glob("*.ndjson"):
        trace.unlink()
    if run == "gpu" and not reports:
        sys.exit(f"bench: gpu-time: {command[1]} reported nothing")
    packets = Counter()
    if log:
        for line in device.read_text().splitlines():
            word, *fields = line.split()
            if word in ("kernel", "barrier"):
                fields = dict(field.split("=", 1) for field in fields)
                packets[word] += 1
                packets["signal"] += fields["signal"] == "1"
                packets["system"] += int(fields["header"], 16) >> RELEASE & 3 == SYSTEM
        device.unlink()
    return printed, dict(packets), [report.get("error", 0) for report in reports]


def tables(results):
    columns = [Column("off", 12), Column("on ÷ off", 10), Column("gpu ÷ off", 11), Column("gpu ÷ on", 10), Column("", 16)]
    units = {"launch": "a launch, ns", "graph": "a graph launch of 20 kernels, ns", "rss": "peak memory, KiB"}
    rows = [[f"{units[kind]}, {name}", f"{row['off']['median']:,.0f}", f"{row['on ÷ off']['median']:.2f}", f"{row['gpu ÷ off']['median']:.2f}", f"{row['gpu ÷ on']['median']:.2f}", middle_half(row["gpu ÷ on"], 2)]
            for name, measured in results.items() for kind, row in measured["calls"].items()]
    yield Table("GPU times on the null GPU: without the shim (off), with it (on), with GPU times too (gpu)", columns, rows)
    columns = [Column("kernels", 9), Column("barriers", 10), Column("with a signal", 15), Column("system fences", 15)]
    count = lambda packets, key: f"{packets.get(key, 0):,}"
    rows = [[f"{name}, {run}", *(count(packets, key) for key in ("kernel", "barrier", "signal", "system"))] for name, measured in results.items() for run, packets in measured["packets"].items()]
    yield Table("what the runtime gave the device (AQL packets)", columns, rows)
    columns = [Column("reports", 9), Column("above 1 µs", 12), Column("largest, ns", 13)]
    rows = [[name, f"{len(errors):,}", f"{sum(error > 0 for error in errors):,}", f"{max(errors, default=0):,}"] for name, errors in ((name, measured["errors"]) for name, measured in results.items())]
    yield Table("clock: how far a report's time on the trace's clock may be off, from reading CLOCK_BOOTTIME between two stamps (ROCr's own conversion of the device's counter is beside that)", columns, rows)
