"""The process that is recorded: its phases and marks, and how recording begins."""
from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import Any, Iterator

from ._files import Error, library, run


def _function(name: str, *arguments: Any) -> Any:
    """The function of librocshim.so with this name; None where the library is not loaded."""
    function = getattr(ctypes.CDLL(None), name, None)
    if function is not None:
        function.argtypes, function.restype = arguments, ctypes.c_int
    return function


_begin = _function("rocshim_phase_begin", ctypes.c_char_p)
_end = _function("rocshim_phase_end")
_mark = _function("rocshim_mark", ctypes.c_char_p)
_flush = _function("rocshim_flush")
_recording = _function("rocshim_recording")


@contextlib.contextmanager
def phase(name: str) -> Iterator[None]:
    """Names what the calling thread launches in the `with` block, or in the function that it decorates.

    `name`: UTF-8, of which 432 bytes are kept. Phases may be nested. Costs some 2 µs, most of it Python's.
    """
    if _begin is None:
        yield
        return
    _begin(name.encode())
    try:
        yield
    finally:
        _end()


def mark(text: str) -> None:
    """Records a moment with a name."""
    if _mark is not None:
        _mark(text.encode())


def flush() -> bool:
    """Writes all that was recorded so far to the trace; returns whether it could."""
    return _flush is not None and _flush() == 0


def recording() -> bool:
    """Returns whether calls of this process are recorded now."""
    return _recording is not None and _recording() == 1


def trace(out: str | os.PathLike[str] = "rocshim-out", **variables: str) -> None:
    """Has this process recorded, its trace going to the folder `out`.

    Where librocshim.so is loaded already, recording is started if it was stopped, and `out` is not used. Otherwise the
    script is executed again from its first line with the library preloaded: call this first, before anything with an
    effect. `variables` are options by their names in `rocshim variables`, without ROCSHIM_ and in lower case:
    `rocshim.trace("traces", gpu_time="on")`.

    Raises:
        Error: this is a notebook or an interactive session, which cannot be executed again; or recording could not be
            started.
    """
    if _recording is not None:
        if not recording():
            run(["ctl", str(os.getpid()), "start"])
        return
    if hasattr(sys, "ps1") or "ipykernel" in sys.modules or not sys.argv or sys.argv[0] in ("", "-c"):
        raise Error("an interactive session cannot be executed again with librocshim.so: start it by "
                    "`rocshim run -o traces -- jupyter lab`, or with LD_PRELOAD=" + str(library()))
    if os.environ.get("ROCSHIM_EXECUTED") == str(os.getpid()):
        raise Error("librocshim.so was preloaded but is not in this process; `rocshim doctor` says why")
    preloaded = [str(library()), *filter(None, [os.environ.get("LD_PRELOAD")])]
    environment = dict(os.environ, LD_PRELOAD=":".join(preloaded), ROCSHIM_OUT=os.path.abspath(out),
                       ROCSHIM_EXECUTED=str(os.getpid()))
    environment.update({f"ROCSHIM_{name.upper()}": value for name, value in variables.items()})
    words = getattr(sys, "orig_argv", [sys.executable, *sys.argv])
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, words, environment)
