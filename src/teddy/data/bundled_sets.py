"""Data sets included in the package; ``tools/build_bundled.py`` creates their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.utils import index_to_mask

from teddy.data.checks import MASKS
from teddy.data.features import csr_tensor, normalise_rows

if TYPE_CHECKING:
    from collections.abc import Callable


FOLDER = Path(__file__).with_name("bundled")


def read_bundled(name: str) -> Callable[[Path | None], Data]:
    """Return the reader of a bundled set, with the public Planetoid split; rows of ``x`` sum to 1.

    Example:
        >>> read_bundled("citeseer")(None).y.shape
        torch.Size([3327])
    """

    def read(data_dir: Path | None) -> Data:
        with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        y = torch.from_numpy(arrays["y"].astype(np.int64))
        data = Data(
            x=csr_tensor(normalise_rows(_features(arrays))),
            edge_index=torch.from_numpy(arrays["pairs"].astype(np.int64)),
            y=y,
        )
        for part in ("train", "val", "test"):
            nodes = torch.from_numpy(arrays[part].astype(np.int64))
            data[f"{part}_mask"] = index_to_mask(nodes, size=len(y))
        return data

    return read


def _features(arrays: dict[str, np.ndarray]) -> csr_matrix:
    indices = arrays["x_indices"].astype(np.int64)
    ones = np.ones(len(indices), dtype=np.float32)
    parts = (arrays.get("x_values", ones), indices, arrays["x_indptr"])
    return csr_matrix(parts, shape=tuple(arrays["x_shape"]))


#: Names of the classes of solubility in water.
CLASSES = ("low", "medium", "high")

_SYMBOLS = {1: "H", 6: "C", 7: "N", 8: "O", 9: "F", 15: "P", 16: "S", 17: "Cl", 35: "Br", 50: "Sn",
            53: "I"}  # fmt: skip


def read_solubility(data_dir: Path | None = None) -> Batch:
    """Return 1,282 molecules as graphs of atoms, each with a class of solubility in water.

    ``x`` has the element of an atom (one of 11), its number of bonds, the sum of their orders and
    its charge; ``edge_attr`` has the bond order: single, double or triple.

    Example:
        >>> pentane = read_solubility()[0]
        >>> pentane.num_nodes, pentane.edge_index.shape, pentane.y.tolist()
        (5, torch.Size([2, 8]), [0])
    """
    with np.load(FOLDER / "solubility.npz", allow_pickle=False) as file:
        arrays = {key: torch.from_numpy(file[key].astype(np.int64)) for key in file.files}
    pairs, sizes = arrays["pairs"], arrays["nodes"]
    x = _atoms(arrays)
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    order = torch.argsort(both[0] * x.size(0) + both[1])
    edges, bonds = both[:, order], F.one_hot(arrays["order"] - 1, 3).float().repeat(2, 1)[order]
    graph_of_node = torch.arange(sizes.numel()).repeat_interleave(sizes)
    columns = torch.bincount(graph_of_node[edges[0]], minlength=sizes.numel())
    first = sizes.cumsum(0) - sizes
    parts: dict[str, Any] = {
        "x": x.split(sizes.tolist()),
        "edge_index": (edges - first[graph_of_node[edges[0]]]).split(columns.tolist(), dim=1),
        "edge_attr": bonds.split(columns.tolist()),
        "y": arrays["y"].split(1),
    }
    for key in MASKS:
        mask = torch.zeros(sizes.numel(), dtype=torch.bool)
        mask[arrays[key.removesuffix("_mask")]] = True
        parts[key] = mask.split(1)
    each = zip(*parts.values(), strict=True)
    batch = Batch.from_data_list([Data(**dict(zip(parts, one, strict=True))) for one in each])
    batch.class_names = list(CLASSES)
    symbols = [_SYMBOLS[number] for number in arrays["elements"].tolist()]
    batch.feature_names = [*symbols, "bonds", "orders", "charge"]
    return batch


def _atoms(arrays: dict[str, Tensor]) -> Tensor:
    """Return the features of atoms, float32 ``[N, 14]``."""
    ends, charge = arrays["pairs"].flatten(), arrays["charge"]
    count = torch.bincount(ends, minlength=charge.numel())
    orders = torch.zeros_like(charge).index_add_(0, ends, arrays["order"].repeat(2))
    element = F.one_hot(arrays["element"], arrays["elements"].numel())
    return torch.cat([element, torch.stack([count, orders, charge], dim=1)], dim=1).float()
