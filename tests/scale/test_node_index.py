"""Numbers of nodes are those of a dictionary."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.reference import digest
from teddy.errors import InputError
from teddy.scale.node_index import HashNodeIndex, RangeNodeIndex

INTEGERS = st.integers(-(2**63), 2**63 - 1)


@given(batches=st.lists(st.lists(st.one_of(st.text(max_size=8)), max_size=30), max_size=5))
def test_text_as_a_dictionary_numbers_it(batches):
    check(batches, pa.string())


@given(batches=st.lists(st.lists(INTEGERS, max_size=30), max_size=5))
def test_integers_as_a_dictionary_numbers_them(batches):
    check(batches, pa.int64())


@pytest.mark.parametrize("kind", [pa.string(), pa.int64()])
def test_many(kind):
    """The table grows several times."""
    random = np.random.default_rng(0).integers(0, 40_000, (3, 20_000)) * 10**9
    rows = random.tolist()
    check([[str(i) for i in row] for row in rows] if kind == pa.string() else rows, kind)


def check(batches, kind):
    numbers, known = HashNodeIndex(kind == pa.string()), {}
    for batch in batches:
        found = numbers.encode(pa.array(["skipped", *batch] if kind == pa.string() else [0, *batch],
                                    kind)[1:])  # fmt: skip
        assert found.tolist() == [known.setdefault(each, len(known)) for each in batch]
    assert numbers.size == len(known)
    if kind == pa.int64():
        assert numbers.ids(np.arange(len(known))).tolist() == list(known)
    check_digests(numbers, list(known), found=np.arange(len(known)))
    for batch in batches:
        again = numbers.encode(pa.array(batch, kind), new=False)
        assert again.tolist() == [known[each] for each in batch]


def check_digests(numbers, ids, found):
    """Digests of pairs of consecutive ids, in both directions."""
    pairs = list(zip(ids, ids[-1:] + ids[:-1], strict=True))
    ends = found, np.roll(found, 1)
    ordered = [tuple(sorted(pair)) for pair in pairs]
    for prefix in ("", "12:"):
        assert numbers.digests(*ends, True, prefix).astype(str).tolist() == [
            digest(pair, prefix) for pair in pairs
        ]
        assert numbers.digests(*ends, False, prefix).astype(str).tolist() == [
            digest(pair, prefix) for pair in ordered
        ]


@given(length=st.integers(0, 200), letter=st.sampled_from("aä日🎉"))
def test_digests_of_text_of_any_length(length, letter):
    numbers, ids = HashNodeIndex(text=True), [letter * length, f"{letter}x" * length + "y", "z"]
    check_digests(numbers, ids, numbers.encode(pa.array(ids)))


def test_digests_of_the_lowest_and_highest_integers():
    ids = [-(2**63), 2**63 - 1, 0, -1, 9, 10, -10, 99, 100, 10**18]
    numbers = HashNodeIndex(text=False)
    check_digests(numbers, ids, numbers.encode(pa.array(ids)))
    check_digests(RangeNodeIndex(-3, 4), list(range(-3, 5)), np.arange(8, dtype=np.uint64))


def test_ids_that_were_never_seen():
    numbers = HashNodeIndex(text=True)
    numbers.encode(pa.array(["a"]))
    with pytest.raises(InputError, match="id 'b' is new, expected a table that does not"):
        numbers.encode(pa.array(["b"]), new=False)
    with pytest.raises(InputError, match="outside the range"):
        RangeNodeIndex(0, 5).encode(pa.array([6]))


def test_too_many_for_memory():
    numbers = HashNodeIndex(text=False, most_bytes=100_000)
    with pytest.raises(InputError, match="does not fit into memory, expected another engine"):
        numbers.encode(pa.array(np.arange(100_000)))
