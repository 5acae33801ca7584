"""A search on a heterogeneous graph: relations to prune, a module of node types to train."""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from teddy.data.hetero import check_target, nodes_of_types, relation_text, target_data
from teddy.edges import Arcs, HeteroArcs
from teddy.edges.relations import groups_between
from teddy.errors import InputError
from teddy.methods.level import Level
from teddy.methods.model_source import ModelLike
from teddy.methods.problem import Problem
from teddy.methods.record import Dense
from teddy.models.edge_inputs import EDGE_INPUTS
from teddy.models.hetero import HeteroModel, check_weighs_relations, hetero_edge_inputs
from teddy.models.own_module import check_weights
from teddy.settings import Settings
from teddy.ticket.hetero import hetero_facts
from teddy.training import TrainResult, seeded


class HeteroProblem(Problem):
    """A heterogeneous graph and a module ``forward(x_dict, edge_index_dict)``.

    The training is that of any module: it sees the features, targets and masks of the nodes that
    are predicted, and all else as their surroundings (:class:`~teddy.models.hetero.HeteroModel`).

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

    @property
    def arcs(self) -> HeteroArcs:
        """The edges and what belongs to them."""
        arcs = self.seen.arcs
        assert isinstance(arcs, HeteroArcs)
        return arcs

    def _checked(self, data: Any) -> Data:
        return target_data(data, self.target, self.task.name)

    def _check_module(self) -> None:
        module = self.source.own_module()
        if module is not None:
            check_weights(module)

    def _arcs(self) -> Arcs:
        present = [name for name in EDGE_INPUTS if name in self.hetero]
        with seeded(self.seed, self.device):
            names = hetero_edge_inputs(self.source.make(0, 0), present, self.hetero.keys())
        data, groups = copy.copy(self.hetero).to(self.device), None
        if self.settings.task.inductive:
            training = self.given.train_mask.to(self.device)
            groups = groups_between(data, self.target, training)
        return HeteroArcs.of_hetero(data, self.target, names, self.scope, groups)

    def make_model(self) -> nn.Module:
        """Make a model with initial weights."""
        return self.around(self.source.make(0, 0)).to(self.device)

    def around(self, network: nn.Module) -> nn.Module:
        """The module as one of the nodes that are predicted."""
        return HeteroModel(network, self.target)

    def network(self, model: nn.Module) -> nn.Module:
        """The module of the user's that a model here stands for."""
        assert isinstance(model, HeteroModel)
        return model.module

    def keep_highest(self, scores: Tensor, sparsity: float) -> Tensor:
        """Keep all edges but those of lowest score, within each relation or over all of them."""
        return self.arcs.relations.keep_highest(scores, sparsity)

    def num_pruned(self, level: Level) -> int:
        r"""Edges that go, :math:`\lceil p_g M_r \rceil` of each relation, or of all together."""
        return sum(self.arcs.relations.num_pruned(level.graph_sparsity))

    def _check_choice(self, method: str, level: Level, keep: Tensor) -> None:
        super()._check_choice(method, level, keep)
        graph = self.arcs.relations
        if self.scope == "all":
            return
        budgets = graph.num_pruned(level.graph_sparsity)
        found = zip(graph.relations, keep.split(graph.num_edges), budgets, strict=True)
        for relation, stays, budget in found:
            if int((~stays).sum()) != budget:
                raise InputError(
                    f"{method} removed {int((~stays).sum())} edges of "
                    f"{relation_text(relation.edge_types[0])}, expected {budget}"
                )

    def _check_weighs_edges(self, network: nn.Module) -> None:
        check_weighs_relations(network)

    def identity(self) -> dict[str, Any]:
        """What decides the result beside the graph, the model and the training."""
        return {"target": self.target, "relations": self.scope}

    def facts(self, keep: Tensor, sparse: TrainResult, dense: Dense) -> dict[str, Any]:
        """What a ticket says of its relations."""
        facts = hetero_facts(self.arcs, self.target, keep)
        return {"hetero": facts | ({"directed": True} if self.settings.task.directed else {})}
