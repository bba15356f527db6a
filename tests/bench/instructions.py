"""Instructions that a hook adds to a call, counted by callgrind: the same on every machine, busy or not.

Only the calling thread counts, and only inside the loop of calls; what the bare loop takes is subtracted.
"""
import pathlib, re, shutil, subprocess, sys

# What --check allows, instructions added to a call over the bare loop's: form, shim off, shim recording.
# A few per cent above what was measured, for another compiler's sake. Lower a bar when the hot path gets shorter.
BARS = {
    "module": (61, 238),
    "args6": (61, 464),
    "args16": (61, 645),
    "stub": (58, 239),
    "gemm": (185, 902),
}
BURSTS, CALLS, WARM_CALLS, FIRST_LAPS, PAUSE_US = 8, 400, 100, 2, 1000
RING_KIB = 16384  # the collector is slow under valgrind; a larger ring changes no instruction of the caller's


def count(loop, variants, work, verify):
    """Form → variant → instructions added to a call. Leaves out what is no variant here."""
    if not shutil.which("valgrind"):
        sys.exit("bench: instructions are counted by valgrind, which is not installed: apt-get install valgrind")
    counted = {}
    for form in BARS:
        bare = per_call(loop, form, variants["bare"], work, verify)
        counted[form] = {name: per_call(loop, form, variants[name], work, verify) - bare for name in variants if name != "bare"}
    return counted


def per_call(loop, form, variant, work, verify):
    dumps, out = work / "callgrind", work / "traces"
    shutil.rmtree(dumps, ignore_errors=True)
    dumps.mkdir()
    run = f"{form}_run"  # the function that makes a burst's calls: one dump each time it returns
    callgrind = ["valgrind", "--tool=callgrind", f"--toggle-collect={run}", f"--dump-after={run}", "--separate-threads=yes", f"--callgrind-out-file={dumps}/out"]
    env = {"LD_PRELOAD": str(variant.preload.absolute()) if variant.preload else "", "ROCSHIM_OUT": str(out), "ROCSHIM_RING_KIB": str(RING_KIB)} | variant.env
    command = [*callgrind, loop, form, "time", BURSTS, CALLS, 1, PAUSE_US]
    done = subprocess.run([str(word) for word in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: valgrind, {form}, {variant.name}: exit {done.returncode}: {done.stderr[-500:]}")
    if variant.records:
        verify(out, float(re.search(r"^events (\d+)", done.stdout, re.M)[1]))
    by_number = {int(path.name.split(".")[1].split("-")[0]): total(path) for path in dumps.glob("out.*-01")}
    bursts = [by_number[number] for number in sorted(by_number)][FIRST_LAPS:]
    if len(bursts) != 2 * BURSTS:
        sys.exit(f"bench: valgrind, {form}, {variant.name}: {len(bursts)} bursts were counted, {2 * BURSTS} made")
    return sum(bursts) / (BURSTS * (WARM_CALLS + CALLS))


def total(path: pathlib.Path):
    return int(re.search(r"^totals: (\d+)", path.read_text(), re.M)[1])


def show(counted):
    columns = list(dict.fromkeys(name for row in counted.values() for name in row))
    print(f"\ninstructions added to a call, by callgrind\n  {'':12}" + "".join(f"{name:>12}" for name in columns) + f"{'bar, off':>12}{'bar, on':>12}")
    for form, row in counted.items():
        print(f"  {form:12}" + "".join(f"{row[name]:12.1f}" for name in columns) + "".join(f"{bar:12}" for bar in BARS[form]))


def over(counted):
    """The sentences of those that are over their bars."""
    limits = [(form, name, bar) for form, bars in BARS.items() for name, bar in zip(("off", "on"), bars)]
    return [f"{form}, {name}: {counted[form][name]:.1f} instructions, {bar} allowed" for form, name, bar in limits if counted[form][name] > bar]
