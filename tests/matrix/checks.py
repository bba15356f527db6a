"""Checks every certain statement of every page against the witnesses. It does not use rocshim's rules."""
import collections
import json
import re

import gguf
import witness

CERTAIN = ("confirmed", "confirmed_absent", "contradicted")
# The device may begin a kernel some time after the call that asked for it.
EARLY, LATE = 100_000, 50_000_000


class Checks:
    """The number of statements checked, the wrong ones, and those that no witness can check."""

    def __init__(self):
        self.number, self.wrong, self.unchecked = collections.Counter(), [], collections.Counter()

    def check(self, what, is_right, printed):
        self.number[what] += 1
        if not is_right:
            self.wrong.append("%s: %s" % (what, printed))


class Run:
    """A traced run: its traces, and what the witnesses saw. `calls` is None where they were not counted.
    `ends`: how it ended traced, and not."""

    def __init__(self, traces, log, calls, ends, gfx, root):
        self.traces, self.log, self.calls, self.ends, self.gfx, self.root = traces, log, calls, ends, gfx, root


def certain(page, path=""):
    """Each statement of a page that leaves no doubt: where it is, its class, the row."""
    if isinstance(page, dict):
        said = page.get("evidence", page.get("verdict"))
        if said in CERTAIN:
            yield path, said, page
        for key, value in page.items():
            yield from certain(value, "%s.%s" % (path, key) if path else key)
    elif isinstance(page, list):
        for value in page:
            yield from certain(value, path + "[]")


def check_page(checks, run, name, page):
    """Every certain statement of a page in JSON: by the place where it is."""
    for path, said, row in certain(page):
        place = "%s %s" % (name, path)
        if place in ("summary libraries[]", "phases libraries[]"):
            check_library(checks, run, place, row["library"], said, row["why"])
        elif place == "summary code_objects[]":
            check_object(checks, run, row, said)
        elif place == "summary fallback" and said == "confirmed_absent":
            launched = any(kernel.startswith("Cijk_") for kernel in run.log.names)
            is_right = not launched or row["products"] > 0
            checks.check("no fallback kernel", is_right, row["why"])
        elif place == "summary graphs[]":
            checks.check("graphs", all(number > 0 for number in [row["launches"]]), json.dumps(row)[:200])
        elif re.match(r"phases (phases|kinds)\[\].libraries\[\]", place):
            pass  # By time: check_phases.
        elif name == "proxy":
            pass  # check_proxy
        elif place.startswith("why decisions[]"):
            check_decision(checks, run, row, place, said)
        else:
            checks.unchecked["%s: %s" % (place, said)] += 1


def check_library(checks, run, place, library, said, why):
    launches = run.log.of_library(library)
    calls = run.calls.of_library(library) if run.calls else None
    printed = "%s %s (%s); counted %s calls, %d kernels" % (library, said, why, calls, launches)
    if said == "confirmed" and calls is not None:
        checks.check(place + " called", calls > 0 or launches > 0, printed)
    elif said == "confirmed_absent":
        checks.check(place + " absent", not calls and launches == 0, printed)
    else:
        checks.unchecked["%s: %s" % (place, said)] += 1


def check_object(checks, run, row, said):
    """A fat binary in a file: by the kernels that only it has."""
    kernels = None
    if row["path"] and row["source"] == "fat_binary" and row["path"].startswith("/usr/"):
        every = witness.kernels_of(run.root + row["path"], run.gfx)
        kernels = every[row["ordinal"]] if every and row["ordinal"] < len(every) else None
    if kernels is None:
        checks.unchecked["summary code_objects[] from memory or compressed: %s" % said] += 1
        return
    (has, alone), printed = kernels, "%s bundle %d: %s" % (row["path"], row["ordinal"], said)
    if said == "confirmed":
        checks.check("code object used", not has.isdisjoint(run.log.names), printed)
    else:
        checks.check("code object not used", alone.isdisjoint(run.log.names), printed)


def check_decision(checks, run, row, place, said):
    if "kernels" not in row:
        checks.unchecked["%s: %s" % (place, said)] += 1
        return
    for kernel, _, launches in row["kernels"]:
        checks.check("why: kernels", launches <= run.log.names[kernel], "%s %d" % (kernel, launches))


def check_launches(checks, run, summary):
    ours = {row["name"]: row["launches"] - row["failed"] for row in summary["kernels"]}
    ours = collections.Counter({name: number for name, number in ours.items() if number})
    for name in ours.keys() | run.log.names.keys():
        device = run.log.names[name]
        checks.check("launches of a kernel", ours[name] == device, "%s: %d, device %d" % (name, ours[name], device))


def check_shapes(checks, run, records):
    """Launches by name, grid and block, from the records themselves, where no graph launches any."""
    kernels, ours = {}, collections.Counter()
    for record in records:
        if record["type"] == "graph_launch":
            return
        if record["type"] == "kernel":
            kernels[record["id"]] = record["name"]
        elif record["type"] == "launch" and not record.get("status"):
            block, blocks = ((*record.get(key, ()), 1, 1, 1)[:3] for key in ("block", "grid"))
            grid = tuple(number * threads for number, threads in zip(blocks, block))
            if record.get("items"):  # HIP makes a block no larger than the grid.
                grid = (*record["items"], 1, 1)[:3]
                block = tuple(map(min, block, grid))
            ours[kernels[record["kernel"]], grid, block] += 1
    device = collections.Counter()
    for _, name, grid, block in run.log.kernels:
        device[name, tuple(grid), tuple(map(int, block.split(",")))] += 1
    for key in ours.keys() | device.keys():
        printed = "%s: %d, device %d" % (key, ours[key], device[key])
        checks.check("launches of a kernel and shape", ours[key] == device[key], printed)


