"""The command scripts/bench: what is asked for, in which order it is measured, and where it is printed.

The files of this folder, in the order in which one reads them: command; the sections, which each have measure() and
tables() (calls, instructions, full_ring, sustained, encoder, growth, memory, loading, forks, reading, exporting, endings, real, gpu_time); bars, which the figures are
held against; overview, table and picture, how they are shown. Below them: build, variants, workloads, peers, running, steady,
figures, machine. In C: loop (calls in bursts), steady (calls at a rate), hook (what the shim is measured against).
"""
import argparse, contextlib, json, os, pathlib, sys, tempfile
from dataclasses import dataclass

import bars, build, calls, encoder, endings, exporting, first, forks, full_ring, gpu_time, growth, instructions, loading, machine, memory, overview, peers, picture, reading, real, sustained, table, variants
from running import Void
from workloads import WORKLOADS

# What there is to measure, in this order.
SECTIONS = {"calls": calls, "instructions": instructions, "full-ring": full_ring, "sustained": sustained, "encoder": encoder, "memory": memory, "loading": loading, "first": first, "forks": forks, "growth": growth, "reading": reading, "exporting": exporting, "endings": endings, "real": real, "gpu-time": gpu_time}
# Those that run in the real ROCm user space.
REAL = ["real", "gpu-time"]


@dataclass
class Bench:
    """What every section is given."""
    options: argparse.Namespace
    work: pathlib.Path
    variants: dict
    command: pathlib.Path | None  # rocshim, for the sections that read

    @property
    def loop(self):
        return self.work / "loop"

    @property
    def steady(self):
        return self.work / "steady"

    def repeats(self, times):
        """How often a section repeats what it would repeat `times`."""
        return max(1, times // 10) if self.options.short else times


def main(about):
    options = parse(about)
    if options.cpus:
        os.sched_setaffinity(0, options.cpus)
    shim = options.shim or build.shim()
    with tempfile.TemporaryDirectory(prefix="rocshim-bench-", dir=options.work) as work:
        work = pathlib.Path(work)
        build.harness(work)
        bench = Bench(options, work, variants.ours(work, shim, options.against), build.command() if {"reading", "exporting", "endings"} & set(options.sections) else None)
        results = {"machine": machine.machine(bench.loop), "command": " ".join(["scripts/bench", *sys.argv[1:]]), "sections": {}}
        print(machine.words(results["machine"]), flush=True)
        with peers.variants(work) if options.peers else contextlib.nullcontext({}) as others:
            bench.variants |= others
            for name in options.sections:
                measure(bench, name, results)
                if options.json:  # kept, should a later section fail
                    write(options.json, results)
    judged = results["sections"].get("calls", {}).get("bars", []) + bars.of_others(results["sections"])
    results["bars"] = judged
    for each in overview.tables(results["sections"]):
        table.show(each)
    if judged:
        table.show(table.of_bars(judged))
    if options.json:
        write(options.json, results)
    if options.picture:
        with tempfile.NamedTemporaryFile(suffix=".json") as figures:
            write(pathlib.Path(figures.name), results)
            picture.draw(figures.name, options.picture)
    if options.check:
        check(results["sections"])


def write(path, results):
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def measure(bench, name, results):
    try:
        measured = SECTIONS[name].measure(bench)
    except Void as void:
        sys.exit(f"bench: {name}: {void}")
    results["sections"][name] = measured
    for each in SECTIONS[name].tables(measured):
        table.show(each)
    sys.stdout.flush()


def check(sections):
    over = bars.over(sections["calls"]["bars"]) if "calls" in sections else []
    over += instructions.over(sections["instructions"]) if "instructions" in sections else []
    over += encoder.over(sections["encoder"]) if "encoder" in sections else []
    if over:
        sys.exit("bench: over the bar: " + "; ".join(over))


def parse(about):
    parser = argparse.ArgumentParser(prog="scripts/bench", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    cpus = lambda text: {int(cpu) for cpu in text.split(",")}
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"measure these only: {', '.join(SECTIONS)} (all but real and gpu-time; with --check calls and instructions)")
    parser.add_argument("--rounds", type=int, default=10, help="how often each variant is run in section calls (%(default)s)")
    parser.add_argument("--bursts", type=int, default=41, help="bursts of a run, of which the median counts (%(default)s)")
    parser.add_argument("--only", action="append", choices=[w.name for w in WORKLOADS], help="of section calls this workload; more than once for several")
    parser.add_argument("--peers", action="store_true", help="in section calls beside LTTng-UST, uftrace, ltrace and fprintf; what is missing is installed from the distribution, as root")
    parser.add_argument("--real", action="store_true", help="sections real and gpu-time too: llama-bench and launches in the real ROCm user space, which scripts/real-rocm fetches once")
    parser.add_argument("--short", action="store_true", help="the other sections with fewer repetitions and points")
    parser.add_argument("--cpus", type=cpus, metavar="0,1", help="run on these only")
    parser.add_argument("--shim", type=pathlib.Path, metavar="PATH", help="measure this librocshim.so instead of building one")
    parser.add_argument("--against", type=pathlib.Path, metavar="PATH", help="measure this other librocshim.so too, in the same run")
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR", help="where to put programs and traces (a folder in the system's temporary one)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures, round by round")
    parser.add_argument("--picture", type=pathlib.Path, metavar="FILE.svg", help="draw the figures; needs python3-matplotlib")
    parser.add_argument("--check", action="store_true", help="instructions and the calls that have a bar; exit 1 when one is exceeded (a time: in three quarters of the rounds)")
    parser.add_argument("--instructions", action="store_true", help="section instructions only")
    options = parser.parse_args()
    if options.check and not options.only:
        options.only = bars.CHECKED
    for section in options.sections:
        if section not in SECTIONS:
            parser.error(f"there is no section '{section}'; there are {', '.join(SECTIONS)}")
    if options.real and options.sections:
        options.sections += [name for name in REAL if name not in options.sections]
    if options.instructions:
        options.sections = ["instructions"]
    elif not options.sections:
        options.sections = ["instructions", "calls"] if options.check else [name for name in SECTIONS if name not in REAL or options.real]
    return options
