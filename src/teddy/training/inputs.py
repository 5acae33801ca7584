"""What edges of a graph have beside their ends, as a model is given it."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor
from torch_geometric.data import Data

from teddy.models.edge_inputs import EDGE_INPUTS


def own_types(of_edges: Mapping[str, Tensor], x: Tensor) -> dict[str, Tensor]:
    """Weights and attributes of edges in the type of the features; integers, such as kinds, stay.

    Where features are integers, all of them stay as they are.

    Example:
        >>> import torch
        >>> own_types({"edge_attr": torch.ones(1, dtype=torch.float64)}, torch.ones(1))
        {'edge_attr': tensor([1.])}
    """
    if not x.is_floating_point():
        return dict(of_edges)
    return {n: v.to(x.dtype) if v.is_floating_point() else v for n, v in of_edges.items()}


def of_edges(data: Data) -> dict[str, Tensor]:
    """What edges of a graph have beside their ends; of several, also which one a node is of.

    Example:
        >>> import torch
        >>> of_edges(Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.tensor([2.0])))
        {'edge_weight': tensor([2.])}
    """
    return {name: data[name] for name in (*EDGE_INPUTS, "graph_of_node") if name in data}
