"""Methods and edge scores of a user's own, from a file."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from teddy.edges import SCORES
from teddy.errors import InputError
from teddy.methods.method import METHODS
from teddy.methods.scores import register_score

#: The sha256 of the file that each method of a user's own came from.
ORIGINS: dict[str, str] = {}


def load_file(path: str | Path) -> ModuleType:
    """Run a Python file, which may register methods or edge scores; the same one is run once.

    Example:
        >>> load_file("no-such-file.py")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-file.py: there is no such file
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{path}: there is no such file")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    name = f"teddy_plugin_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: expected a Python file, *.py")
    before = {method: METHODS[method] for method in METHODS}
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"{path}: can't be loaded ({type(error).__name__}: {error})") from None
    for score in SCORES:
        if score not in METHODS:
            register_score(score)
    for method, known in before.items():
        if METHODS[method] is not known and method not in ORIGINS:
            METHODS.register(method)(known)
            del sys.modules[name]
            raise InputError(f"{path}: registers '{method}', expected a name that is new")
    for method in METHODS:
        if METHODS[method] is not before.get(method):
            ORIGINS[method] = digest
    return module
