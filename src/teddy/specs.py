"""Specs: a name with options in one text, ``name:option=value:...``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teddy.errors import InputError


def read_option(owner: str, defaults: Mapping[str, Any], part: str) -> tuple[str, Any]:
    """Read ``option=value``; the value has the type of the default.

    Args:
        owner: Name of the model, method, task or loader, for messages.
        defaults: Its options.
        part: The text.

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
        known = ", ".join(defaults) or "none"
        raise InputError(f"{owner} has no option '{name}', expected one of: {known}")
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


def option_text(value: Any) -> str:
    """The shortest text that is read as the same value.

    Example:
        >>> option_text(10.0), option_text(0.1), option_text("masks")
        ('10', '0.1', 'masks')
    """
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


def spec_text(name: str, options: Mapping[str, Any]) -> str:
    """A name and options as one text, sorted by name.

    Example:
        >>> spec_text("ugs", {"stride": 5, "distill": 10.0})
        'ugs:distill=10:stride=5'
    """
    parts = (f"{option}={option_text(value)}" for option, value in sorted(options.items()))
    return ":".join([name, *parts])
