"""Values of a graph beside features and ends of edges, as a model is given them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from teddy.models.edge_inputs import EDGE_INPUTS


def own_types(values: Mapping[str, Any], x: Tensor) -> dict[str, Any]:
    """Return floating-point tensors in the type of the features; others, such as kinds, stay.

    Where features are integers, all of them stay as they are.

    Example:
        >>> import torch
        >>> own_types({"edge_attr": torch.ones(1, dtype=torch.float64)}, torch.ones(1))
        {'edge_attr': tensor([1.])}
    """
    if not x.is_floating_point():
        return dict(values)
    return {
        name: value.to(x.dtype)
        if isinstance(value, Tensor) and value.is_floating_point()
        else value
        for name, value in values.items()
    }


def of_edges(data: Data) -> dict[str, Any]:
    """Return the values of a graph that a model is given, and ``graph_of_node`` of several graphs.

    ``input_names`` lists them; without it they are ``edge_weight`` and ``edge_attr``.

    Example:
        >>> import torch
        >>> of_edges(Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.tensor([2.0])))
        {'edge_weight': tensor([2.])}
    """
    names = data.get("input_names", EDGE_INPUTS)
    return {name: data[name] for name in (*names, "graph_of_node") if name in data}
