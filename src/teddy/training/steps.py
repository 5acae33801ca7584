"""The steps of an epoch on all nodes at once, or on nodes of a model that takes some."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from teddy.tasks.objective import Objective
from teddy.training.batches import Batches
from teddy.training.runner import Runner


class Steps(ABC):
    """How an epoch learns."""

    @abstractmethod
    def epoch(self, index: int) -> float:
        """Do the steps of an epoch; return the mean of their losses."""


class GraphSteps(Steps):
    """Steps on the whole graph.

    Args:
        runner: Runs the network on the graph.
        objective: What is minimised.
        batches: The nodes of each step.
        optimizer: Makes a step.
        regularizer: From the logits to a term to add to the loss.
        after_step: Called after every step.
        check_width: Raises if a step's logits are too few for the targets.
    """

    def __init__(
        self,
        runner: Runner,
        objective: Objective,
        batches: Batches,
        optimizer: torch.optim.Optimizer,
        regularizer: Callable[[Tensor], Tensor] | None,
        after_step: Callable[[], None] | None,
        check_width: Callable[[Tensor], None],
    ) -> None:
        self.runner, self.objective = runner, objective
        self.batches, self.optimizer, self.check_width = batches, optimizer, check_width
        self.regularizer, self.after_step = regularizer, after_step

    def epoch(self, index: int) -> float:
        """Do the steps of an epoch; return the mean of their losses."""
        losses = []
        for nodes in self.batches:
            z = self.runner.training_logits(nodes)
            loss_of = self.objective if nodes is None else self.objective.of(nodes)
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
