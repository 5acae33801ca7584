"""Which nodes a step of training takes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.masked import Masked


class Batches:
    """The steps of an epoch: one of all nodes (None), or one for each batch, drawn anew.

    Args:
        model: Its ``batch_size`` decides; 0: all nodes.
        nodes: Those that there is something to learn from.

    Example:
        >>> list(Batches(nn.Linear(1, 1), torch.arange(3)))
        [None]
    """

    def __init__(self, model: nn.Module, nodes: Tensor) -> None:
        network = model.model if isinstance(model, Masked) else model
        self.size = network.batch_size if isinstance(network, GNN) else 0
        self.nodes = nodes
        if self.size and isinstance(model, Masked):
            raise InputError("masks are learned on all nodes at once, expected a batch of 0")

    def __iter__(self) -> Iterator[Tensor | None]:
        if not self.size:
            yield None
            return
        order = torch.randperm(self.nodes.numel()).to(self.nodes.device)
        yield from self.nodes[order].split(self.size)
