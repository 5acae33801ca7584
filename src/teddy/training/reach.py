"""Receptive field of a module: the hops from a node to all that its output depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.nn import MessagePassing

from teddy.errors import InputError
from teddy.sparsity import check_count
from teddy.training.adapters import ModuleAdapter

#: Output of one node from some hops, and whether nothing lies beyond them.
OneOutput = Callable[[int, int], tuple[Tensor, bool]]

# Nodes whose outputs are compared with a full pass: those of most neighbours, and random ones.
_COMPARED = 32
_MORE_HOPS = 3
_TOLERANCE = 1e-4


def find_hops(
    whole: ModuleAdapter,
    neighbours: NDArray[Any],
    one_output: OneOutput,
    instead: str,
    hops: int | None = None,
) -> tuple[int, Tensor]:
    """Return the fewest hops from which a module's outputs equal those of the whole graph.

    A number of hops is proved by a node whose neighbourhood extends beyond them. Without one, it is
    one more than the message passings of a pass, since a change of the graph may bring such a node.

    Args:
        whole: The module on the whole graph.
        neighbours: Number of neighbours of each node.
        one_output: Output of a node from some hops. Nodes are asked one by one: what a node lacks
            may be in the neighbourhood of another.
        instead: What to do with a module that has no such number, for the message.
        hops: The number, if it is known; it is checked.

    Returns:
        The hops, and the outputs of the whole graph.
    """
    if hops is not None:
        check_count(hops, "hops")
    outputs, passings = _counted_pass(whole)
    nodes = _compared(neighbours)
    expected = outputs[torch.from_numpy(nodes)]
    scale = max(float(expected.abs().max()), 1e-30) if nodes.size else 1.0
    tries = range(max(passings, 1), passings + _MORE_HOPS + 1) if hops is None else [hops]
    kind = type(whole.network).__name__
    for number in tries:
        off, ends = 0.0, True
        for node, row in zip(nodes, expected, strict=True):
            found, ended = one_output(int(node), number)
            off, ends = float((found[0] - row).abs().max()), ends and ended
            if not off <= _TOLERANCE * scale:
                break
        else:
            if hops is not None or not ends or 0 < passings < number:
                return number, outputs
            if passings == 0:
                raise InputError(
                    f"how far a {kind} looks cannot be told, since no neighbourhood extends beyond "
                    f"{number} hops, expected hops=... (1 for each time that it reads neighbours, "
                    "and 1 if it reads their degrees)"
                )
    raise InputError(
        f"outputs of a {kind} from {number} hops differ from a pass over the whole graph by "
        f"{off:.1e}, expected a module that looks at a node's neighbourhood alone, or more hops "
        f"(hops=...); else {instead}"
    )


def _compared(neighbours: NDArray[Any]) -> NDArray[Any]:
    """Nodes to compare: half of them with the most neighbours, half at random."""
    shuffled = np.random.default_rng(0).permutation(neighbours.size)
    most = shuffled[np.argsort(-neighbours[shuffled], kind="stable")][: _COMPARED // 2]
    linked = shuffled[np.argsort(neighbours[shuffled] == 0, kind="stable")]
    others = linked[~np.isin(linked, most)][: _COMPARED - most.size]
    return np.concatenate([most, others])


def _counted_pass(whole: ModuleAdapter) -> tuple[Tensor, int]:
    """Outputs of a pass over the whole graph, and how many times messages are passed in it."""
    passings = 0

    def count(*_: object) -> None:
        nonlocal passings
        passings += 1

    parts = [part for part in whole.network.modules() if isinstance(part, MessagePassing)]
    hooks = [part.register_propagate_forward_pre_hook(count) for part in parts]
    try:
        return whole.evaluation_outputs(), max(passings, len(parts))
    finally:
        for hook in hooks:
            hook.remove()
