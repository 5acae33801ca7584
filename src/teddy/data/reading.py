"""Uniform errors for files that cannot be read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of a reader on a damaged file into an :class:`InputError` of one line.

    Example:
        >>> from pathlib import Path
        >>> with reading(Path("some/graph.npz"), "an npz file"):
        ...     raise EOFError("no data left")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: graph.npz: can't be read as an npz file (no data left)
    """
    try:
        yield
    except InputError:
        raise
    # A damaged zip, CSV or pickle can raise nearly any exception.
    except Exception as error:
        raise InputError(f"{path.name}: can't be read as {kind} ({reason(error)})") from error


def reason(error: BaseException) -> str:
    """Return the first line of an error's text, shortened for a message.

    Example:
        >>> reason(KeyError())
        'KeyError'
        >>> reason(OSError("no space left\\nat all"))
        'no space left'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(lines[0])


def shorten(text: str, length: int = 120) -> str:
    """Return a text, truncated to a length.

    Example:
        >>> shorten("abcdef", 5)
        'ab...'
    """
    return text if len(text) <= length else f"{text[: length - 3]}..."
