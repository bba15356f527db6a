"""The command and the library that were installed with this module, and how the command is run."""
from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
from typing import Sequence


class Error(RuntimeError):
    """What the command `rocshim` said when it failed: what, where, and what to do."""


def command() -> pathlib.Path:
    """Returns the path of the command `rocshim`.

    It is the one that $ROCSHIM_COMMAND names, else the one installed with this module, else the first in PATH.

    Raises:
        Error: there is none.
    """
    found = os.environ.get("ROCSHIM_COMMAND") or _installed("bin/rocshim") or shutil.which("rocshim")
    if not found:
        raise Error("the command rocshim is neither installed with this module nor in PATH; install the wheel again")
    return pathlib.Path(found)


def library() -> pathlib.Path:
    """Returns the path of librocshim.so: $ROCSHIM_LIB, else beside the command, else in ../lib of it.

    Raises:
        Error: it is in neither place.
    """
    folder = command().resolve().parent
    for place in [os.environ.get("ROCSHIM_LIB"), folder / "librocshim.so", folder.parent / "lib/librocshim.so"]:
        if place and pathlib.Path(place).is_file():
            return pathlib.Path(place).resolve()
    raise Error(f"librocshim.so is neither in {folder} nor in ../lib of it; set ROCSHIM_LIB to its path")


def _installed(end: str) -> str | None:
    try:
        files = importlib.metadata.files("rocshim") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = (pathlib.Path(str(file.locate())) for file in files if str(file).endswith(end))
    return next((str(path) for path in paths if path.is_file()), None)


def run(words: Sequence[str | os.PathLike[str]]) -> str:
    """Runs the command without the library in it, and returns what it prints; raises Error with its message."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([command(), *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Error(done.stderr.strip() or f"rocshim {words[0]} failed with code {done.returncode}")
    return done.stdout
