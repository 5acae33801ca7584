"""Modules that remember a graph from one call to the next, in a cache of their own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.errors import InputError, warn
from teddy.training.runner import Runner
from teddy.training.seeding import seeded


def check_computes_afresh(
    make: Callable[[], nn.Module], head: nn.Module | None, whole: Data, part: Data
) -> None:
    """Raise if a module that has seen a graph gives other logits on the next one.

    The caches of PyG's layers are emptied anyway; one that a user has written can't be known. So a
    module that has seen the whole graph is compared with one that hasn't, on a part of its edges.

    Args:
        make: Makes the module, each time with the same weights.
        head: From its outputs to logits; None: they are the logits.
        whole: A graph.
        part: The same with fewer edges.

    Raises:
        InputError: if it remembers what it has seen.

    Warns:
        TeddyWarning: if the edges change nothing, as with a cache that was filled before.
    """

    def logits(module: nn.Module, data: Data) -> Tensor:
        with seeded(0, data.x.device):
            return Runner.from_data(module, data, head=head).evaluation_logits()

    experienced = make()
    name, before = type(experienced).__name__, logits(experienced, whole)
    found, expected = logits(experienced, part), logits(make(), part)
    if not torch.allclose(found, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max())):
        raise InputError(
            f"a {name} that has seen a graph gives other logits on the next one, expected a module "
            "that remembers none: no cache of its own"
        )
    if torch.equal(before, found) and bool(before.any()):
        warn(
            f"a {name} gives the same logits with half of the edges: it takes no notice of "
            "edge_index, or has a cache of its own that was filled before"
        )
