"""Training steps in full batch, or on batches of nodes of a model that supports them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.masks import Masks
from teddy.tasks.objective import Objective
from teddy.training.runner import Runner


class Steps(ABC):
    """Training steps of an epoch."""

    @abstractmethod
    def epoch(self, index: int) -> float:
        """Run the steps of an epoch, and return their mean loss."""


class GraphSteps(Steps):
    """Training steps on the whole graph.

    Args:
        runner: Forward passes of the network on the graph.
        objective: Training objective.
        batches: Nodes of each step.
        optimizer: Optimizer.
        regularizer: Function from the logits to a further term of the loss.
        after_step: Function called after every step.
        check_width: Function that raises if logits do not fit the targets.
    """

    def __init__(
        self,
        runner: Runner,
        objective: Objective,
        batches: NodeBatches,
        optimizer: torch.optim.Optimizer,
        regularizer: Callable[[Tensor], Tensor] | None,
        after_step: Callable[[], None] | None,
        check_width: Callable[[Tensor], None],
    ) -> None:
        self.runner, self.objective = runner, objective
        self.batches, self.optimizer, self.check_width = batches, optimizer, check_width
        self.regularizer, self.after_step = regularizer, after_step

    def epoch(self, index: int) -> float:
        """Run the steps of an epoch, and return their mean loss."""
        losses = []
        for nodes in self.batches:
            z = self.runner.training_logits(nodes)
            loss_of = self.objective if nodes is None else self.objective.for_nodes(nodes)
            self.check_width(z)
            loss = loss_of(z, getattr(self.runner.network, "to_predict", None))
            if self.regularizer is not None:
                loss = loss + self.regularizer(z)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.after_step is not None:
                self.after_step()
            losses.append(float(loss.detach()))
        return sum(losses) / len(losses)


class NodeBatches:
    """Nodes of the steps of an epoch: all (None) or some in one step, or random batches.

    Args:
        network: Network, with its ``batch_size`` if it computes some nodes only.
        nodes: Nodes of the objective; None: all.
        num_nodes: Number of nodes.
        head: Map from node outputs to logits, which needs all nodes.
        masks: Learned masks, which need all nodes.

    Example:
        >>> list(NodeBatches(nn.Linear(1, 1), torch.arange(2), 3))
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
            raise InputError("learned masks need all nodes in a step, expected batch=0")
        if self.size and head is not None:
            raise InputError("links and graphs need all nodes in a step, expected batch=0")
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
