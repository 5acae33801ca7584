"""Types for columns of CSV, where no cell's text is lost by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from teddy.data.columns import as_integers

if TYPE_CHECKING:
    import pyarrow as pa

# Integers below are written without an exponent as doubles, too.
_PLAIN = 10**10


class Types:
    """Types that columns can have such that the text of every cell comes back the same.

    ``01234``, ``1e400``, ``NA`` and numbers of 20 digits stay text, and with them their columns.
    An empty cell is null in a column that isn't text.

    Args:
        names: The columns.

    Example:
        >>> import pyarrow as pa
        >>> types = Types(["age", "code"])
        >>> types.see(pa.record_batch({"age": ["7", ""], "code": ["1", "01"]}))
        >>> types.of("age"), types.of("code")
        (DataType(int64), DataType(string))
    """

    def __init__(self, names: list[str]) -> None:
        self._possible = {name: list(_CHECKS) for name in names}
        self._filled: set[str] = set()

    def see(self, batch: pa.RecordBatch) -> None:
        """Drop the types that cells of a batch rule out."""
        import pyarrow.compute as pc

        for name, possible in self._possible.items():
            if not possible:
                continue
            text = batch[name]
            text = text.filter(pc.not_equal(text, ""))
            if len(text):
                self._filled.add(name)
                few = text.slice(0, 8)  # most types fail at once, which is slow on many cells
                possible = [kind for kind in possible if _CHECKS[kind](few)]
                self._possible[name] = [kind for kind in possible if _CHECKS[kind](text)]

    def of(self, name: str) -> pa.DataType:
        """The type of a column by all that was seen."""
        import pyarrow as pa

        kinds = {
            "integer": pa.int64(),
            "boolean": pa.bool_(),
            "date": pa.date32(),
            "time": pa.timestamp("s"),
            "double": pa.float64(),
            "double of Python": pa.float64(),
        }
        possible = self._possible[name] if name in self._filled else []
        return kinds[possible[0]] if possible else pa.string()


def convert(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cells as a type that :class:`Types` has found."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == text.type:
        return text
    return pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text).cast(kind)


def _is_integer(text: pa.Array) -> bool:
    import pyarrow as pa

    return as_integers(pa.chunked_array([text])) is not None


def _comes_back(text: pa.Array, kind: pa.DataType) -> bool:
    import pyarrow as pa

    try:
        return bool(text.cast(kind).cast(pa.string()).equals(text))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False


def _is_boolean(text: pa.Array) -> bool:
    import pyarrow as pa

    return _comes_back(text, pa.bool_())


def _is_date(text: pa.Array) -> bool:
    import pyarrow as pa

    return _comes_back(text, pa.date32())


def _is_time(text: pa.Array) -> bool:
    import pyarrow as pa

    return _comes_back(text, pa.timestamp("s"))


def _is_double(text: pa.Array) -> bool:
    """As Arrow writes it: 1, 0.5, 0.00001, 1e+16."""
    import pyarrow as pa

    if _is_integer(text.slice(0, 8)) and _is_integer(text):
        values = text.cast(pa.int64()).to_numpy()
        return bool((values > -_PLAIN).all() and (values < _PLAIN).all())
    return _comes_back(text, pa.float64())


def _is_double_of_python(text: pa.Array) -> bool:
    """As Python, pandas and NumPy write it: 1.0, 0.5, 1e-05, 1e+16."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        values = text.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    written = values.cast(pa.string())
    whole = pc.invert(pc.match_substring_regex(written, "[.en]"))
    written = pc.if_else(whole, pc.binary_join_element_wise(written, "0", "."), written)
    differ = np.flatnonzero(pc.not_equal(written, text).to_numpy(zero_copy_only=False))
    # The two differ on a few only, for which they use an exponent or not.
    size = np.abs(values.to_numpy())
    few = (size < 1e-3) | (size >= _PLAIN / 10)
    if not few[differ].all():
        return False
    rows = np.flatnonzero(few)
    return list(map(repr, values.take(rows).to_pylist())) == list(text.take(rows).to_pylist())


_CHECKS = {
    "integer": _is_integer,
    "boolean": _is_boolean,
    "date": _is_date,
    "time": _is_time,
    "double": _is_double,
    "double of Python": _is_double_of_python,
}
