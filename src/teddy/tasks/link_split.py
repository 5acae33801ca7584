"""Link splits: training edges, held-out edges and negative pairs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS, check_graph, check_masks
from teddy.data.splits import shares_of
from teddy.data.targets import Links, Targets
from teddy.errors import InputError
from teddy.graph.canonical import check_edge_values, check_edges
from teddy.graph.edges import Edges
from teddy.sparsity import check_seed
from teddy.tasks.node_pairs import Keys, draw_no_edges, pair_keys, pairs_of

#: Default percentages of training, validation and test edges.
SPLIT = "85/5/10"

#: Name of the task.
LINKS = "link-prediction"

# Values of edges, and names.
_OF_EDGES, _NAMES = ("edge_weight", "edge_attr"), ("name", "node_ids", "feature_names")


def split_links(
    data: Data, val: float = 0.05, test: float = 0.1, seed: int = 0, source: str = "data"
) -> Data:
    """Hold out edges of an undirected graph for link prediction, and draw negative pairs.

    Every edge is a positive link and has a negative one, a pair without an edge. Negatives of
    validation and test have no edge in the whole graph. Those of training have none among the
    *training* edges and depend only on these and the seed, so that no held-out edge influences
    training: a few of them may be held-out edges.

    Args:
        data: ``x`` and ``edge_index``, with edges in any order; optionally ``edge_weight`` and
            ``edge_attr``. Node labels are dropped.
        val: Share of validation edges.
        test: Share of test edges.
        seed: Seed of the split.
        source: Name of the data in messages.

    Returns:
        ``x``; ``edge_index`` of the training edges, both directions, and of all self-loops, with
        edge values; the links ``edge_label_index`` int64 ``[2, P]`` and ``edge_label`` float
        ``[P]`` (1: an edge); ``train_mask``, ``val_mask``, ``test_mask`` bool ``[P]``; ``split``,
        ``split_seed`` and the names of the graph.

    Example:
        >>> import teddy
        >>> links = split_links(teddy.load_dataset("citeseer"))
        >>> links.num_edges // 2, links.edge_label_index.shape, links.split
        (3869, torch.Size([2, 9104]), '85/5/10')
        >>> [int(links[mask].sum()) for mask in ("train_mask", "val_mask", "test_mask")]
        [7738, 456, 910]
    """
    for name, share in (("val", val), ("test", test)):
        if not isinstance(share, float | int) or not 0 < share < 1:
            raise InputError(f"{name} is {share}, expected a share of edges above 0 and below 1")
    if val + test >= 1:
        raise InputError(f"val and test are {val} and {test}, expected less than 1 together")
    seed, graph = check_seed(seed), _unlabelled(data, source)
    num_nodes = graph.x.size(0)
    values = {
        name: check_edge_values(name, graph[name], graph.edge_index.size(1), source)
        for name in _OF_EDGES
        if name in graph
    }
    values |= _further(graph)
    messages = Edges.from_edge_index(graph.edge_index, num_nodes, values, self_loops=True).messages
    index, values = messages.index, dict(messages.values)
    edges = pair_keys(index[:, index[0] < index[1]])
    counts = [round(val * edges.size), round(test * edges.size)]
    if 0 in counts or sum(counts) >= edges.size:
        raise InputError(
            f"{source}: {edges.size} edges are too few for shares of {val:g} and {test:g}, with "
            f"{counts[0]} for validation and {counts[1]} for testing, expected one for each part"
        )
    order = np.random.default_rng((seed, 0)).permutation(edges.size)
    held_out, trained = edges[order[: sum(counts)]], np.sort(edges[order[sum(counts) :]])
    negatives = draw_no_edges(edges, num_nodes, held_out.size, (seed, 1))
    train_negatives = draw_no_edges(trained, num_nodes, trained.size, (seed, 2))
    parts = [(trained, train_negatives)]
    parts += zip(*(np.split(keys, [counts[0]]) for keys in (held_out, negatives)), strict=True)
    loop = index[0] == index[1]
    kept = torch.from_numpy(np.isin(pair_keys(index), trained)).to(index.device) | loop
    split = Data(
        x=graph.x,
        edge_index=index[:, kept],
        **{name: value[kept] for name, value in values.items()},
        **_listed(parts),
        num_nodes=num_nodes,
        **{name: graph[name] for name in _NAMES if name in graph},
        **_of_nodes(graph),
        split=_percentages(val, test),
        split_seed=seed,
    )
    return split.to(graph.x.device)


def links_of(train: Data, val: Data, test: Data) -> Data:
    """Join the three graphs of PyG's ``RandomLinkSplit`` to one with all links.

    Args:
        train: Graph with ``x``, messages ``edge_index`` and training links.
        val: Graph with validation links.
        test: Graph with test links.

    Returns:
        Graph with the fields of :func:`split_links`.

    Example:
        >>> import teddy
        >>> from torch_geometric.transforms import RandomLinkSplit
        >>> data = teddy.load_dataset("citeseer")
        >>> links = links_of(*RandomLinkSplit(is_undirected=True)(data))
        >>> check_links(links).edge_label_index.shape
        torch.Size([2, 9104])
    """
    parts = (train, val, test)
    for part, name in zip(parts, ("train", "val", "test"), strict=True):
        for key in LINK_FIELDS:
            if not isinstance(part, Data) or key not in part:
                raise InputError(f"{name} has no {key}, expected the graphs of RandomLinkSplit")
    sizes = torch.tensor([part.edge_label.numel() for part in parts])
    part_of = torch.arange(3).repeat_interleave(sizes).to(train.edge_label.device)
    fields = {key: train[key] for key in ("x", "edge_index", *_OF_EDGES, *_NAMES) if key in train}
    fields |= {**_further(train), **_of_nodes(train)}
    return Data(
        **fields,
        edge_label_index=torch.cat([part.edge_label_index for part in parts], dim=1),
        edge_label=torch.cat([part.edge_label.float() for part in parts]),
        **{mask: part_of == place for place, mask in enumerate(MASKS)},
        num_nodes=train.num_nodes,
    )


def check_links(
    data: Data, source: str = "data", labelled: bool = True, targets: Targets | None = None
) -> Data:
    """Return a checked graph with links, or raise.

    ``y`` has a row for each link, float ``[P, 1]``. Training must not contain held-out links: no
    positive one may be an edge or a positive training link. No test link may be a validation
    link, and no negative link an edge.

    Args:
        data: Graph with the fields of :func:`split_links`.
        source: Name of the data in messages.
        labelled: Whether to check labels and masks, or pairs only.
        targets: Checks of labels; by default 0 and 1, with a check for leaks.

    Example:
        >>> links = Data(x=torch.eye(3), edge_index=torch.tensor([[0, 1], [1, 2]]),
        ...     edge_label_index=torch.tensor([[0, 0, 2, 0, 1, 0], [1, 2, 1, 2, 2, 2]]),
        ...     edge_label=torch.tensor([1, 0, 1, 0, 1, 0]),
        ...     **{mask: torch.tensor([0, 0, 1, 1, 2, 2]) == i for i, mask in enumerate(MASKS)})
        >>> check_links(links)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: 2 of the 2 positive validation and test links are in
        edge_index, expected none: messages would use held-out links
    """
    graph, num_nodes = _unlabelled(data, source), data.x.size(0)
    if graph is data:
        graph = copy.copy(data)
    if "edge_label_index" not in graph:
        raise InputError(
            f"{source}: has no edge_label_index, expected the result of teddy.split_links(data)"
        )
    pairs = check_edges(graph.edge_label_index, num_nodes, source, "edge_label_index")
    loops = pairs[0] == pairs[1]
    if loops.any():
        link = int(loops.nonzero()[0])
        raise InputError(
            f"{source}: edge_label_index[:, {link}] is node {int(pairs[0, link])} twice, expected "
            "two different nodes"
        )
    graph.edge_label_index = pairs
    if not labelled:
        return graph
    targets = targets or Links()
    graph.y = targets.check(graph.get("edge_label"), pairs.size(1), source)
    check_masks(graph, source, targets)
    if isinstance(targets, Links):
        _check_unknown(graph, source)
    return graph


def with_links(data: Data, split: str | None = None, seed: int = 0, source: str = "data") -> Data:
    """Return a graph with its links, or with those of a drawn split.

    Args:
        data: The graph.
        split: Percentages of training, validation and test edges, by default :data:`SPLIT`; None
            for a graph with links.
        seed: Seed of the split.
        source: Name of the data in messages.

    Example:
        >>> import teddy
        >>> with_links(teddy.load_dataset("citeseer"), "70/10/20").num_edges // 2
        3187
    """
    if not isinstance(data, Data):
        raise InputError(f"{source}: is a {type(data).__name__}, expected a Data for {LINKS}")
    if "edge_label_index" in data:
        if split is not None:
            raise InputError(f"{source}: has links already, expected no split '{split}'")
        return data
    _, val, test = shares_of(split or SPLIT, f"percentages of edges such as '{SPLIT}'")
    return split_links(data, float(val / 100), float(test / 100), seed, source)


def _further(graph: Data) -> dict[str, Tensor]:
    """Return further edge values that are equal in both directions."""
    values = {}
    for name, value in graph:
        if name in (*_OF_EDGES, *LINK_FIELDS, *MASKS, "edge_index") or not _rows(
            value, graph.edge_index.size(1)
        ):
            continue
        if not _rows(value, graph.x.size(0)) or "edge" in name:
            with suppress(InputError):
                Edges.from_edge_index(graph.edge_index, graph.x.size(0), {name: value})
                values[name] = value
    return values


def _of_nodes(graph: Data) -> dict[str, Tensor]:
    """Return further values of nodes."""
    left_out = ("x", "y", *LINK_FIELDS, *MASKS, *_NAMES, *_OF_EDGES)
    return {
        name: value
        for name, value in graph
        if name not in left_out and "edge" not in name and _rows(value, graph.x.size(0))
    }


def _rows(value: Any, count: int) -> bool:
    return isinstance(value, Tensor) and value.dim() > 0 and value.size(0) == count


def _percentages(val: float, test: float) -> str:
    """Return the exact percentages as the name of a split."""
    held = [100 * Decimal(str(share)) for share in (val, test)]
    return "/".join(f"{share.normalize():f}" for share in (100 - held[0] - held[1], *held))


def _unlabelled(data: Data, source: str = "data") -> Data:
    """Return the checked graph without node labels."""
    if isinstance(data, Data) and "y" in data:
        data = copy.copy(data)
        del data.y
    return check_graph(data, source, labelled=False, integers=True)


def _listed(parts: Sequence[tuple[Keys, Keys]]) -> dict[str, Any]:
    """Return links and masks of positive and negative pairs of the three parts."""
    lengths = torch.tensor([keys.size for part in parts for keys in part])
    place = torch.arange(2 * len(parts)).repeat_interleave(lengths)
    return {
        "edge_label_index": pairs_of(np.concatenate([keys for part in parts for keys in part])),
        "edge_label": (place % 2 == 0).float(),
        **{mask: place // 2 == number for number, mask in enumerate(MASKS)},
    }


def _check_unknown(graph: Data, source: str) -> None:
    edges = pair_keys(graph.edge_index[:, graph.edge_index[0] != graph.edge_index[1]])
    positive, links = graph.y[:, 0] == 1, graph.edge_label_index
    train, val, test = (pair_keys(links[:, graph[mask] & positive]) for mask in MASKS)
    used = graph.train_mask | graph.val_mask | graph.test_mask
    negative, held_out = pair_keys(links[:, used & ~positive]), np.concatenate([val, test])
    held_out_negative = pair_keys(links[:, (graph.val_mask | graph.test_mask) & ~positive])
    positives = "positive validation and test links"
    for checked, what, others, where, why in (
        (held_out, positives, edges, "in edge_index", "messages would use held-out links"),
        (held_out, positives, train, "among the training links", "training would see them"),
        (test, "positive test links", val, "among the validation links",
         "they would choose the epoch"),
        (negative, "negative links (edge_label 0)", edges, "in edge_index", "they are edges"),
        (held_out_negative, "negative validation and test links", held_out,
         "among the positive ones", "they contradict each other"),
    ):  # fmt: skip
        count = int(np.isin(checked, others).sum())
        if count:
            raise InputError(
                f"{source}: {count} of the {checked.size} {what} are {where}, expected none: {why}"
            )
