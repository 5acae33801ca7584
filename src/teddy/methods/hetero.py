"""A search on a heterogeneous graph: relations to prune, a module of node types to train."""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from teddy.data.hetero import check_target, target_data, target_edges
from teddy.graph.edges import Edges
from teddy.graph.relations import nodes_of_types, pairing_between
from teddy.methods.model_source import ModelLike
from teddy.methods.problem import Problem
from teddy.methods.record import Dense
from teddy.models.edge_inputs import EDGE_INPUTS
from teddy.models.hetero import check_takes_types, check_weighs_relations, hetero_edge_inputs
from teddy.models.own_module import check_weights
from teddy.settings import Settings
from teddy.ticket.hetero import hetero_facts
from teddy.training import TrainResult, seeded


class HeteroProblem(Problem):
    """A heterogeneous graph and a module ``forward(x_dict, edge_index_dict)``.

    The training is that of any module: it sees the features, targets and masks of the nodes that
    are predicted, and all else in :class:`~teddy.graph.surroundings.Surroundings`.

    Args:
        data: The graph.
        model: A module, or a function that makes one.
        settings: The settings tree.
        named: Further arguments of :class:`Problem`.
    """

    def __init__(
        self, data: HeteroData, model: ModelLike, settings: Settings, seed: int = 0, **named: Any
    ) -> None:
        nodes_of_types(data)  # is it a graph of several types?
        self.hetero, self.scope = data, settings.task.relations
        self.target = check_target(data, settings.task.target)
        super().__init__(data, model, settings, seed, **named)

    def _checked(self, data: Any) -> Data:
        return target_data(data, self.target, self.task.name)

    def _check_module(self) -> None:
        module = self.source.own_module()
        if module is not None:
            check_weights(module)

    def _edges(self) -> Edges:
        present = [name for name in EDGE_INPUTS if name in self.hetero]
        with seeded(self.seed, self.device):
            names = hetero_edge_inputs(self.source.make(0, 0), present, self.hetero.keys())
        data, pairing = copy.copy(self.hetero).to(self.device), None
        if self.settings.task.inductive:
            training = self.given.train_mask.to(self.device)
            pairing = pairing_between(data, self.target, training)
        return target_edges(data, self.target, self.scope, names, pairing)

    def head_for(self, network: nn.Module) -> None:
        """None, or raise for a built-in model."""
        check_takes_types(network)

    def _check_weighs_edges(self, network: nn.Module) -> None:
        check_weighs_relations(network)

    def identity(self) -> dict[str, Any]:
        """What decides the result beside the graph, the model and the training."""
        return {"target": self.target, "relations": self.scope}

    def facts(self, keep: Tensor, sparse: TrainResult, dense: Dense) -> dict[str, Any]:
        """What a ticket says of its relations."""
        facts = hetero_facts(self.graph, keep)
        return {"hetero": facts | ({"directed": True} if self.settings.task.directed else {})}
