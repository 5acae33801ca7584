"""A search where links or graphs are predicted, not nodes."""

from __future__ import annotations

from dataclasses import replace

from teddy.methods.model_source import ModelLike
from teddy.methods.problem import Problem
from teddy.training import TrainConfig


class HeadedProblem(Problem):
    """A graph, an encoder of its nodes, and a head that makes predictions of what it gives.

    ``y`` and the masks have a row for each thing that is predicted; the ticket holds the encoder.
    The dense model teaches those of the training only (``distill_nodes`` is ``training``): the
    others are what is asked.

    Args:
        data: The graph.
        model: A name, a module, or a function that makes one: the encoder.
        settings: The settings tree.
        named: Further arguments of :class:`Problem`.
    """

    def _config(self, config: TrainConfig, model: ModelLike) -> TrainConfig:
        return super()._config(replace(config, distill_nodes="training"), model)
