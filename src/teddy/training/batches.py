"""The nodes of each step of a training."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.masks import Masks


class Batches:
    """The steps of an epoch: one of all nodes (None), of some, or one for each batch, drawn anew.

    Args:
        network: Whether it can take some nodes by themselves, and its ``batch_size``, decide.
        nodes: Those that there is something to learn from; None: all.
        num_nodes: All that there are.
        head: From outputs of nodes to logits; it takes all nodes.
        masks: Masks that are learned, on all nodes.

    Example:
        >>> list(Batches(nn.Linear(1, 1), torch.arange(2), 3))
        [None]
    """

    def __init__(
        self,
        network: nn.Module,
        nodes: Tensor | None,
        num_nodes: int,
        head: nn.Module | None = None,
        masks: Masks | None = None,
    ) -> None:
        self.size = network.batch_size if isinstance(network, GNN) else 0
        if self.size and masks is not None:
            raise InputError("masks are learned on all nodes at once, expected a batch of 0")
        if self.size and head is not None:
            raise InputError("links or graphs take all nodes at once, expected a batch of 0")
        by_node = isinstance(network, GNN) and network.by_node and head is None and masks is None
        self.nodes = nodes if by_node else None
        if self.size and self.nodes is None:
            self.nodes = torch.arange(num_nodes)

    def __iter__(self) -> Iterator[Tensor | None]:
        if self.nodes is None or not self.size:
            yield self.nodes
            return
        order = torch.randperm(self.nodes.numel()).to(self.nodes.device)
        yield from self.nodes[order].split(self.size)
