"""Registries, hints for misspelt names, and specs: ``name:option=value:...``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from teddy.errors import InputError

T = TypeVar("T")


class Registry(dict[str, T]):
    """A dictionary with a decorator to fill it and a helpful error for an unknown name.

    Example:
        >>> SHAPES = Registry("shape")
        >>> @SHAPES.register("star")
        ... def star(n): return [(0, i) for i in range(1, n)]
        >>> SHAPES["star"](3)
        [(0, 1), (0, 2)]
        >>> SHAPES["stra"]
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown shape 'stra', expected one of: star (did you mean 'star'?)
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def register(self, name: str):  # type: ignore[no-untyped-def]
        """Decorator that registers an entry under a name."""

        def keep(entry: T) -> T:
            self[name] = entry
            return entry

        return keep

    def arrange(self, names: Iterable[str]) -> None:
        """Order the entries by these names, which are all of them."""
        entries = {name: self[name] for name in names}
        self.clear()
        self.update(entries)

    def __missing__(self, name: str) -> T:
        raise unknown_name(self.kind, str(name), self)


def short_class(path: str) -> str:
    """Class path as messages show it: without the module that a loaded file becomes.

    Example:
        >>> short_class(f"teddy_plugin_{64 * '0'}.Mine"), short_class("torch.nn.Linear")
        ('Mine', 'torch.nn.Linear')
    """
    return re.sub(r"^teddy_plugin_[0-9a-f]+\.", "", path)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Hint for a misspelt name; empty where no known name is close.

    Example:
        >>> did_you_mean("gnc", ["gat", "gin", "gcn"]), did_you_mean("hidden", ["hidden_channels"])
        (" (did you mean 'gcn'?)", " (did you mean 'hidden_channels'?)")
        >>> did_you_mean("transformer", ["gat", "gin", "gcn"])
        ''
    """
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known)
    # Of names that are as close, one with the same letters in another order: gcn, not gin.
    close.sort(key=lambda other: sorted(other) != sorted(name.lower()))
    close += [other for other in known if len(name) > 2 and other.startswith(name.lower())]
    return f" (did you mean '{close[0]}'?)" if close else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not known.

    Args:
        kind: Kind of thing that has the name.
        name: The unknown name.
        known: Names that are known.
    """
    known = list(known)
    hint = did_you_mean(name, known)
    return InputError(f"unknown {kind} '{name}', expected one of: {', '.join(known)}{hint}")


def unknown_option(owner: str, name: str, known: Iterable[str]) -> InputError:
    """The error for an option that its owner does not have.

    Args:
        owner: Name of the model, method or task.
        name: The unknown option.
        known: Options of the owner.
    """
    known = list(known)
    names = ", ".join(known) or "none"
    hint = did_you_mean(name, known)
    return InputError(f"{owner} has no option '{name}', expected one of: {names}{hint}")


def read_option(owner: str, defaults: Mapping[str, Any], part: str) -> tuple[str, Any]:
    """Read ``option=value`` of an owner's options; the value has the type of the default.

    Example:
        >>> read_option("gat", {"heads": 8}, "heads=4")
        ('heads', 4)
        >>> read_option("gat", {"heads": 8}, "heads=many")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: option 'heads' of gat is 'many', expected a whole number
    """
    name, equals, text = part.partition("=")
    if name not in defaults:
        raise unknown_option(owner, name, defaults)
    kind = type(defaults[name])
    if kind is bool and text.lower() in ("true", "false"):
        return name, text.lower() == "true"
    if kind not in (float, int, bool):
        return name, text
    try:
        return name, {float: float, int: int, bool: int}[kind](text)
    except ValueError:
        what = {float: "a number", int: "a whole number", bool: "true or false"}[kind]
        got = f"'{text}'" if equals else "nothing"
        raise InputError(f"option '{name}' of {owner} is {got}, expected {what}") from None


def spec_text(name: str, options: Mapping[str, Any]) -> str:
    """A name and options as one text, sorted by name, each value as short as it can be read back.

    Example:
        >>> spec_text("ugs", {"stride": 5, "distill": 10.0})
        'ugs:distill=10:stride=5'
    """
    parts = (f"{option}={_shortest(value)}" for option, value in sorted(options.items()))
    return ":".join([name, *parts])


def _shortest(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
