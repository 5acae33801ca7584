"""Columns of a table: which hold ids, and what they are called in messages."""

from __future__ import annotations

import pyarrow as pa

from teddy.data.reading import shorten
from teddy.errors import InputError

#: Names of the two columns of ids that are looked for, in this order.
ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
)
#: What ids are.
IDS = ("auto", "integer", "text")


def check_ids(ids: str) -> None:
    """Raise unless it is a kind of ids.

    Example:
        >>> check_ids("uuid")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: unknown kind of ids 'uuid', expected one of: auto, integer, text
    """
    if ids not in IDS:
        raise InputError(f"unknown kind of ids '{ids}', expected one of: {', '.join(IDS)}")


def find_ends(
    name: str, schema: pa.Schema, source: str | None, target: str | None
) -> tuple[str, str]:
    """The columns of ids: those that are given, or of the usual names."""
    names = schema.names
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise InputError(f"{name}: column '{twice}' occurs twice, expected it once")
    for end in (source, target):
        if end is not None and end not in names:
            raise InputError(f"{name}: no column '{end}', got {columns_of(schema)}")
    if source is not None and target is not None:
        if source == target:
            raise InputError(f"source and target are both '{source}', expected two columns")
        return source, target
    if source is not None or target is not None:
        raise InputError("source and target are given together or not at all, got one of them")
    for pair in ENDS:
        if set(pair) <= set(names):
            return pair
    raise InputError(
        f"{name}: columns are {columns_of(schema)}, expected 'source' and 'target' or names given "
        "by source and target (--source, --target)"
    )


def columns_of(schema: pa.Schema) -> str:
    """Names and types, for messages."""
    return shorten(", ".join(f"'{field.name}' ({field.type})" for field in schema))
