"""A PyG ``Data`` of the user's, saved with ``torch.save``."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import (
    BaseStorage,
    EdgeStorage,
    GlobalStorage,
    NodeStorage,
)

from teddy.data.checks import LINK_FIELDS, MASKS, PRUNED_BY
from teddy.data.reading import reading
from teddy.data.unused_weight import warn_of_weight
from teddy.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


# Those of a HeteroData, too, so that a message can say that it is one.
_CONTAINERS = [
    DataEdgeAttr, DataTensorAttr, BaseStorage, GlobalStorage, NodeStorage, EdgeStorage, HeteroData,
]  # fmt: skip


def read_saved_data(path: Path) -> Data | list[Data]:
    """Read the graph, its weights, features, labels and masks; whatever else is left out.

    A list of graphs is returned as it is.

    Only tensors and PyG's own containers are unpickled: the file can't run code.

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
                f"{path.name}: damaged or holds more than tensors, "
                "expected a PyG Data saved with torch.save"
            ) from error
        if isinstance(saved, HeteroData):
            raise InputError(
                f"{path.name}: holds a HeteroData, expected a Data; relations are for Python: "
                "teddy.find_ticket(data, module, target=...)"
            )
        if isinstance(saved, list) and all(isinstance(graph, Data) for graph in saved):
            return saved
        if not isinstance(saved, Data):
            raise InputError(
                f"{path.name}: holds a {type(saved).__name__}, "
                "expected a PyG Data, or a list of them, saved with torch.save"
            )
        keys = ("x", "edge_index", "edge_weight", "y", "num_nodes", PRUNED_BY, *MASKS, *LINK_FIELDS)
        warn_of_weight(saved, path.name)
        return Data(**{key: saved[key] for key in keys if key in saved})
