"""What a model takes of edges beside their ends: weights and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from torch import nn

from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.layered import LayeredGNN

#: What edges can have, as PyG calls it.
EDGE_INPUTS = ("edge_weight", "edge_attr")


def takes(model: nn.Module | type[nn.Module], name: str) -> bool:
    """Whether a model takes weights or attributes of edges.

    Models of ours that have layers take weights; another module takes what its forward names.

    Args:
        model: The model, or its class.
        name: ``edge_weight`` or ``edge_attr``.

    Example:
        >>> from torch_geometric.nn import GCNConv
        >>> takes(GCNConv(1, 1), "edge_weight"), takes(GCNConv(1, 1), "edge_attr")
        (True, False)
    """
    if _is_a(model, GNN):
        return name == "edge_weight" and _is_a(model, LayeredGNN)
    named = name in inspect.signature(model.forward).parameters
    # PyG's models all have the parameter; some say that they can't use it.
    return named and getattr(model, f"supports_{name}", True) is not False


def edge_inputs(
    model: nn.Module | type[nn.Module], present: Iterable[str], directed: bool = False
) -> list[str]:
    """Which of the values that a graph's edges have a model is given, or raise.

    Weights mean something, so a model that can't weigh edges is refused. Attributes are for
    modules that ask for them.

    Args:
        model: The model, or its class.
        present: Those of :data:`EDGE_INPUTS` that there are.
        directed: Whether messages are to run along one direction.

    Example:
        >>> from teddy.models import GCN
        >>> edge_inputs(GCN(1, 2), ["edge_weight", "edge_attr"])
        ['edge_weight']
    """
    kind = model.__name__ if isinstance(model, type) else type(model).__name__
    present = list(present)
    if directed and _is_a(model, GNN) and not _is_a(model, LayeredGNN):
        raise InputError(
            f"a {kind} takes the whole graph as undirected, expected directed=False, or a model "
            "of layers (gcn, gat, gin, sage, unimp)"
        )
    if "edge_weight" in present and not takes(model, "edge_weight"):
        raise InputError(
            f"a {kind} can't weigh edges, expected forward(x, edge_index, edge_weight), or data "
            "without edge_weight"
        )
    return [name for name in EDGE_INPUTS if name in present and takes(model, name)]


def check_given(model: nn.Module, given: Iterable[str]) -> None:
    """Raise if a module can't be called without weights or attributes that there aren't.

    Example:
        >>> class Own(nn.Module):
        ...     def forward(self, x, edge_index, edge_attr): return x
        >>> check_given(Own(), [])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Own needs edge_attr, expected data that have it
    """
    parameters = inspect.signature(model.forward).parameters
    for name in EDGE_INPUTS:
        needed = name in parameters and parameters[name].default is inspect.Parameter.empty
        if needed and name not in given:
            raise InputError(f"a {type(model).__name__} needs {name}, expected data that have it")


def _is_a(model: nn.Module | type[nn.Module], kind: type) -> bool:
    return issubclass(model, kind) if isinstance(model, type) else isinstance(model, kind)
