"""Heads: maps from node outputs to logits of links or graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models.base import GNN
from teddy.models.edge_inputs import takes
from teddy.models.layered import LayeredGNN
from teddy.models.own_module import ForwardSignature

#: Pooling functions of a readout.
READOUTS = ("mean", "sum", "max")


class Head(nn.Module, ABC):
    """Map without weights from node outputs to logits of links or graphs.

    Its tensors belong to the data and are buffers that are not saved (``persistent=False``).
    """

    @abstractmethod
    def part(self, drawn: Tensor, num_nodes: int) -> tuple[Tensor, Head]:
        """Return the rows whose nodes are all in a mini-batch, and their head.

        Args:
            drawn: Nodes or rows of the mini-batch, int64.
            num_nodes: Number of nodes of the whole graph.
        """

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """Return the content of the head for a file: tensors and texts by name."""


class LinkHead(Head):
    r"""The inner product of both ends' outputs, :math:`z_u^\top z_v` (`Kipf and Welling 2016
    <https://arxiv.org/abs/1611.07308>`_), as the logit of a link.

    Args:
        pairs: End nodes of the links, int64 ``[2, P]``.

    Example:
        >>> outputs = torch.tensor([[1.0, 2.0], [3.0, 0.0], [0.0, -1.0]])
        >>> LinkHead(torch.tensor([[0, 0], [1, 2]]))(outputs)
        tensor([[ 3.],
                [-2.]])
    """

    pairs: Tensor

    def __init__(self, pairs: Tensor) -> None:
        super().__init__()
        self.register_buffer("pairs", pairs, persistent=False)

    def forward(self, outputs: Tensor) -> Tensor:
        """Return logits ``[P, 1]`` of outputs ``[N, D]``."""
        # index_select, not [pairs]: its gradient is summed in one order for any number of threads.
        source, target = (outputs.index_select(0, end) for end in self.pairs)
        return (source * target).sum(dim=1, keepdim=True)

    def part(self, drawn: Tensor, num_nodes: int) -> tuple[Tensor, LinkHead]:
        """Return the links with both ends among these nodes, and their head.

        Example:
            >>> head = LinkHead(torch.tensor([[0, 0], [1, 2]]))
            >>> rows, own = head.part(torch.tensor([0, 2]), num_nodes=3)
            >>> rows.tolist(), own.pairs.tolist()
            ([1], [[0], [1]])
        """
        ends = places(drawn, num_nodes)[self.pairs.to(drawn.device)]
        rows = (ends >= 0).all(dim=0).nonzero().flatten()
        return rows, type(self)(ends[:, rows])

    def fields(self) -> dict[str, Any]:
        """Return the pairs."""
        return {"pairs": self.pairs}


class Readout(Head):
    r"""The mean of the outputs of each graph's nodes, :math:`\frac{1}{|V_g|} \sum_{v \in V_g} z_v`.

    Args:
        kind: ``mean``; or ``sum`` or ``max``, of each output by itself.
        graph_of_node: Graph of each node, int64 ``[N]``, if all calls use the same graphs.

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
        """Return logits ``[G, C]`` of outputs ``[N, C]``.

        Args:
            outputs: Outputs of nodes.
            graph_of_node: Graph of each node, int64 ``[N]``, ascending, without gaps; None: that
                of the constructor.
        """
        graph_of_node = self.graph_of_node if graph_of_node is None else graph_of_node
        assert graph_of_node is not None
        lengths = torch.bincount(graph_of_node)
        return torch.segment_reduce(outputs, self.kind, lengths=lengths, axis=0)

    def part(self, drawn: Tensor, num_nodes: int) -> tuple[Tensor, Readout]:
        """Return the rows unchanged, since mini-batches consist of whole graphs."""
        return drawn, self

    def fields(self) -> dict[str, Any]:
        """Return the kind, and the graph of each node."""
        return {"readout": self.kind, "graph_of_node": self.graph_of_node}


def places(nodes: Tensor, num_nodes: int) -> Tensor:
    """Return the index of each node in a list of nodes, int64 ``[N]``; -1: not in it.

    Example:
        >>> places(torch.tensor([2, 0]), 3)
        tensor([ 1, -1,  0])
    """
    place = nodes.new_full((num_nodes,), -1)
    place[nodes] = torch.arange(nodes.numel(), device=nodes.device)
    return place


def head_from(fields: dict[str, Any]) -> nn.Module:
    """Return the head with these :meth:`Head.fields`; the identity without any.

    Example:
        >>> head_from({"readout": "sum", "graph_of_node": torch.tensor([0, 0, 1])}).kind
        'sum'
    """
    if "readout" in fields:
        return Readout(fields["readout"], fields["graph_of_node"])
    return nn.Identity() if fields.get("pairs") is None else LinkHead(fields["pairs"])


def readout_for(
    network: nn.Module, readout: str = "mean", graph_of_node: Tensor | None = None
) -> Readout | None:
    """Return the readout of a network of nodes; None for a module that takes ``batch``.

    Args:
        network: Built-in model of layers, or a module with ``forward(x, edge_index)``, optionally
            ``batch``.
        readout: Kind of the :class:`Readout`.
        graph_of_node: Graph of each node, if all calls use the same graphs.

    Example:
        >>> from teddy.models import GCN
        >>> readout_for(GCN(3, 2, hidden_channels=4), "max").kind
        'max'
    """
    head = Readout(readout, graph_of_node)
    if isinstance(network, GNN):
        if isinstance(network, LayeredGNN):
            return head
        raise InputError(
            f"a {type(network).__name__} does not support a set of graphs, expected a model of "
            "layers (gcn, gat, gin, sage, unimp) or a module for a set of graphs"
        )
    if ForwardSignature.from_module(network).undeclared:
        raise ForwardSignature.from_module(network).undeclared_error("batch")
    if not takes(network, "batch"):
        return head
    if readout != "mean":
        raise InputError(
            f"readout is '{readout}', but a {type(network).__name__} takes batch and pools nodes "
            "itself, expected no readout"
        )
    return None
