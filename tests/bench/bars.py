"""The bars for the figures, one per row."""
import sys
from figures import over_rounds

# The timed calls, per round: name, formula, unit, the bar of --check (None: reported only), our
# target. added(W, V): what V adds to a call of workload W, over bare. per_call(W, V): the whole
# call. tail(V, P): a percentile.
CALLS = [
    ("recorded ÷ floor, module launch",    lambda f: f.added("module", "on") / f.added("module", "floor"),             "×",  1.60, 1.25),
    ("recorded ÷ floor, 6 arguments",      lambda f: f.added("args6", "on") / f.added("args6", "floor"),               "×",  2.00, 2.00),
    ("recorded ÷ floor, 16 arguments",     lambda f: f.added("args16", "on") / f.added("args16", "floor"),             "×",  None, None),
    ("recorded ÷ floor, host stub",        lambda f: f.added("stub", "on") / f.added("stub", "floor"),                 "×",  None, 1.25),
    ("recorded ÷ floor, GEMM + launch",    lambda f: f.added("gemm", "on") / f.added("gemm", "floor"),                 "×",  None, 2.00),
    ("2 threads ÷ 1, recorded, per call",  lambda f: f.per_call("module x2", "on") / f.per_call("module", "on"),       "×",  1.40, 1.15),
    ("2 threads ÷ 1, floor, per call",     lambda f: f.per_call("module x2", "floor") / f.per_call("module", "floor"), "×",  None, None),
    ("LTTng-UST ÷ recorded",               lambda f: f.added("module", "lttng") / f.added("module", "on"),             "×",  None, ">8"),
    ("uftrace ÷ recorded",                 lambda f: f.added("module", "uftrace") / f.added("module", "on"),           "×",  None, ">3"),
    ("recorded, added to a launch",        lambda f: f.added("module", "on"),                                          "ns", None, 25),
    ("off − forwarding only",              lambda f: f.added("module", "off") - f.added("module", "pass"),             "ns", None, 1),
    ("off, added to a launch",             lambda f: f.added("module", "off"),                                         "ns", None, 3),
    ("99.9 % of recorded calls take",      lambda f: f.tail("on", "p99.9"),                                            "ns", None, 1000),
]
# The other sections: name, formula, unit, our target. KeyError: not measured.
OTHERS = [
    ("events a second without loss, 1 thread",  lambda s: s["sustained"]["best"][1]["rate"] / 1e6,                     "M",    ">2"),
    ("events a second without loss, 8 threads", lambda s: s["sustained"]["best"][8]["rate"] / 1e6,                     "M",    ">5"),
    ("events a second and core, 8 threads", lambda s: 1e3 / s["sustained"]["best"][8]["collector_ns_per_event"],       "M",    ">5"),
    ("bytes of a launch's line",           lambda s: s["sustained"]["best"][1]["line_bytes"],                          "B",    120),
    ("summary reads, per core",            lambda s: s["reading"]["longest"]["mb_per_cpu_second"],                     "MB/s", ">400"),
    ("an export's memory, long ÷ short",   lambda s: s["exporting"]["growth"],                                          "×", 1.1),
    ("summary's memory, long ÷ short",     lambda s: s["reading"]["longest"]["rss_mib"] / s["reading"]["shortest"]["rss_mib"], "×", 1.1),
    ("GPU times on ÷ off, a launch, HIP 7.2", lambda s: s["gpu-time"]["HIP 7.2"]["calls"]["launch"]["gpu ÷ on"]["median"],   "×",    1.5),
    ("llama-bench, on ÷ off",              lambda s: s["real"]["paired"]["median"],                                    "×",    None),
]
# The workloads that --check runs: those with bars.
CHECKED = ["module", "args6", "module x2"]
# A ratio is judged if this many rounds have it.
ROUNDS_JUDGED = 3


def of_calls(rounds):
    measured = [(name, over_rounds(rounds, formula), unit, bar, goal) for name, formula, unit, bar, goal in CALLS]
    return [{"name": name, "value": value["median"], "unit": unit, "bar": bar, "goal": goal, **value} for name, value, unit, bar, goal in measured if value]


def of_others(sections):
    rows = []
    for name, formula, unit, goal in OTHERS:
        try:
            rows.append({"name": name, "value": formula(sections), "unit": unit, "bar": None, "goal": goal})
        except KeyError:
            pass
    return rows


def over(rows):
    """The names of the ratios that are over their bar in three quarters of the rounds. A machine that is seldom at full
    speed proves nothing, which is said."""
    judged = {row["name"]: row for row in rows if len(row.get("rounds", [])) >= ROUNDS_JUDGED}
    held = [(name, bar) for name, _, _, bar, _ in CALLS if bar is not None]
    busy = [name for name, _ in held if name not in judged]
    if busy:
        print("bench: the machine was too busy to judge: " + "; ".join(busy), file=sys.stderr)
    return [name for name, bar in held if name in judged and judged[name]["q1"] > bar]
