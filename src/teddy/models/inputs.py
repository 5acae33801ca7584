"""Inputs of a model: features and other values of a graph, in the model's dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch_geometric.data import Data

from teddy.errors import warn
from teddy.models.edge_inputs import EDGE_INPUTS


def dense_input(model: nn.Module, x: Tensor) -> Tensor:
    """Return features for your own module: dense, in the dtype of its parameters.

    Integers are unchanged: they are ids for an embedding.

    Example:
        >>> dense_input(nn.Linear(1, 1).double(), torch.eye(1).to_sparse_csr())
        tensor([[1.]], dtype=torch.float64)
    """
    # A lazy parameter has no dtype before its first input.
    types = {p.dtype for p in model.parameters() if not isinstance(p, UninitializedParameter)}
    x = x if x.layout == torch.strided else x.to_dense()
    return x.to(types.pop()) if len(types) == 1 and x.is_floating_point() else x


def match_dtype(values: Mapping[str, Any], x: Tensor) -> dict[str, Any]:
    """Return floating-point tensors in the dtype of the features, and other values unchanged.

    With integer features, all values are unchanged.

    Example:
        >>> import torch
        >>> match_dtype({"edge_attr": torch.ones(1, dtype=torch.float64)}, torch.ones(1))
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


def warn_of_casts(values: Mapping[str, Any], dtype: torch.dtype) -> None:
    """Warn of float64 values, such as timestamps, that become equal in a cast.

    The criterion is an error above a thousandth of a column's standard deviation, or a merge of
    more than half of its distinct values.

    Args:
        values: Values by name; only tensors are checked.
        dtype: Dtype of the cast.
    """
    if dtype == torch.float64 or not dtype.is_floating_point:
        return
    for name, value in values.items():
        is_double = isinstance(value, Tensor) and value.dtype == torch.float64
        if is_double and value.layout == torch.strided and _loses(value, dtype):
            warn(
                f"{name} is float64 and loses precision as {str(dtype).removeprefix('torch.')}, "
                "the dtype of the model: subtract an offset, or make the model and x double"
            )


def _loses(value: Tensor, dtype: torch.dtype) -> bool:
    rows = value.size(0) if value.dim() else 1
    if value.numel() == 0:
        return False
    columns = value.detach().reshape(rows, -1)
    cast = columns.to(dtype)
    share = (columns - cast.double()).abs().amax(0) / columns.std(0, correction=0)
    varies = columns.amax(0) > columns.amin(0)
    if (varies & (share > 1e-3)).any():
        return True
    # Values far from the others, such as a missing one that is zero, widen the deviation.
    return any(
        2 * cast[:, place].unique().numel() < columns[:, place].unique().numel()
        for place in (varies & (share > 1e-6)).nonzero().flatten().tolist()
    )


def model_values(data: Data) -> dict[str, Any]:
    """Return the inputs of a model in a graph, and ``graph_of_node`` of several graphs.

    ``input_levels`` lists them; by default they are ``edge_weight`` and ``edge_attr``.

    Example:
        >>> import torch
        >>> model_values(Data(edge_index=torch.tensor([[0], [1]]), edge_weight=torch.tensor([2.0])))
        {'edge_weight': tensor([2.])}
    """
    names = (*input_levels(data), "graph_of_node")
    return {name: data[name] for name in names if name in data}


def input_levels(data: Data) -> dict[str, str]:
    """Return the names of a model's inputs, each with its level: ``edges``, ``nodes``, ``whole``.

    Example:
        >>> import torch
        >>> input_levels(Data(edge_index=torch.tensor([[0], [1]]), edge_attr=torch.ones(1, 2)))
        {'edge_attr': 'edges'}
    """
    levels = data.get("input_levels", dict.fromkeys(EDGE_INPUTS, "edges"))
    return {name: level for name, level in levels.items() if name in data}
