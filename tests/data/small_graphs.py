"""Small graphs written by hand, in memory and in files."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.tasks import load_dataset


def small_data() -> Data:
    return Data(
        x=torch.tensor([[1.0, 0.5], [0.0, 2.0], [3.0, 1.0], [1.0, 1.0], [0.0, 4.0], [2.0, 2.5]]),
        edge_index=torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 5, 2]]),
        y=torch.tensor([0, 1, 0, 1, 2, -1]),
        train_mask=mask(0, 1),
        val_mask=mask(2),
        test_mask=mask(3, 4),
    )


def mask(*nodes: int, size: int = 6) -> torch.Tensor:
    members = torch.zeros(size, dtype=torch.bool)
    members[list(nodes)] = True
    return members


#: What differs between files of different kinds: only tables name their features.
OF_THE_FILE = {"name", "feature_names"}


def assert_same(one: Data, other: Data) -> None:
    assert set(one.keys()) - OF_THE_FILE == set(other.keys()) - OF_THE_FILE
    for key in set(one.keys()) - OF_THE_FILE:
        a, b = one[key], other[key]
        if isinstance(a, torch.Tensor):
            assert a.layout == b.layout, key
            assert a.dtype == b.dtype, key
            assert torch.equal(a.to_dense(), b.to_dense()), key
        else:
            assert a == b, key


def message(path, **options):
    """Return the one line that loading raises."""
    with pytest.raises(InputError) as caught:
        load_dataset(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    return text


def write_fields(folder, **fields):
    """Write the small graph as graph.npz with other fields; None leaves one out."""
    data = small_data()
    arrays = {key: data[key].numpy() for key in data.keys()} | fields  # noqa: SIM118
    np.savez(folder / "graph.npz", **{key: a for key, a in arrays.items() if a is not None})
    return folder / "graph.npz"
