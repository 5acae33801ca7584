"""PyG data saved with ``torch.save``."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

from teddy.data.checks import LINK_FIELDS, MASKS, PRUNED_BY, warn_of_weight
from teddy.data.reading import reading
from teddy.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


_CONTAINERS = [
    DataEdgeAttr, DataTensorAttr, BaseStorage, GlobalStorage, NodeStorage, EdgeStorage, HeteroData,
]  # fmt: skip


#: Fields of nodes and edges that are read.
_FIELDS = ("x", "edge_index", "edge_weight", "y", "num_nodes", *MASKS)
#: Fields of each type and of the graph that are read from a HeteroData.
_OF_TYPES = (*_FIELDS, "edge_attr", "node_ids", "feature_names")
_OF_HETERO = ("class_names", PRUNED_BY)


def read_saved_data(path: Path) -> Data | HeteroData | list[Data]:
    """Read edges, weights, features, labels and masks; other fields are ignored.

    A list of graphs is returned unchanged. Only tensors and PyG's containers are unpickled: the
    file can't run code.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "graph.pt"
        ...     torch.save(Data(x=torch.eye(2), y=torch.tensor([0, 1])), path)
        ...     read_saved_data(path)
        Data(x=[2, 2], y=[2])
    """
    with reading(path, "a PyG Data saved with torch.save"):
        try:
            with torch.serialization.safe_globals(_CONTAINERS):
                saved = torch.load(path, weights_only=True, map_location="cpu")
        except pickle.UnpicklingError as error:
            raise InputError(
                f"{path.name}: damaged or has objects other than tensors, "
                "expected a PyG Data saved with torch.save"
            ) from error
        if isinstance(saved, HeteroData):
            return _chosen_fields(saved)
        if isinstance(saved, list) and all(isinstance(graph, Data) for graph in saved):
            return saved
        if not isinstance(saved, Data):
            raise InputError(
                f"{path.name}: has a {type(saved).__name__}, "
                "expected a PyG Data, or a list of them, or a HeteroData, saved with torch.save"
            )
        keys = (*_FIELDS, PRUNED_BY, *LINK_FIELDS)
        warn_of_weight(saved, path.name)
        return Data(**{key: saved[key] for key in keys if key in saved})


def _chosen_fields(saved: HeteroData) -> HeteroData:
    """Return a copy of the graph with the supported fields."""
    data = HeteroData()
    for key in _OF_HETERO:
        if key in saved._global_store:
            setattr(data, key, saved._global_store[key])
    for name in (*saved.node_types, *saved.edge_types):
        data[name].update({key: saved[name][key] for key in _OF_TYPES if key in saved[name]})
    return data
