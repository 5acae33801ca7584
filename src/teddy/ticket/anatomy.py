"""What is left of a ticket's network and graph, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from teddy.graph import Edges, GraphHealth, graph_health
from teddy.ticket.info import Count


def parameter_counts(parameters: Mapping[str, Tensor]) -> dict[str, Count]:
    """Entries of each parameter, and those that aren't zero.

    Example:
        >>> import torch
        >>> parameter_counts({"weights.0": torch.tensor([0.0, 2.0])})
        {'weights.0': Count(total=2, kept=1)}
    """
    return {name: Count(p.numel(), int((p != 0).sum())) for name, p in parameters.items()}


def layer_counts(counts: Mapping[str, Count]) -> dict[str, Count]:
    """The same for each layer, by the names of the parameters.

    The i-th entries of lists of parameters, as our models have them, are of one layer; of a module
    made of others, each of these is a layer, and each entry of a list of them.

    Example:
        >>> some = Count(4, 1)
        >>> layer_counts({"weights.0": some, "weights.1": some, "readouts.0": some, "eps": some})
        {'layer 1': Count(total=8, kept=2), 'layer 2': Count(total=4, kept=1), 'eps': Count(...)}
        >>> list(layer_counts({"conv1.lin.weight": some, "conv1.bias": some, "heads.0.lin": some}))
        ['conv1', 'heads.0']
    """
    layers: dict[str, Count] = {}
    for name, count in counts.items():
        layer = _layer(name.split("."))
        before = layers.get(layer, Count(0, 0))
        layers[layer] = Count(before.total + count.total, before.kept + count.kept)
    return layers


def _layer(parts: list[str]) -> str:
    if len(parts) == 2 and parts[1].isdecimal():
        return f"layer {int(parts[1]) + 1}"
    if len(parts) > 2 and parts[1].isdecimal():
        return f"{parts[0]}.{parts[1]}"
    return parts[0]


@dataclass(frozen=True)
class NodeLoss:
    """A node, by its id, and how many edges it has before and after."""

    node: int | str
    before: int
    after: int


@dataclass(frozen=True)
class GraphAnatomy:
    """What a ticket leaves of a graph.

    Attributes:
        before: The graph's health, whole.
        after: The same with the kept edges only.
        hubs: The nodes that lost most edges, most first; of equals, those with more to begin with.
        num_stranded: How many nodes had edges and have none now.
        stranded: The first few of them, those that had most edges first.
    """

    before: GraphHealth
    after: GraphHealth
    hubs: list[NodeLoss]
    num_stranded: int
    stranded: list[NodeLoss]


def graph_anatomy(
    graph: Edges,
    keep: Tensor,
    y: Tensor | None = None,
    ids: Sequence[int | str] | None = None,
    first: int = 10,
) -> GraphAnatomy:
    """Say what a choice of edges leaves of a graph.

    Args:
        graph: The whole.
        keep: bool ``[M]``, the edges that stay.
        y: Classes of the nodes, -1 where there is none.
        ids: What the nodes are called; by default their numbers.
        first: How many nodes to list.

    Example:
        >>> import torch
        >>> star = Edges(5, torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> found = graph_anatomy(star, torch.tensor([True, False, False]))
        >>> found.hubs[0], found.num_stranded
        (NodeLoss(node=0, before=3, after=1), 2)
        >>> found.before.isolated, found.after.isolated
        (1, 3)
    """
    pruned = Edges(graph.num_nodes, graph.pairs[:, keep])
    names = range(graph.num_nodes) if ids is None else ids
    before, after = graph.degree.cpu().numpy(), pruned.degree.cpu().numpy()
    most_lost = np.lexsort((-before, after - before))  # stable: equals by their numbers
    lost = most_lost[before[most_lost] > after[most_lost]]
    stranded = lost[after[lost] == 0]

    def listed(nodes: NDArray[np.int64]) -> list[NodeLoss]:
        return [NodeLoss(names[i], int(before[i]), int(after[i])) for i in nodes[:first].tolist()]

    return GraphAnatomy(
        before=graph_health(graph, y=y),
        after=graph_health(pruned, y=y),
        hubs=listed(lost),
        num_stranded=len(stranded),
        stranded=listed(stranded),
    )
