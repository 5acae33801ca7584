"""Methods, models and scores of a user's own, from a file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from teddy.errors import InputError


def load_file(path: str | Path) -> None:
    """Run a Python file that registers something; a second time does nothing.

    Example:
        >>> load_file("no-such-file.py")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-file.py: there is no such file
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{path}: there is no such file")
    name = f"teddy_plugin_{file.resolve()}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: expected a Python file, *.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"{path}: can't be loaded ({type(error).__name__}: {error})") from None
