"""Section endings: how much of what a program did is recorded, however it ends; with --peers, by each tracer of the same program.

The program counts its calls in a file, whatever happens to it. What a tracer has afterwards is read with its own commands.
"""
import atexit, contextlib, json, os, pathlib, random, shutil, struct, subprocess
from contextlib import nullcontext
from dataclasses import dataclass
import build
from running import environment, tell
from table import Column, Table

CALLS = 100_000
MOMENTS = 20  # kills at random moments
SMALL_DISK_MIB = 4
LITTLE_MEMORY_MIB = 128
# The cgroup folder and the file of its memory limit, in both versions of cgroups.
MEMORY_GROUPS = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]


@dataclass
class Ending:
    """A kind of run and end of the program."""
    how: str
    what: str
    in_flight: int = 0  # calls that may be in flight then
    calls: int = CALLS
    times: int = 1
    small_disk: bool = False  # the trace goes to a disk of SMALL_DISK_MIB
    little_memory: bool = False  # in a cgroup with LITTLE_MEMORY_MIB


ENDINGS = [
    Ending("exit", "returns from main"),
    Ending("_exit", "_exit"),
    Ending("quick_exit", "quick_exit"),
    Ending("abort", "abort"),
    Ending("uncaught", "an uncaught exception"),
    Ending("segv", "SIGSEGV"),
    Ending("kill", "SIGKILL"),
    Ending("memory", "killed for want of memory", little_memory=True),
    Ending("busy", "SIGKILL while four threads launch", in_flight=4),
    Ending("moment", f"the same, at {MOMENTS} moments by chance", in_flight=4, times=MOMENTS),
    Ending("threads", "four threads, which end"),
    Ending("short", "a thousand threads, four at a time"),
    Ending("late", "half of them in a destructor"),
    Ending("fork", "fork: the child calls as often"),
    Ending("spawn", "posix_spawn: so does a child"),
    Ending("exec", "exec in the middle"),
    Ending("reload", "a plug-in closed ten times"),
    Ending("exit", f"a trace's disk of {SMALL_DISK_MIB} MiB", small_disk=True),
]
TRACERS = ["on", "lttng", "uftrace"]


def measure(bench):
    program = build.program(bench.work, "endings")
    build.plugin(bench.work, "endings")
    names = [name for name in TRACERS if name in bench.variants]
    rows = []
    for ending in ENDINGS:
        if ending.small_disk and os.geteuid():
            print(f"endings: {ending.what}: takes root, left out")
            continue
        if ending.little_memory and not memory_group():
            print(f"endings: {ending.what}: takes root and the memory controller of cgroups, left out")
            continue
        row = {"ending": ending.how, "what": ending.what, "tracers": {}}
        for name in names:
            tell(f"endings: {ending.what}, {name}")
            row["tracers"][name] = together(one(bench, program, ending, bench.variants[name], time) for time in range(ending.times))
        rows.append(row)
    tell("")
    return {"rows": rows, "names": {name: bench.variants[name].what for name in names}}


def together(runs):
    """The figures of several runs added up."""
    runs = list(runs)
    return {key: sum(run[key] for run in runs) for key in runs[0]}


def one(bench, program, ending, variant, time):
    """What was called and what was recorded, reported as lost, and missing without a report; `more`: recorded though no call was
    counted, beyond those in flight; `stuck`: the tracer's session could not be ended."""
    counts, traces = bench.work / "counts", bench.work / "traces"
    shutil.rmtree(traces, ignore_errors=True)
    # The same moments for each tracer, in microseconds.
    calls = random.Random(time).randrange(20_000, 300_000) if ending.how == "moment" else ending.calls
    peer = variant.peer
    folder = peer.traces(bench.work) if peer else traces
    with small_disk(folder) if ending.small_disk else nullcontext():
        with peer.around(bench.work) if peer else nullcontext(([], {})) as (before, env):
            group = memory_group() if ending.little_memory else []
            subprocess.run([*group, *map(str, before), program, ending.how, str(calls), counts], env=environment(variant, bench.work, **env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        called = sum(struct.unpack("<512Q", counts.read_bytes()))
        recorded, lost = (peer.recorded(bench.work), peer.lost(bench.work)) if peer else ours(bench, traces)
    missing = max(0, called - recorded - lost)
    stuck = int(bool(peer and peer.is_stuck))
    return {"called": called, "recorded": recorded, "lost": lost, "missing": missing, "more": max(0, recorded - called - ending.in_flight), "stuck": stuck}


def memory_group():
    """What a command begins with to run in a group of processes that has little memory; nothing where there can be none."""
    for folder, limit in MEMORY_GROUPS:
        group = pathlib.Path(folder) / f"rocshim-bench-{os.getpid()}"
        try:
            group.mkdir(exist_ok=True)
            (group / limit).write_text(str(LITTLE_MEMORY_MIB << 20))
        except OSError:
            continue
        atexit.register(lambda: group.exists() and group.rmdir())
        return ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$0" "$@"']
    return []


def ours(bench, traces):
    """Launches recorded, and events counted as lost."""
    for word in ("recover", "verify"):
        subprocess.run([bench.command, word, traces], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=word == "verify")
    # Including the rings' contents, if the disk had no room for them.
    totals = json.loads(subprocess.run([bench.command, "summary", "--json", traces], stdout=subprocess.PIPE, check=True).stdout)["totals"]
    return totals["launches"], totals["lost"]


@contextlib.contextmanager
def small_disk(folder):
    """`folder` is on a small file system."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_MIB}m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def tables(results):
    cells = {name: [cell(row["tracers"][name]) for row in results["rows"]] for name in results["names"]}
    columns = [Column(what.split(",")[0], 2 + max(map(len, cells[name]))) for name, what in results["names"].items()]
    rows = [[row["what"], *cell] for row, cell in zip(results["rows"], zip(*cells.values()))]
    yield Table("endings: launches recorded, of those that the program has counted; those reported as lost, or missing without a report; and sessions that could not be ended in 10 s", columns, rows)


def cell(figures):
    if not any(figures[what] for what in ("missing", "lost", "more", "stuck")):
        return f"all {figures['called']:,}"
    rest = [f"{figures[what]:,} {words}" for what, words in (("lost", "reported lost"), ("missing", "missing"), ("stuck", "session not ended")) if figures[what]]
    return f"{figures['recorded']:,} of {figures['called']:,}" + "".join(f", {word}" for word in rest)
