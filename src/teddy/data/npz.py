"""Graphs in ``.npz`` files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS
from teddy.data.features import csr_tensor
from teddy.data.reading import reading
from teddy.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

_CSR = ("x_indptr", "x_indices", "x_data", "x_shape")
_KEYS = ("edge_index", "edge_weight", "x", "y", "num_nodes", *MASKS, *LINK_FIELDS, *_CSR)


def read_npz(path: Path) -> Data:
    """Read ``edge_index``, ``edge_weight``, ``x`` (dense, or a CSR matrix), ``y`` and masks.

    Only the types of the arrays and the CSR matrix are checked; :func:`teddy.data.check_data`
    checks the rest. Unknown keys are ignored.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "graph.npz"
        ...     np.savez(path, edge_index=[[0], [1]], x=[[1.0], [2.0]], y=[0, 1])
        ...     read_npz(path)
        Data(x=[2, 1], edge_index=[2, 1], y=[2])
    """
    arrays = _arrays(path)
    data = Data()
    for key in ("x", "edge_index", "edge_weight", "y", *MASKS, *LINK_FIELDS):
        if key in arrays:
            data[key] = _tensor(arrays[key])
    if "x" not in arrays and "x_indptr" in arrays:
        data.x = csr_tensor(_csr(arrays, path))
    if "num_nodes" in arrays:
        if arrays["num_nodes"].size != 1:
            shape = list(arrays["num_nodes"].shape)
            raise InputError(f"{path.name}: num_nodes has shape {shape}, expected one number")
        data.num_nodes = arrays["num_nodes"].item()
    return data


def _arrays(path: Path) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    with reading(path, "an npz file"):
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise InputError(f"{path.name}: has a single array, expected an npz file")
        with file:
            for key in _KEYS:
                if key in file.files:
                    arrays[key] = _array(file, key, path)
    return arrays


def _array(file: np.lib.npyio.NpzFile, key: str, path: Path) -> np.ndarray:
    try:
        array = np.asarray(file[key])
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise InputError(f"{path.name}: {key} has Python objects, expected numbers") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path.name}: {key} is {array.dtype}, expected numbers")
    return array


def _tensor(array: np.ndarray) -> Tensor:
    # PyTorch does not support all unsigned integers, nor other byte orders.
    types = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}
    return torch.from_numpy(array.astype(types[array.dtype.kind]))


def _csr(arrays: dict[str, np.ndarray], path: Path) -> csr_matrix:
    if "x_indices" not in arrays:
        raise InputError(f"{path.name}: no x_indices, expected it with x_indptr")
    indptr, indices = arrays["x_indptr"], arrays["x_indices"]
    for key in ("x_indptr", "x_indices"):
        if arrays[key].ndim != 1 or arrays[key].dtype.kind not in "iu":
            raise InputError(
                f"{path.name}: {key} is {arrays[key].dtype} of shape {list(arrays[key].shape)}, "
                "expected integers in one dimension"
            )
    num_features = int(indices.max(initial=-1)) + 1
    shape = arrays.get("x_shape", np.array([len(indptr) - 1, num_features])).tolist()
    values = arrays.get("x_data", np.ones(len(indices), dtype=np.float32))
    with reading(path, "a CSR matrix in x_indptr, x_indices, x_data, x_shape"):
        outside = np.flatnonzero((indices < 0) | (indices >= shape[1]))
        if len(outside):
            first = outside[0]
            raise InputError(
                f"{path.name}: x_indices[{first}] is {indices[first]}, "
                f"expected a column from 0 to {shape[1] - 1}"
            )
        matrix = csr_matrix((values, indices.astype(np.int64), indptr.astype(np.int64)), shape)
        matrix.check_format(full_check=True)
        matrix.sum_duplicates()
    return matrix
