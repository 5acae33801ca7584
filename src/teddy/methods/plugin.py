"""Your own methods, edge scores, tasks and models, from a Python file."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from teddy.errors import InputError
from teddy.methods.method import METHODS
from teddy.methods.scores import register_score
from teddy.models import parse_model
from teddy.names import is_in_file
from teddy.prune import SCORES
from teddy.tasks import TASKS

#: sha256 of the file that registered a method, or a task as ``task NAME``.
ORIGINS: dict[str, str] = {}


def load_file(path: str | Path) -> ModuleType:
    """Run a Python file that registers methods, edge scores or tasks; the same file runs once.

    Example:
        >>> load_file("no-such-file.py")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: no-such-file.py: no such file, expected a Python file
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{path}: no such file, expected a Python file")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    name = f"teddy_plugin_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: unknown suffix, expected a Python file, *.py")
    before, tasks, scores = dict(METHODS), dict(TASKS), dict(SCORES)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"{path}: cannot be loaded ({type(error).__name__}: {error})") from None
    registries: tuple[tuple[Any, dict[str, Any]], ...] = ((TASKS, tasks), (SCORES, scores))
    for registry, known_entries in registries:
        replaced = [key for key, entry in known_entries.items() if registry[key] is not entry]
        misnamed = [key for key in TASKS if key not in tasks and TASKS[key].name != key]
        if replaced or misnamed:
            for key in set(registry) - set(known_entries):
                del registry[key]
            registry.update(known_entries)
            del sys.modules[name]
        for key in replaced:
            raise InputError(f"{path}: registers '{key}', expected a new name")
        for key in misnamed:
            raise InputError(f"{path}: registers the task '{key}', expected name = '{key}' in it")
    for score in SCORES:
        if score not in METHODS:
            register_score(score)
    for method, known in before.items():
        if METHODS[method] is not known and method not in ORIGINS:
            METHODS.register(method)(known)
            del sys.modules[name]
            raise InputError(f"{path}: registers '{method}', expected a new name")
    for method in METHODS:
        if METHODS[method] is not before.get(method):
            ORIGINS[method] = digest
    ORIGINS.update({f"task {task}": digest for task in TASKS if task not in tasks})
    return module


def load_object(place: str) -> Any:
    """Load ``FILE.py:NAME``: a module, or a class or function that returns one.

    Example:
        >>> load_object("net.py")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: module is 'net.py', expected FILE.py:NAME
    """
    file, _, name = place.rpartition(":")
    if not file or not name:
        raise InputError(f"module is '{place}', expected FILE.py:NAME")
    loaded = load_file(file)
    if not hasattr(loaded, name):
        raise InputError(f"{file}: has no '{name}', expected a torch.nn.Module of that name")
    return getattr(loaded, name)


def read_model(model: Any) -> Any:
    """Return a model for ``find_ticket``, given as ``gcn`` or ``FILE.py:NAME``.

    Example:
        >>> read_model("gat:heads=4")
        'gat:heads=4'
    """
    return load_object(model) if isinstance(model, str) and is_in_file(model) else model


def check_model(model: str) -> None:
    """Raise unless a model is registered, with valid options, or is in a file."""
    if is_in_file(model):
        load_object(model)
    else:
        parse_model(model)
