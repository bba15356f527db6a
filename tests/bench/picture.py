"""The figures of one run as a picture: `picture.py FIGURES.json PICTURE.svg`, or scripts/bench --picture.

It needs matplotlib, which Debian's own Python has (python3-matplotlib); so it is a program of its own.
"""
import json, pathlib, subprocess, sys

PYTHONS = [sys.executable, "/usr/bin/python3"]
OURS, FLOOR, OTHERS = "#c1121f", "#8d99ae", "#3a5a78"


def draw(figures, picture):
    """Lets the first Python that has matplotlib draw."""
    for python in dict.fromkeys(PYTHONS):
        if subprocess.run([python, "-c", "import matplotlib"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return subprocess.run([python, __file__, figures, picture], check=True)
    sys.exit("bench: --picture needs matplotlib, which no Python here has: apt-get install python3-matplotlib")


def main(figures, picture):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"font.size": 8, "svg.hashsalt": "rocshim", "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"})
    from matplotlib import pyplot

    results = json.loads(pathlib.Path(figures).read_text())
    sections = results["sections"]
    panels = [panel for panel, section in PANELS if section in sections]
    rows = (len(panels) + 1) // 2
    figure, axes = pyplot.subplots(rows, 2, figsize=(10, 2.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels):]:
        axis.axis("off")
    for panel, axis in zip(panels, axes.flat):
        panel(axis, sections)
        axis.title.set_fontweight("bold")
    figure.text(0.5, 0.002, f"{results['machine']['cpu']}, {results['machine']['cpus']} CPUs; {results['command']}", ha="center", fontsize=6, color="#555")
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None})


def workload(sections, name):
    return next((w["rows"] for w in sections["calls"]["workloads"] if w["name"] == name), [])


def colour(variant):
    return OURS if variant in ("on", "off") else FLOOR if variant in ("floor", "pass") else OTHERS


def bars(axis, names, spreads, colours):
    """Horizontal bars with the middle half of the rounds; the value beside each."""
    places = range(len(names))
    for place, spread, shade in zip(places, spreads, colours):
        axis.barh(place, spread["median"], color=shade, xerr=[[max(0, spread["median"] - spread["q1"])], [max(0, spread["q3"] - spread["median"])]], ecolor="#333")
        axis.text(spread["q3"] * 1.1, place, f"{spread['median']:,.0f}", va="center")
    axis.set_yticks(places, names)
    axis.invert_yaxis()


def against_peers(axis, sections):
    rows = [row for row in workload(sections, "module") if row["added"] and row["variant"] not in ("bare", "pass") and row["added"]["median"] > 0]
    bars(axis, [row["what"] for row in rows], [row["added"] for row in rows], [colour(row["variant"]) for row in rows])
    axis.set(xscale="log", title="added to a launch, ns (log)")
    axis.set_xlim(1, axis.get_xlim()[1] * 4)


def forms(axis, sections):
    names = {"module": "no arguments", "args6": "6 arguments", "args16": "16 arguments", "stub": "hipLaunchKernel", "gemm": "GEMM + launch", "module x2": "two threads", "module x8": "eight threads"}
    found = [(words, {row["variant"]: row["added"] for row in workload(sections, name)}) for name, words in names.items()]
    found = [(words, rows) for words, rows in found if rows.get("on") and rows.get("floor")]
    for shift, variant, shade, label in ((-0.2, "floor", FLOOR, "2 TSC reads and 64 bytes"), (0.2, "on", OURS, "rocshim, recording")):
        axis.barh([at + shift for at in range(len(found))], [rows[variant]["median"] for _, rows in found], height=0.38, color=shade, label=label)
    axis.set_yticks(range(len(found)), [words for words, _ in found])
    axis.invert_yaxis()
    axis.legend(frameon=False)
    axis.set(title="added to a call, ns")


def tail(axis, sections):
    ticks = ["p50", "p99", "p99.9", "max"]
    rows = sorted(workload(sections, "tail"), key=lambda row: row["p99.9"]["median"])
    for number, row in enumerate(rows):
        figures = [row[tick]["median"] for tick in ticks]
        axis.plot(ticks, figures, marker="o", markersize=3, color=colour(row["variant"]), alpha=1 if row["variant"] == "on" else 0.6)
        # Beside the last point, one below the other in the order of the lines' ends.
        at = 0.95 - 0.09 * (len(rows) - 1 - number)
        axis.annotate(row["what"], (3, figures[3]), xytext=(0.7, at), textcoords="axes fraction", va="center", fontsize=6,
                      arrowprops={"arrowstyle": "-", "relpos": (0, 0.5), "linewidth": 0.4, "color": colour(row["variant"])})
    axis.set(yscale="log", title="a call timed by itself, ns (log)", xlim=(-0.2, 5))


def instructions(axis, sections):
    counted = sections["instructions"]
    for shift, variant, shade in ((-0.25, "floor", FLOOR), (0, "off", "#e5989b"), (0.25, "on", OURS)):
        axis.bar([at + shift for at in range(len(counted))], [row[variant] for row in counted.values()], width=0.24, color=shade, label={"off": "rocshim, off", "on": "rocshim, recording"}.get(variant, "floor"))
    axis.set_xticks(range(len(counted)), counted)
    axis.legend(frameon=False)
    axis.set(title="instructions added to a call")


def sustained(axis, sections):
    for load in sections["sustained"]["loads"]:
        rows = load["rows"]
        whole, lossy = [row for row in rows if not row["lost"]], [row for row in rows if row["lost"]]
        line, = axis.plot([row["rate"] / 1e6 for row in whole], [row["cores"] for row in whole], marker="o", label=load["what"])
        axis.plot([row["rate"] / 1e6 for row in lossy], [row["cores"] for row in lossy], "x", color=line.get_color())
    axis.set(title="collector's cores at a sustained rate (×: with loss)", xlabel="million launches a second", ylim=(0, None))
    axis.legend(frameon=False)


def growth(axis, sections):
    for name, points in sections["growth"].items():
        axis.plot([point["at"] for point in points], [point["added"]["median"] for point in points], marker="o", markersize=3, label=f"{name}: added to a call")
        axis.plot([point["at"] for point in points], [point["collector_ns_per_event"]["median"] for point in points], marker="s", markersize=3, linestyle=":", color=axis.lines[-1].get_color(), label=f"{name}: collector")
    axis.set(xscale="log", yscale="log", title="growth: ns per call with 6 arguments (log, log)", xlabel="threads, distinct kernels, calls")
    axis.legend(frameon=False, fontsize=6, ncols=2)


def reading(axis, sections):
    rows = sections["reading"]["rows"]
    axis.plot([row["mb"] for row in rows], [row["rss_mib"] for row in rows], marker="o", color=OURS)
    for row in rows:
        axis.annotate(f"{row['mb_per_cpu_second']:.0f} MB/s", (row["mb"], row["rss_mib"]), xytext=(0, 6), textcoords="offset points", ha="center")
    axis.set(title="summary: peak MiB, MB/s per core", xlabel="MB", ylim=(0, max(row["rss_mib"] for row in rows) * 1.3))


PANELS = [(against_peers, "calls"), (forms, "calls"), (tail, "calls"), (instructions, "instructions"), (sustained, "sustained"), (growth, "growth"), (reading, "reading")]

if __name__ == "__main__":
    main(*sys.argv[1:])
