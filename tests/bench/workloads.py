"""The timed workloads of the loop, one per row."""
from dataclasses import dataclass

PERCENTILES = ["p50", "p99", "p99.9", "max"]


@dataclass
class Workload:
    """A workload, and the variants that run it."""
    name: str
    what: str
    form: str
    mode: str
    calls: int     # in a burst: four bursts fill at most half a ring of 1 MiB with their events
    threads: int
    pause_us: int  # after a burst, for the collector to empty the ring
    who: object    # selects the variants that run it, from all of them


def every(names):
    return [name for name in names if name not in PEERS]


def main(names):
    return [name for name in every(names) if not name.startswith(("pass", "off"))]


def with_peers(names):
    return list(names)


def main_with_peers(names):
    return main(names) + [name for name in names if name in PEERS and name != "ltrace"]


# Peers, which hook hipModuleLaunchKernel only.
PEERS = ["lttng", "uftrace", "uftrace -A", "ltrace", "fprintf"]
WORKLOADS = [
    Workload("module",    "hipModuleLaunchKernel, one thread",                "module", "time", 2000, 1, 4_000,  with_peers),
    Workload("args6",     "the same with 6 arguments, which are recorded",    "args6",  "time", 1000, 1, 4_000,  every),
    Workload("args16",    "the same with 16 arguments",                       "args16", "time", 600,  1, 4_000,  every),
    Workload("paced",     "hipModuleLaunchKernel, then a microsecond of other work, while the collector drains", "paced", "time", 2000, 1, 4_000, main),
    Workload("stub",      "hipLaunchKernel, one thread",                      "stub",   "time", 2000, 1, 4_000,  every),
    Workload("gemm",      "rocblas_gemm_ex and the launch in it, one thread", "gemm",   "time", 500,  1, 4_000,  every),
    Workload("module x2", "hipModuleLaunchKernel, two threads at once",       "module", "time", 2000, 2, 8_000,  main_with_peers),
    Workload("module x8", "hipModuleLaunchKernel, eight threads at once",     "module", "time", 2000, 8, 16_000, main),
    Workload("tail",      "hipModuleLaunchKernel, each call timed by itself (with the two reads of the clock that this takes)",
                                                                              "module", "tail", 2000, 1, 4_000,  main_with_peers),
]
