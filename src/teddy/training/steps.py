"""The steps of an epoch on all nodes at once, or on nodes of a model that takes some."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.training.batches import Batches
from teddy.training.forward import Forward, NodeForward
from teddy.training.objective import Objective


class Steps(ABC):
    """How an epoch learns."""

    @abstractmethod
    def epoch(self, index: int) -> float:
        """Do the steps of an epoch; return the mean of their losses."""


class GraphSteps(Steps):
    """Steps on the whole graph.

    Args:
        network: The model, without masks.
        forward: Its passes over the graph.
        objective: What is minimised.
        batches: The nodes of each step.
        optimizer: Makes a step.
        regularizer: From the logits to a term to add to the loss.
        after_step: Called after every step.
        num_classes: That the labels have.
    """

    def __init__(
        self,
        network: nn.Module,
        forward: Forward,
        objective: Objective,
        batches: Batches,
        optimizer: torch.optim.Optimizer,
        regularizer: Callable[[Tensor], Tensor] | None,
        after_step: Callable[[], None] | None,
        num_classes: int,
    ) -> None:
        self.network, self.forward, self.objective = network, forward, objective
        self.batches, self.optimizer, self.num_classes = batches, optimizer, num_classes
        self.regularizer, self.after_step = regularizer, after_step

    def epoch(self, index: int) -> float:
        """Do the steps of an epoch; return the mean of their losses."""
        losses = []
        for nodes in self.batches:
            if nodes is None:
                z = self.forward.training_logits()
                loss_of = self.objective
            else:
                assert isinstance(self.forward, NodeForward)
                z = self.forward.training_logits(nodes)
                loss_of = self.objective.of(nodes)
            check_width(z, self.num_classes)
            loss = loss_of(z, getattr(self.network, "to_predict", None))
            if self.regularizer is not None:
                loss = loss + self.regularizer(z)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.after_step is not None:
                self.after_step()
            losses.append(float(loss.detach()))
        return sum(losses) / len(losses)


def check_width(logits: Tensor, num_classes: int) -> None:
    """Raise unless there is a logit for each class.

    Example:
        >>> check_width(torch.zeros(1, 2), 3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the model returned 2 logits, expected 3
    """
    if logits.size(1) < num_classes:
        raise InputError(f"the model returned {logits.size(1)} logits, expected {num_classes}")
