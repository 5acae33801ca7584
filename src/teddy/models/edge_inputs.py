"""Inputs of a model other than features and ``edge_index``: values of edges, nodes, the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS
from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.layered import LayeredGNN
from teddy.models.own_module import DERIVED, ForwardSignature

#: Edge values with a fixed meaning, by their names in PyG.
EDGE_INPUTS = ("edge_weight", "edge_attr")

# Targets and the split, which are missing at prediction.
_TARGETS = ("y", *MASKS, LINK_FIELDS[1])
# Node values, by their names in PyG.
_NODE_INPUTS = ("pos", "z", "batch", "node_type")
# Ids of nodes and edges, which few models take.
_IDS = ("node_ids", "n_id", "e_id")


@dataclass(frozen=True)
class Inputs:
    """Names of the values of a graph that a model takes.

    Attributes:
        edges: Values of the columns of ``edge_index``.
        nodes: Values of the nodes.
        whole: Other values, which are passed unchanged.
    """

    edges: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


def takes(model: nn.Module | type[nn.Module], name: str) -> bool:
    """Return whether a model takes an input, such as ``edge_weight`` or ``edge_attr``.

    Built-in models of layers take weights; any other module takes the inputs that its forward
    names.

    Example:
        >>> from torch_geometric.nn import GCNConv
        >>> takes(GCNConv(1, 1), "edge_weight"), takes(GCNConv(1, 1), "edge_attr")
        (True, False)
    """
    if _is_a(model, GNN):
        return name == "edge_weight" and _is_a(model, LayeredGNN)
    assert isinstance(model, nn.Module)
    # All models of PyG have the parameter; some declare that they do not support it.
    usable = getattr(model, f"supports_{name}", True) is not False
    return usable and name in ForwardSignature.from_module(model).names


def edge_inputs(
    model: nn.Module | type[nn.Module], present: Iterable[str], directed: bool = False
) -> list[str]:
    """Return the present edge values that a model takes, or raise.

    A model without edge weights is refused if edges have them. Attributes are for modules whose
    forward names them. With ``directed``, messages run in one direction.

    Example:
        >>> from teddy.models import GCN
        >>> edge_inputs(GCN(1, 2), ["edge_weight", "edge_attr"])
        ['edge_weight']
    """
    kind = model.__name__ if isinstance(model, type) else type(model).__name__
    present = list(present)
    if directed and _is_a(model, GNN) and not _is_a(model, LayeredGNN):
        raise InputError(
            f"a {kind} does not support directed graphs, expected directed=False, or a model "
            "of layers (gcn, gat, gin, sage, unimp)"
        )
    if "edge_weight" in present and not takes(model, "edge_weight"):
        raise InputError(
            f"a {kind} does not take edge_weight, expected forward(x, edge_index, edge_weight), or "
            "data without edge_weight"
        )
    return [name for name in present if takes(model, name)]


def model_inputs(model: nn.Module | type[nn.Module], data: Data, directed: bool = False) -> Inputs:
    """Return the values of a graph that a model takes, by the names in its forward.

    Targets and masks are never inputs. The number of rows decides whether a value belongs to edges
    or nodes, as in PyG. With ``directed``, messages run in one direction.

    Raises:
        InputError: if a required value is missing, if the inputs of a module are unknown, or if
            the model does not take the weights of edges.

    Example:
        >>> import torch
        >>> from torch_geometric.nn import RGCNConv
        >>> data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]))
        >>> data.edge_type = torch.tensor([0, 1])
        >>> model_inputs(RGCNConv(1, 1, 2), data)
        Inputs(edges=('edge_type',), nodes=(), whole=())
    """
    left_out = ("x", "edge_index", "num_nodes", "graph_of_node", *_TARGETS)
    levels = {
        name: _level(data, name, value)
        for name, value in data
        if name not in left_out and value is not None
    }
    of_edges = [name for name in EDGE_INPUTS if name in levels]
    if _is_a(model, GNN):
        return Inputs(tuple(edge_inputs(model, of_edges, directed)))
    assert isinstance(model, nn.Module)
    signature = ForwardSignature.from_module(model)
    signature.check()
    if signature.graph in levels or signature.graph in _NODE_INPUTS:
        raise InputError(
            f"a {signature.kind} has {signature.text}, expected a parameter edge_index"
        )
    if signature.undeclared:
        values = [n for n, level in levels.items() if level != "whole" and n not in _IDS]
        if values:
            raise signature.undeclared_error(values[0])
    of_edges += [n for n, level in levels.items() if level == "edges" and n not in of_edges]
    taken = edge_inputs(model, of_edges, directed)
    named = [name for name in signature.names if name in levels and takes(model, name)]
    _check_pruned(data, signature, named)
    inputs = Inputs(
        tuple(taken),
        tuple(name for name in named if levels[name] == "nodes"),
        tuple(name for name in named if levels[name] == "whole"),
    )
    check_given(model, [*inputs.edges, *inputs.nodes, *inputs.whole])
    return inputs


def check_given(model: nn.Module, given: Iterable[str]) -> None:
    """Raise if a module requires a missing input, or does not take a given one.

    Example:
        >>> class Own(nn.Module):
        ...     def forward(self, x, edge_index, edge_attr): return x
        >>> check_given(Own(), [])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Own needs edge_attr, expected data with it
    """
    signature, given = ForwardSignature.from_module(model), list(given)
    signature.check()
    for name in given:
        if name not in signature.names and not signature.open:
            raise InputError(
                f"a {signature.kind} has {signature.text}, expected a parameter {name}"
            )
    for name, required in signature.names.items():
        if required and name in _TARGETS:
            raise InputError(
                f"a {signature.kind} needs {name}, which is missing at prediction, "
                "expected a forward without it"
            )
        if required and name not in (*given, *DERIVED):
            raise InputError(f"a {signature.kind} needs {name}, expected data with it")


def _level(data: Data, name: str, value: Any) -> str:
    """Return the level of a value: ``edges``, ``nodes`` or ``whole`` graph."""
    columns, num_nodes = data.edge_index.size(1), data.x.size(0)
    if name in LINK_FIELDS:
        return "whole"
    if name in EDGE_INPUTS or (isinstance(value, Tensor) and name.startswith("edge_")):
        return "edges"
    if name in _NODE_INPUTS:
        return "nodes"
    if isinstance(value, Tensor):
        rows = value.size(0) if value.dim() else None
    else:
        rows = len(value) if isinstance(value, list | tuple) else None
    if rows == num_nodes and not (rows == columns and "edge" in name):
        return "nodes"
    return "edges" if rows is not None and rows == columns else "whole"


def _check_pruned(data: Data, signature: ForwardSignature, names: list[str]) -> None:
    """Raise if a module takes a second form of the graph, which is not pruned."""
    for name in names:
        value = data[name]
        second = name in ("adj", "adj_t")
        if isinstance(value, Tensor):
            pairs = value.dim() == 2 and value.size(0) == 2
            whole = not value.is_floating_point() and not value.is_complex()
            second |= value.layout != torch.strided  # or a list, such as full_edge_index
            second |= name.endswith("edge_index") and pairs and whole
        if second:
            raise InputError(
                f"a {signature.kind} takes {name}, which is not pruned with the edges, expected a "
                "forward that takes the graph as edge_index only"
            )


def _is_a(model: nn.Module | type[nn.Module], kind: type) -> bool:
    return issubclass(model, kind) if isinstance(model, type) else isinstance(model, kind)
