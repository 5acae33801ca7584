"""Data sets of a sweep: loaded once by each process, and known by a digest."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.checks import MASKS
from teddy.data.hetero import check_target
from teddy.data.links import LINKS
from teddy.graph import Edges
from teddy.graph.relations import nodes_of_types
from teddy.methods.load_data import load_data
from teddy.settings import Settings
from teddy.sweep.resolution import HeldOut
from teddy.ticket.fingerprint import split_fingerprint
from teddy.training.tasks import parse_task

_LOADED: dict[tuple[Any, ...], Any] = {}

# Fields of a homogeneous graph that older sweeps have in their digests.
_KNOWN = {"x", "y", "edge_index", "edge_weight", *MASKS}


def cached_dataset(name: str, settings: Settings, version: str) -> Any:
    """Load a data set, unless it is the one that this process loaded last."""
    task = settings.task
    key = name, settings.data, task.task, task.directed, task.target, version
    if key not in _LOADED:
        _LOADED.clear()
        _LOADED[key] = load_data(name, settings)
    return _LOADED[key]


def data_version(name: str, settings: Settings) -> str:
    """Load a data set and return a sha256 of everything that results depend on."""
    data = load_data(name, settings)
    digest = hashlib.sha256()
    if isinstance(data, HeteroData):
        digest.update(str(nodes_of_types(data)).encode())
        for store in data.stores:
            _add(digest, store, str(store._key))
        return digest.hexdigest()
    links = "edge_label_index" in data
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    digest.update(f"{graph.fingerprint()} {split_fingerprint(data, links)}".encode())
    if data.get("y") is not None:
        digest.update(data.y.numpy().tobytes())
    x = data.x if data.x.layout == torch.sparse_csr else data.x.to_sparse_csr()
    for part in (x.crow_indices(), x.col_indices(), x.values()):
        digest.update(part.contiguous().numpy().tobytes())
    if "edge_weight" in data:
        digest.update(data.edge_weight.numpy().tobytes())
    others = {key: value for key, value in data.to_dict().items() if key not in _KNOWN}
    _add(digest, others, "")
    if settings.task.directed:
        _add(digest, {"edge_index": data.edge_index}, "")
    return digest.hexdigest()


def _add(digest: Any, values: Any, place: str) -> None:
    """Add the tensors of a mapping to a digest, with their names."""
    for name in sorted(values.keys()):
        value = values[name]
        if isinstance(value, Tensor):
            digest.update(f"{place} {name} {list(value.shape)}".encode())
            dense = value if value.layout == torch.strided else value.to_dense()
            digest.update(dense.cpu().contiguous().numpy().tobytes())


def held_out(data: Data | HeteroData, mask: str, settings: Settings) -> HeldOut:
    """Size of the set of ``val_mask`` or ``test_mask``; of several splits, the smallest.

    Example:
        >>> import teddy
        >>> held_out(teddy.load_dataset("citeseer"), "val_mask", Settings())
        HeldOut(rows=500, resolution=0.2)
    """
    if isinstance(data, HeteroData):
        data = data[check_target(data, settings.task.target)]
    task = parse_task(settings.task.task)
    y = data.edge_label if task.name == LINKS else data.y
    splits = data[mask].reshape(y.size(0), -1).unbind(dim=1)
    sizes = [HeldOut.from_targets(task, y[split]) for split in splits]
    return min(sizes, key=lambda size: size.rows)
