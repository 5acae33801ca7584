"""The module that is called for a network: it takes ``x``, ``edge_index`` and values by name."""

from __future__ import annotations

from collections.abc import Collection

from torch import nn

from teddy.models.graph_head import ByBatch
from teddy.models.hetero import HeteroModel


def as_called(
    network: nn.Module, target: str | None = None, names: Collection[str] = ()
) -> nn.Module:
    """Return the module that is called for a network.

    Args:
        network: The network that a ticket holds.
        target: Node type that is predicted, of a heterogeneous graph.
        names: Names of its inputs; ``graph_of_node`` among them: it reads graphs out itself.

    Example:
        >>> as_called(nn.Linear(1, 2))
        Linear(in_features=1, out_features=2, bias=True)
        >>> as_called(nn.Linear(1, 2), "paper").target
        'paper'
    """
    if target is not None:
        return HeteroModel(network, target)
    return ByBatch(network) if "graph_of_node" in names else network
