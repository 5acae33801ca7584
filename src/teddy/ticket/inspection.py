"""Inspection of a ticket: kept weights by layer, kept edges of the graph and around a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.graph import Edges, GraphHealth, graph_health
from teddy.ticket.info import Count


def parameter_counts(parameters: Mapping[str, Tensor]) -> dict[str, Count]:
    """Return the number of entries of each parameter, and of those that are not zero.

    Example:
        >>> import torch
        >>> parameter_counts({"weights.0": torch.tensor([0.0, 2.0])})
        {'weights.0': Count(total=2, kept=1)}
    """
    return {name: Count(p.numel(), int((p != 0).sum())) for name, p in parameters.items()}


def layer_counts(counts: Mapping[str, Count]) -> dict[str, Count]:
    """Sum the counts of parameters by layer, from their names.

    The i-th entries of parameter lists, as in built-in models, are one layer. In any other module
    each submodule is a layer, and so is each entry of a module list.

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
class DegreeLoss:
    """Degree of a node, given by its id, before and after pruning."""

    node: int | str
    before: int
    after: int


@dataclass(frozen=True)
class GraphComparison:
    """Health of a graph before and after pruning, and the nodes that lost most edges.

    Attributes:
        before: Health of the whole graph.
        after: Health of the pruned graph.
        hubs: Nodes that lost most edges, most first, then by original degree.
        num_stranded: Number of nodes that lost all their edges.
        stranded: The first of them, by original degree.
    """

    before: GraphHealth
    after: GraphHealth
    hubs: list[DegreeLoss]
    num_stranded: int
    stranded: list[DegreeLoss]


def compare_graphs(
    graph: Edges,
    keep: Tensor,
    y: Tensor | None = None,
    ids: Sequence[int | str] | None = None,
    first: int = 10,
) -> GraphComparison:
    """Compare a graph before and after pruning.

    Args:
        graph: Whole graph.
        keep: Mask of the kept edges, bool ``[M]``.
        y: Classes of the nodes, -1 where there is none.
        ids: Ids of the nodes; by default their numbers.
        first: Number of nodes to list.

    Example:
        >>> import torch
        >>> star = Edges(5, torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> found = compare_graphs(star, torch.tensor([True, False, False]))
        >>> found.hubs[0], found.num_stranded
        (DegreeLoss(node=0, before=3, after=1), 2)
        >>> found.before.isolated, found.after.isolated
        (1, 3)
    """
    pruned = Edges(graph.num_nodes, graph.pairs[:, keep])
    names = range(graph.num_nodes) if ids is None else ids
    before, after = graph.degree.cpu().numpy(), pruned.degree.cpu().numpy()
    most_lost = np.lexsort((-before, after - before))  # stable: equals by their numbers
    lost = most_lost[before[most_lost] > after[most_lost]]
    stranded = lost[after[lost] == 0]

    def listed(nodes: NDArray[np.int64]) -> list[DegreeLoss]:
        return [DegreeLoss(names[i], int(before[i]), int(after[i])) for i in nodes[:first].tolist()]

    return GraphComparison(
        before=graph_health(graph, y=y),
        after=graph_health(pruned, y=y),
        hubs=listed(lost),
        num_stranded=len(stranded),
        stranded=listed(stranded),
    )


