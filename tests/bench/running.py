"""Runs one program under one variant, and compares the recorded events with what the program did."""
import json, mmap, shutil, subprocess, sys
from contextlib import nullcontext
from dataclasses import dataclass


class Void(Exception):
    """An invalid run: events were lost or not recorded."""


def tell(what):
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def environment(variant, work, **more):
    # The same variables for all, and no others: a lookup takes longer the more there are.
    return {"LD_PRELOAD": str(variant.preload.absolute()) if variant.preload else "", "ROCSHIM_OUT": str(work / "traces"), "ROCSHIM_OFF": "0"} | variant.env | more


def run(variant, work, command, **more):
    """What the program printed, by each line's first word: the rest as numbers; `lines` has them all."""
    with variant.peer.around(work) if variant.peer else nullcontext(([], {})) as (before, env):
        done = subprocess.run([*map(str, before), *map(str, command)], env=environment(variant, work, **env, **more), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bench: {variant.what}: exit {done.returncode}: {' '.join(map(str, [*before, *command]))}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: [float(word) for word in words[1:]] for words in lines} | {"lines": lines}


@dataclass
class Accounts:
    """A trace's counters, all threads together."""
    produced: int
    written: int
    lost: int
    collector_ns: int
    size: int


def accounts(work, keep=False):
    """Reads the counters of the traces in `work`, and removes the traces unless they are to be
    kept."""
    out, found, size = work / "traces", [], 0
    for trace in out.glob("*.ndjson"):
        found += [json.loads(line) for kind in ("thread", "footer") for line in lines_of(trace, kind)]
        size += trace.stat().st_size
    if not keep:
        shutil.rmtree(out, ignore_errors=True)
    produced, written, lost = (sum(line.get(key, 0) for line in found if line["type"] == "thread") for key in ("produced", "written", "lost"))
    return Accounts(produced, written, lost, sum(line.get("collector_ns", 0) for line in found), size)


def lines_of(path, kind):
    """The trace's lines of one type. A thread's account comes when the thread ends, wherever that is."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        at, start = -1, b'\n{"type":"%s"' % kind.encode()
        while (at := text.find(start, at + 1)) >= 0:
            yield text[at + 1 : text.find(b"\n", at + 1)]


def verify(variant, work, events):
    """Void unless all events were recorded."""
    if variant.records:
        account = accounts(work)
        written, lost = account.written, account.lost
    elif variant.peer:
        written, lost = variant.peer.recorded(work), 0
    else:
        return
    if lost:
        raise Void(f"{lost} events were lost while they were timed")
    if written < events:
        raise Void(f"{written} of {events:.0f} events were recorded")