def check_functions(checks, run, summary):
    if not run.calls:
        return
    for row in summary["functions"]:
        number = run.calls.by_name[row["function"]]
        if number and row["calls"]:
            said = "%s: %d, counted %d" % (row["function"], row["calls"], number)
            checks.check("calls of a function", row["calls"] >= number, said)
        elif number and row["state"] == "armed":
            checks.check("function never called", False, "%s: counted %d" % (row["function"], number))


def check_phases(checks, run, phases, shift, counts_tokens):
    """By time: the trace's clock begins at Unix time, the log's is the machine's (`shift` lies between)."""
    epoch = int(phases["epoch"])
    known = [phase for phase in phases["phases"] if phase["tokens"] is not None]
    if counts_tokens and len(known) == len(phases["phases"]):
        evaluated, device = sum(phase["tokens"] for phase in known), tokens(run.log.kernels)
        checks.check("tokens of all phases", evaluated == device, "%d, device %s" % (evaluated, device))
    for phase in phases["phases"]:
        begin, end = (epoch + phase[key] - shift for key in ("begin_ns", "end_ns"))
        for row in phase["libraries"]:
            library = row["library"]
            if row["evidence"] == "confirmed_absent":
                inner = run.log.of_library(library, run.log.within(begin + EARLY, end - EARLY))
                printed = "%s in %s, %d kernels" % (library, phase["kind"], inner)
                checks.check("library absent of a phase", inner == 0, printed)
            if row["evidence"] == "confirmed" and row["launches"]:
                window = run.log.of_library(library, run.log.within(begin - EARLY, end + LATE))
                checks.check("library called in a phase", window > 0, "%s in %s" % (library, phase["kind"]))


def tokens(kernels):
    """Tokens that were evaluated: each writes its value to the cache in each layer (rope writes the key)."""
    written = sum(size[0] * size[1] * size[2] for _, name, size, _ in kernels if "k_set_rows" in name)
    return written / (gguf.WIDTH * gguf.LAYERS)


def check_proxy(checks, run, proxy, answers):
    for row, answer in zip(proxy["requests"], sorted(answers, key=lambda answer: int(answer["sent"]))):
        window = run.log.within(*answer["window"])
        timings = answer["response"]["timings"]
        name = "%s: %s" % (answer["label"], json.dumps(row["prompt"]))
        as_said = tokens(window) == timings["prompt_n"] + timings["predicted_n"] - 1
        if row["prompt"]["verdict"] == "confirmed":
            checks.check("prompt confirmed", as_said, name)
        if row["generated"]["verdict"] == "confirmed":
            checks.check("generated confirmed", as_said, name)
        if "contradicted" in (row["prompt"]["verdict"], row["generated"]["verdict"]):
            checks.check("contradicted", not as_said, name)
        many = any("mul_mat_q" in kernel for _, kernel, *_ in window)
        blas = any(kernel.startswith("Cijk_") for _, kernel, *_ in window)
        path = row["path"]
        if path["verdict"] == "confirmed":
            checks.check("path confirmed", many == (path["said"] == "mmq") and not blas, json.dumps(path))
        if path["verdict"] == "contradicted":
            checks.check("path contradicted", many != (path["said"] == "mmq"), json.dumps(path))


def check_text(checks, run, name, text):
    """What the text says of libraries, held against the witnesses as JSON is."""
    named = lambda word: re.fullmatch(r"lib\w+(\.so)?", word)
    for line in text.splitlines():
        row = re.match(r" +(lib\w+) +[\d\u202f\u00a0 -]+ +(confirmed absent|confirmed) +(.*)", line)
        if row:
            library, said = row.group(1) + ".so", row.group(2).replace(" ", "_")
            check_library(checks, run, name + " text", library, said, row.group(3))
        several = re.match(r" +(?:no call, )?confirmed absent,? \(?(not loaded[^:]*|loaded[^:]*)\)?: (.*)", line)
        for word in re.split(r"[ ,]+", several.group(2)) if several else []:
            if named(word):
                library = word.removesuffix(".so") + ".so"
                check_library(checks, run, name + " text", library, "confirmed_absent", several.group(1))


def check_comparison(checks, runs, compared):
    """`runs`: by the name that each run has on the page."""
    for kernel in compared["kernels"]:
        for side, row in kernel["versus"].items():
            base = next(name for name in runs if name not in kernel["versus"])
            was, now = (runs[one].log.names[kernel["name"]] for one in (base, side))
            printed = "%s %s: %d and %d" % (kernel["name"], row["seen"], was, now)
            if row["evidence"] in CERTAIN:
                right = {"both": was and now, "gone": was and not now, "new": now and not was}
                is_right = right.get(row["seen"], not was and not now)
                checks.check("compare: kernel", bool(is_right), printed)


def check_verified(checks, run, verified, summary):
    """All events are in the traces: then the launches are the device's."""
    launched = sum(row["launches"] - row["failed"] for row in summary["kernels"])
    for row in verified:
        if row["verdict"] == "right" and len(verified) == 1:
            number = sum(run.log.names.values())
            checks.check("verify: right", launched == number, "%d, device %d" % (launched, number))
