"""Records what a Python program asks of ROCm, and reads the traces.

In the program that is recorded::

    with rocshim.phase("decode"):
        model.generate(...)

In a notebook::

    tables = rocshim.read("traces")         # a pyarrow.Table for each kind of call
    rocshim.report("traces")                # the page of `rocshim report`, shown inline

Where librocshim.so is not loaded, `phase`, `mark` and `flush` do nothing.
"""
from ._files import Error, command, library
from ._live import flush, mark, phase, recording, trace
from ._tables import Frame, read
from ._page import Report, report

__all__ = ["Error", "Frame", "Report", "command", "flush", "library", "mark", "phase", "read", "recording",
           "report", "trace"]
