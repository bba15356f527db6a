"""The variants that are compared, one per row: a program with a hook or tracer."""
import pathlib
from dataclasses import dataclass, field


@dataclass
class Variant:
    """A variant of running the loop: a row of each table."""
    name: str
    what: str
    preload: pathlib.Path | None = None
    env: dict = field(default_factory=dict)
    records: bool = False      # it writes rocshim traces, whose counters must show no loss
    peer: object | None = None  # another tracer: how it is started, and its number of events (see peers.Peer)
    share: float = 1           # share of a workload's calls, for slow ones


def ours(work, shim, against=None):
    """The bare program, the hooks of hook.c, and the shim, with another one beside it if asked for. By name."""
    variants = [
        Variant("bare", "no hook"),
        Variant("pass", "a hook that only forwards", work / "pass.so"),
        Variant("floor", "2 TSC reads and 64 bytes stored", work / "floor.so"),
        Variant("off", "rocshim, ROCSHIM_OFF=1", shim, {"ROCSHIM_OFF": "1"}),
        Variant("on", "rocshim, recording", shim, records=True),
    ]
    if against:
        variants += [
            Variant("off, other", "the other, ROCSHIM_OFF=1", against, {"ROCSHIM_OFF": "1"}),
            Variant("on, other", "the other, recording", against, records=True),
        ]
    return {variant.name: variant for variant in variants}
