"""Charts as files, written atomically; the same chart gives the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teddy.errors import InputError
from teddy.report.chart import Chart
from teddy.report.draw import draw, styled
from teddy.store.atomic import StrPath, check_writable, write_atomically
from teddy.store.folders import make_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Metadata of each file type, without dates and versions.
_METADATA: dict[str, Any] = {
    ".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None},
}  # fmt: skip


def save_chart(chart: Chart, folder: str | Path) -> list[Path]:
    """Write a chart as ``<name>.png`` and ``<name>.pdf``; the same chart gives the same bytes.

    The folder is created if it is missing.

    Example:
        >>> import tempfile
        >>> from teddy.report.chart import Chart, Line, Panel
        >>> chart = Chart("accuracy", "", [Panel("", "x", "y", [Line("teddy", [0, 1], [0, 1])])])
        >>> [path.name for path in save_chart(chart, tempfile.mkdtemp())]
        ['accuracy.png', 'accuracy.pdf']
    """
    if not chart.name or Path(chart.name).name != chart.name:
        raise InputError(f"chart name must be a file name without folders, got '{chart.name}'")
    figure = draw(chart)
    contents = {Path(folder) / (chart.name + k): _content(figure, k) for k in (".png", ".pdf")}
    make_folder(Path(folder))
    for path, content in contents.items():
        write_atomically(path, content)
    return list(contents)


def save_picture(chart: Chart, path: StrPath) -> None:
    """Write a chart to a PNG, PDF or SVG file, by the file name's ending.

    Example:
        >>> import tempfile
        >>> from teddy.report.chart import Chart, Line, Panel
        >>> chart = Chart("accuracy", "", [Panel("", "x", "y", [Line("teddy", [0, 1], [0, 1])])])
        >>> path = Path(tempfile.mkdtemp()) / "mine.png"
        >>> save_picture(chart, path)
        >>> path.read_bytes()[1:4]
        b'PNG'
    """
    save_figure(draw(chart), path)


def save_figure(figure: Figure, path: StrPath) -> None:
    """Write a figure to a PNG, PDF or SVG file; the same figure gives the same bytes."""
    kind = check_picture(path)
    write_atomically(path, _content(figure, kind))


def check_picture(path: StrPath) -> str:
    """Return the ending of a figure's file name, or raise.

    Example:
        >>> check_picture("node.gif")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: node.gif: ends in '.gif', expected .png, .pdf or .svg
    """
    kind = Path(path).suffix.lower()
    if kind not in _METADATA:
        raise InputError(f"{path}: ends in '{kind}', expected .png, .pdf or .svg")
    check_writable(path)
    return kind


@styled
def _content(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of a file, without dates and versions."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind[1:], dpi=150, metadata=_METADATA[kind])
    content = buffer.getvalue()
    return _small_png(content) if kind == ".png" else content


def _small_png(content: bytes) -> bytes:
    """Reduce a PNG to 256 colours, which makes it four times smaller."""
    from PIL import Image

    buffer = io.BytesIO()
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    small = picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(buffer, "PNG", optimize=True, dpi=(150, 150))
    return buffer.getvalue()
