"""Columns of a table: those of node ids, and their description in messages."""

from __future__ import annotations

import pyarrow as pa

from teddy.data.reading import shorten
from teddy.errors import InputError

#: Usual names of the two id columns, in order of preference.
ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
)
#: Types of ids.
IDS = ("auto", "integer", "text")


def check_ids(ids: str) -> None:
    """Raise unless a type of ids is known.

    Example:
        >>> check_ids("uuid")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: ids is 'uuid', expected one of: auto, integer, text
    """
    if ids not in IDS:
        raise InputError(f"ids is '{ids}', expected one of: {', '.join(IDS)}")


def find_ends(
    name: str, schema: pa.Schema, source: str | None, target: str | None
) -> tuple[str, str]:
    """Return the two id columns: the named ones, or those of usual names."""
    names = schema.names
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise InputError(f"{name}: has column '{twice}' twice, expected it once")
    for end in (source, target):
        if end is not None and end not in names:
            raise InputError(f"{name}: has no column '{end}', got {columns_of(schema)}")
    if source is not None and target is not None:
        if source == target:
            raise InputError(f"source and target are both '{source}', expected two columns")
        return source, target
    if source is not None or target is not None:
        raise InputError("got one of source and target, expected both or neither")
    for pair in ENDS:
        if set(pair) <= set(names):
            return pair
    raise InputError(
        f"{name}: columns are {columns_of(schema)}, expected 'source' and 'target'; name others "
        "by source and target (--source, --target)"
    )


def columns_of(schema: pa.Schema) -> str:
    """Names and types of columns, for messages."""
    return shorten(", ".join(f"'{field.name}' ({field.type})" for field in schema))
