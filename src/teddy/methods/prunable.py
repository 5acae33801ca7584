"""Weights of a model that the weight budget applies to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from teddy.errors import warn
from teddy.tasks.batches import first_nodes
from teddy.training import seeded
from teddy.training.module_checks import unused_text, used_parameters
from teddy.training.runner import Runner
from teddy.weights import excluded_parameters
from teddy.weights.budget import Pool, pools

if TYPE_CHECKING:
    from teddy.methods.problem import Problem


#: Nodes of the pass that finds unused parameters, where training is in mini-batches.
_NUM_NODES = 1000


class PrunableWeights:
    """Trainable parameters of a problem's models, without excluded and unused ones."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def unused(self) -> frozenset[str]:
        """Names of trainable parameters that no output depends on; they are warned of once."""
        problem = self.problem
        if isinstance(problem.source.model, str):
            return frozenset()
        with seeded(problem.seed, problem.device):
            network, graph = problem.make_model(), problem.subgraph(None)
            if problem.loader is None:
                runner = problem.runner(network, graph)
            else:  # one pass may be unable to take the whole graph, which a head may need
                graph = first_nodes(graph, _NUM_NODES)
                values = problem.values_for(network, graph)
                runner = Runner(network, graph.x, graph.edge_index, values)
        used = {id(parameter) for _, parameter in used_parameters(runner)}
        named = [(name, p) for name, p in network.named_parameters() if p.requires_grad]
        text = unused_text(network, [(name, p) for name, p in named if id(p) in used])
        if text is not None:
            warn(text)
        return frozenset(name for name, parameter in named if id(parameter) not in used)

    def excluded(self, model: nn.Module) -> list[nn.Parameter]:
        """Parameters of a model that stay dense and do not count."""
        names = excluded_parameters(model, self.problem.weight_budget.exclude) | self.unused
        return [parameter for name, parameter in model.named_parameters() if name in names]

    def pools(self, weight_sparsity: float) -> list[Pool]:
        """Groups of trainable parameters, by index, that share a budget; the others stay dense."""
        model = self._initial_model()
        dense = {id(parameter) for parameter in self.excluded(model)}
        weights = [p for p in model.parameters() if p.requires_grad]
        places = [place for place, weight in enumerate(weights) if id(weight) not in dense]
        shared = pools(
            [weights[place].shape for place in places],
            self.problem.weight_budget.scope_for(model),
            weight_sparsity,
        )
        return [Pool(tuple(places[i] for i in pool.indices), pool.num_kept) for pool in shared]

    def masks(self) -> list[Tensor]:
        """Masks that keep every trainable parameter."""
        weights = (p for p in self._initial_model().parameters() if p.requires_grad)
        return [torch.ones_like(weight, dtype=torch.bool) for weight in weights]

    def _initial_model(self) -> nn.Module:
        with seeded(self.problem.seed, self.problem.device):
            return self.problem.initial_model()
