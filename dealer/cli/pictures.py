"""Pictures as files: one way to draw into them, the same bytes for the same picture."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from dealer.cli.console import abort, check_writable

PICTURE_FORMATS: Final = ("png", "svg", "pdf")


def format_of(path: Path) -> str:
    """The format that the ending of a name asks for."""
    return path.suffix.removeprefix(".").lower()


def check_picture(path: Path | None) -> None:
    """End the command if a picture that is wanted with --chart could not be written."""
    if path is not None and format_of(path) not in PICTURE_FORMATS:
        abort(f"--chart {path}: the name must end in .{', .'.join(PICTURE_FORMATS[:-1])} or .{PICTURE_FORMATS[-1]}")
    check_writable(path)


def picture(draw: Callable[[Any], None], title: str, format_: str, size: tuple[float, float]) -> bytes:
    """A figure as the bytes of a file.

    Args:
        draw: draws into matplotlib's figure.
        title: above all.
        format_: one of `PICTURE_FORMATS`.
        size: width and height, in inches.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = {"svg.hashsalt": title, "font.family": "sans-serif", "font.size": 7}
    with mpl.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=11)
        draw(figure)
        file = io.BytesIO()
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_, {})
        figure.savefig(file, format=format_, dpi=150, metadata=dated)
    return file.getvalue()


def write_picture(path: Path, data: bytes) -> None:
    """Write a picture; ends the command if it cannot be written."""
    try:
        path.write_bytes(data)
    except OSError as error:
        abort(f"cannot write {path}: {error.strerror}")
