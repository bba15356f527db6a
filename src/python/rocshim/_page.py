"""The page of `rocshim report`, shown inline by Jupyter."""
from __future__ import annotations

import html
import os
import pathlib

from ._files import run


class Report:
    """A page. As the last value of a notebook's cell it is shown; `save` writes it to a file."""

    def __init__(self, text: str) -> None:
        self.html = text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page: one file, which opens in any browser and needs no network."""
        pathlib.Path(path).write_text(self.html)

    def _repr_html_(self) -> str:
        frame = 'style="width: 100%; height: 80vh; border: 0" sandbox="allow-scripts"'
        return f'<iframe {frame} srcdoc="{html.escape(self.html)}"></iframe>'


def report(*traces: str | os.PathLike[str], compare: bool = False) -> Report:
    """Returns the page with summary, phases, times and evidence of trace files or folders of them.

    `compare`: each trace is a run of its own, the first the baseline; the page adds what differs.

    Raises:
        Error: a trace is missing, or cannot be read.
    """
    return Report(run(["report", *(["--compare"] if compare else []), "-o", "-", *traces]))
