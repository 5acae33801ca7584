"""The data sets that come with the package; ``tools/build_bundled.py`` makes their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch_geometric.data import Data
from torch_geometric.utils import index_to_mask

from teddy.data.features import csr_tensor, normalise_rows

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).with_name("bundled")


def read_bundled(name: str) -> Callable[[Path | None], Data]:
    """Return the reader of a bundled set: public Planetoid split, rows of ``x`` that sum to 1.

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
