"""Section encoder: how many instructions the collector takes to turn a launch into its line, counted by callgrind.

The bench is encoder.rs; `cargo bench -p rocshim-drain` runs it for its times. What it takes to begin is subtracted.
"""
import json, re, subprocess
import build
from running import tell
from table import Column, Table

# What is encoded, and the bar of --check: a few per cent above what was measured.
BARS = {"same": 900, "plain": 600, "varied": 4700, "serde": None}
EVENTS = [20_000, 60_000]


def measure(bench):
    program, instructions = compiled(), {}
    for way in BARS:
        tell(f"encoder: {way}")
        few, many = (counted(program, bench.work / "encoder.callgrind", way, events) for events in EVENTS)
        instructions[way] = (many - few) / (EVENTS[1] - EVENTS[0])
    tell("")
    return instructions


def compiled():
    command = ["cargo", "bench", "--quiet", "-p", "rocshim-drain", "--bench", "encoder", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, cwd=build.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(made["executable"] for made in map(json.loads, lines) if made.get("executable"))


def counted(program, dump, way, events):
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={dump}", program, way, str(events)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return int(re.search(r"^totals: (\d+)", dump.read_text(), re.M)[1])


def tables(measured):
    rows = [[way, f"{count:.0f}", f"{measured['serde'] / count:.1f} x", str(BARS[way] or "")] for way, count in measured.items()]
    yield Table("instructions that the collector takes to write a launch with 6 arguments (plain: none)", [Column("event", 10), Column("serde ÷", 10), Column("bar", 6)], rows)


def over(measured):
    """The messages of the bars that are exceeded."""
    return [f"encoder, {way}: {measured[way]:.0f} instructions, {bar} allowed" for way, bar in BARS.items() if bar and measured[way] > bar]
