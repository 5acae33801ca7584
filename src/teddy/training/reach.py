"""How far a module looks: the hops from a node to all that its output depends on."""

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

# Nodes whose outputs are compared with a full pass.
_COMPARED = 32
_MORE_HOPS = 3
_TOLERANCE = 1e-4


def find_hops(
    whole: ModuleAdapter,
    has_neighbours: NDArray[Any],
    one_output: OneOutput,
    instead: str,
    hops: int | None = None,
) -> tuple[int, Tensor]:
    """Return the fewest hops from which a module's outputs equal those of the whole graph.

    A number of hops is proved by a node whose neighbourhood extends beyond them. Without one, it is
    one more than the message passings of a pass, since a change of the graph may bring such a node.

    Args:
        whole: The module on the whole graph.
        has_neighbours: bool ``[N]``.
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
    shuffled = np.random.default_rng(0).permutation(has_neighbours.size)
    nodes = shuffled[np.argsort(~has_neighbours[shuffled], kind="stable")][:_COMPARED]
    expected = outputs[torch.from_numpy(nodes)]
    tries = range(max(passings, 1), passings + _MORE_HOPS + 1) if hops is None else [hops]
    scale = max(1.0, float(expected.abs().max())) if nodes.size else 1.0
    for number in tries:
        found = [one_output(int(node), number) for node in nodes]
        rows, ends = torch.cat([expected[:0], *(row for row, _ in found)]), all(e for _, e in found)
        off = float((rows - expected).abs().max()) if nodes.size else 0.0
        if off <= _TOLERANCE * scale and (hops is not None or number > passings or not ends):
            return number, outputs
    raise InputError(
        f"outputs of a {type(whole.network).__name__} from {number} hops differ from a pass over "
        f"the whole graph by {off:.1e}, expected a module that looks at a node's neighbourhood "
        f"alone, or more hops (hops=...); else {instead}"
    )


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
