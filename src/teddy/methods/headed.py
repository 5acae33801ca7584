"""A search where links or graphs are predicted, not nodes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from torch import nn

from teddy.data.features import num_features
from teddy.methods.model_source import ModelLike
from teddy.methods.problem import Problem
from teddy.methods.record import Choice
from teddy.models.headed import Headed, encoder_of
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

    @abstractmethod
    def head(self) -> nn.Module:
        """What makes logits of the encoder's outputs."""

    @property
    def num_encoded(self) -> int:
        """Outputs of the encoder, where it is made here."""
        return self.num_outputs

    def make_model(self) -> nn.Module:
        """Make a model with initial weights."""
        encoder = self.source.make(num_features(self.data.x), self.num_encoded)
        return self.around(encoder).to(self.device)

    def around(self, network: nn.Module) -> nn.Module:
        """The encoder and the head."""
        return Headed(network, self.head())

    def network(self, model: nn.Module) -> nn.Module:
        """The encoder."""
        return encoder_of(model)

    def macs(self, model: nn.Module, choice: Choice | None = None) -> list[int] | None:
        """Multiply-accumulates of each layer of the encoder."""
        return super().macs(self.network(model), choice)
