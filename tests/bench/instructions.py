"""Section instructions: how many of them a hook adds to a call, counted by callgrind: the same on every machine, busy or not.

Only the calling thread counts, and only inside the loop of calls; what the bare loop takes is subtracted.
"""
import pathlib, re, shutil, subprocess, sys
from running import environment, tell, verify
from table import Column, Table

# The bars of --check, instructions added to a call over the bare loop: form, shim off, shim
# recording. A few per cent above what was measured, for other compilers. Lower a bar when the hot
# path gets shorter.
BARS = {
    "module": (6, 170),
    "args6": (6, 340),
    "args16": (6, 425),
    "stub": (6, 160),
    "gemm": (12, 815),
    "timed": (6, 355),
    "report": (0, 735),
}
# The forms that need GPU times: with them `on` also gives each launch its number, or stores
# reports. Under callgrind the clock is read by a system call, which takes so long that a report
# reads it four times: it has fewer instructions alone.
GPU_TIMES = {"timed", "report"}
GPU_TIME_ON = {"ROCSHIM_GPU_TIME": "on", "DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING": "0"}
BURSTS, CALLS, WARM_CALLS, FIRST_LAPS, PAUSE_US = 8, 400, 100, 2, 1000


def measure(bench):
    """Form → variant → instructions added to a call."""
    if not shutil.which("valgrind"):
        sys.exit("bench: instructions are counted by valgrind, which is not installed: apt-get install valgrind")
    variants, counted = {name: variant for name, variant in bench.variants.items() if not variant.peer}, {}
    for form in BARS:
        taken = {}
        for name, variant in variants.items():
            tell(f"instructions: {form}, {name}")
            taken[name] = per_call(bench, form, variant)
        counted[form] = {name: count - taken["bare"] for name, count in taken.items() if name != "bare"}
    tell("")
    return counted


def per_call(bench, form, variant):
    dumps, run = bench.work / "callgrind", f"{form}_run"
    shutil.rmtree(dumps, ignore_errors=True)
    dumps.mkdir()
    # One dump on each return of the function that makes a burst's calls.
    callgrind = ["valgrind", "--tool=callgrind", f"--toggle-collect={run}", f"--dump-after={run}", "--separate-threads=yes", f"--callgrind-out-file={dumps}/out"]
    command = [*callgrind, bench.loop, form, "time", BURSTS, CALLS, 1, PAUSE_US]
    env = environment(variant, bench.work, **(GPU_TIME_ON if form in GPU_TIMES else {}))
    done = subprocess.run([str(word) for word in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: valgrind, {form}, {variant.what}: exit {done.returncode}: {done.stderr[-500:]}")
    verify(variant, bench.work, float(re.search(r"^events (\d+)", done.stdout, re.M)[1]))
    by_number = {int(path.name.split(".")[1].split("-")[0]): total(path) for path in dumps.glob("out.*-01")}
    bursts = [by_number[number] for number in sorted(by_number)][FIRST_LAPS:]
    if len(bursts) != 2 * BURSTS:
        sys.exit(f"bench: valgrind, {form}, {variant.what}: {len(bursts)} bursts were counted, {2 * BURSTS} made")
    return sum(bursts) / (BURSTS * (WARM_CALLS + CALLS))


def total(path: pathlib.Path):
    return int(re.search(r"^totals: (\d+)", path.read_text(), re.M)[1])


def tables(counted):
    names = list(next(iter(counted.values())))
    rows = [[form, *(f"{row[name]:.1f}" for name in names), *map(str, BARS[form])] for form, row in counted.items()]
    yield Table("instructions added to a call, by callgrind", [*(Column(name) for name in names), Column("bar, off"), Column("bar, on")], rows)


def over(counted):
    """The messages of the bars that are exceeded."""
    limits = [(form, name, bar) for form, bars in BARS.items() for name, bar in zip(("off", "on"), bars)]
    return [f"{form}, {name}: {counted[form][name]:.1f} instructions, {bar} allowed" for form, name, bar in limits if counted[form][name] > bar]