#: Largest number of nodes in a picture.
MOST_NODES = 60


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes around a node, with all edges between them.

    Attributes:
        nodes: Numbers of the nodes, most relevant first, beginning with the node itself.
        hops: Distance of each node from the first.
        parents: For each node, the index in ``nodes`` of its predecessor on a shortest path,
            along a kept edge if possible; 0 for the first node.
        edges: Pairs of indices in ``nodes``.
        kept: Whether each edge is kept.
        left_out: Number of further nodes within these hops.
        degree: Degree of the node before pruning.
        degree_after: Degree of the node after pruning.
    """

    nodes: list[int]
    hops: list[int]
    parents: list[int]
    edges: list[tuple[int, int]]
    kept: list[bool]
    left_out: int
    degree: int
    degree_after: int


def neighbourhood(
    graph: Edges, keep: Tensor, node: int, hops: int = 2, most: int = MOST_NODES
) -> Neighbourhood:
    """Collect the nodes around a node of the whole graph.

    They are ordered by distance, then by whether a kept edge leads to them, by degree (highest
    first) and by number.

    Args:
        graph: Whole graph.
        keep: Mask of the kept edges, bool ``[M]``.
        node: Number of the node.
        hops: Largest distance, 1 or 2.
        most: Largest number of nodes to list.

    Example:
        >>> import torch
        >>> path = Edges(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> found = neighbourhood(path, torch.tensor([False, True, True]), 1)
        >>> found.nodes, found.hops  # 2 comes before 0: its edge stays
        ([1, 2, 0, 3], [0, 1, 1, 2])
        >>> found.edges, found.kept
        ([(0, 1), (0, 2), (1, 3)], [True, False, True])
    """
    if not 0 <= node < graph.num_nodes:
        raise InputError(f"node is {node}, expected one from 0 to {graph.num_nodes - 1}")
    if hops not in (1, 2):
        raise InputError(f"hops is {hops}, expected 1 or 2")
    low, high = graph.pairs.cpu().numpy()
    stays, degree = keep.cpu().numpy(), graph.degree.cpu().numpy()
    place = np.full(graph.num_nodes, -1)
    nodes, distance, parents, left_out = [node], [0], [0], 0
    place[node] = 0
    ring = np.array([node])
    seen = np.zeros(graph.num_nodes, bool)
    seen[node] = True
    for hop in range(1, hops + 1):
        inside = np.zeros(graph.num_nodes, bool)
        inside[ring] = True
        # Edges from the ring outwards: (near, far), whether each stays.
        out, back = inside[low] & ~seen[high], inside[high] & ~seen[low]
        near = np.concatenate([low[out], high[back]])
        far = np.concatenate([high[out], low[back]])
        lasting = np.concatenate([stays[out], stays[back]])
        # The edge that leads to a node: one that stays, from the most relevant node.
        order = np.lexsort((place[near], ~lasting, far))
        far, first = np.unique(far[order], return_index=True)
        through, leads = place[near[order][first]], lasting[order][first]
        ranked = np.lexsort((far, -degree[far], ~leads))[: max(0, most - len(nodes))]
        left_out += len(far) - len(ranked)
        seen[far] = True
        place[far[ranked]] = range(len(nodes), len(nodes) + len(ranked))
        nodes += far[ranked].tolist()
        parents += through[ranked].tolist()
        distance += [hop] * len(ranked)
        ring = far
    shown = (place[low] >= 0) & (place[high] >= 0)
    ends = np.sort([place[low[shown]], place[high[shown]]], axis=0)
    order = np.lexsort(ends[::-1])
    at_node = (low == node) | (high == node)
    return Neighbourhood(
        nodes,
        distance,
        parents,
        [(int(a), int(b)) for a, b in ends[:, order].T],
        stays[shown][order].tolist(),
        left_out,
        int(degree[node]),
        int((stays & at_node).sum()),
    )


def neighbours(graph: Edges, keep: Tensor, node: int) -> tuple[list[int], list[int]]:
    """Return the neighbours of a node by kept edges, and those by removed edges.

    They are ordered by degree, highest first, then by number.

    Example:
        >>> import torch
        >>> path = Edges(4, torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> neighbours(path, torch.tensor([False, True, True]), 1)
        ([2], [0])
    """
    low, high = graph.pairs.cpu().numpy()
    stays, degree = keep.cpu().numpy(), graph.degree.cpu().numpy()
    at_node = (low == node) | (high == node)
    others = np.where(low[at_node] == node, high[at_node], low[at_node])
    order = np.lexsort((others, -degree[others]))
    others, kept = others[order], stays[at_node][order]
    return others[kept].tolist(), others[~kept].tolist()


def find_node(name: str, ids: Sequence[int | str]) -> int:
    """Return the number of the node with an id.

    Example:
        >>> find_node("bob", ["ann", "bob"])
        1
    """
    for number, known in enumerate(ids):
        if str(known) == name:
            return number
    raise InputError(f"node is '{name}', expected an id of the graph, such as '{ids[0]}'")
