"""The readout: from outputs of nodes to logits of graphs."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.edge_inputs import takes
from teddy.models.layered import LayeredGNN
from teddy.models.own_module import ForwardSignature

#: How the outputs of a graph's nodes become one row.
READOUTS = ("mean", "sum", "max")


class Readout(nn.Module):
    r"""The mean of the outputs of each graph's nodes, :math:`\frac{1}{|V_g|} \sum_{v \in V_g} z_v`.

    Args:
        kind: ``mean``; or ``sum`` or ``max``, of each output by itself.
        graph_of_node: int64 ``[N]``, where all calls are about the same graphs.

    Example:
        >>> outputs = torch.tensor([[1.0, 2.0], [3.0, 0.0], [0.0, -1.0]])
        >>> Readout()(outputs, torch.tensor([0, 0, 1]))
        tensor([[ 2.,  1.],
                [ 0., -1.]])
        >>> Readout("median")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: readout is 'median', expected one of: mean, sum, max
    """

    graph_of_node: Tensor | None

    def __init__(self, kind: str = "mean", graph_of_node: Tensor | None = None) -> None:
        super().__init__()
        if kind not in READOUTS:
            raise InputError(f"readout is '{kind}', expected one of: {', '.join(READOUTS)}")
        self.kind = kind
        self.register_buffer("graph_of_node", graph_of_node, persistent=False)

    def forward(self, outputs: Tensor, graph_of_node: Tensor | None = None) -> Tensor:
        """Logits ``[G, C]`` of outputs ``[N, C]``.

        Args:
            outputs: Of nodes.
            graph_of_node: int64 ``[N]``, ascending, of every graph one or more; None: those that
                the readout was made with.
        """
        graph_of_node = self.graph_of_node if graph_of_node is None else graph_of_node
        assert graph_of_node is not None
        lengths = torch.bincount(graph_of_node)
        return torch.segment_reduce(outputs, self.kind, lengths=lengths, axis=0)


def readout_for(network: nn.Module, readout: str = "mean") -> Readout | None:
    """The readout of a network of nodes; None for a module that takes ``batch``.

    Args:
        network: One of layers, or a module with ``forward(x, edge_index)``, perhaps ``batch``.
        readout: Kind of the :class:`Readout`.

    Example:
        >>> from teddy.models import GCN
        >>> readout_for(GCN(3, 2, hidden=4), "max").kind
        'max'
    """
    head = Readout(readout)
    if isinstance(network, GNN):
        if isinstance(network, LayeredGNN):
            return head
        raise InputError(
            f"a {type(network).__name__} takes one graph as a whole, expected a model of layers "
            "(gcn, gat, gin, sage, unimp) or a module for a set of graphs"
        )
    if ForwardSignature.of(network).undeclared:
        raise ForwardSignature.of(network).ask("batch")
    if not takes(network, "batch"):
        return head
    if readout != "mean":
        raise InputError(
            f"readout is '{readout}', but a {type(network).__name__} takes batch and reads out "
            "itself, expected none"
        )
    return None
