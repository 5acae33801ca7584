"""What every method starts from: a checked graph, a way to make the model, a seed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data import check_data
from teddy.data.checks import MASKS
from teddy.edges import SimpleGraph
from teddy.errors import InputError
from teddy.models import GNN, MODELS, build_model
from teddy.models.macs import count_macs
from teddy.numbers import check_seed
from teddy.sparsity import check_sparsity
from teddy.ticket import Accuracy, Count, Macs, Ticket, TicketInfo
from teddy.ticket.fingerprint import graph_fingerprint, split_fingerprint
from teddy.training import TrainConfig, TrainResult, seeded, train
from teddy.training.forward import dense_input
from teddy.training.loop import Callback
from teddy.weights import count_nonzero

ModelLike = str | nn.Module | Callable[[], nn.Module]


class Problem:
    """A graph and a model to find a ticket for.

    The graph is taken as the simple undirected one that ``data.edge_index`` stands for, however its
    edges are listed.

    Args:
        data: The graph.
        model: A name, a module (its weights are the initial ones), or a function that makes one.
        options: Options of a named model.
        graph_sparsity: Share of edges to remove.
        weight_sparsity: Share of weights to remove.
        seed: Of everything random.
        config: Training settings.
        device: To train on.
    """

    def __init__(
        self,
        data: Data,
        model: ModelLike,
        options: dict[str, Any],
        graph_sparsity: float,
        weight_sparsity: float,
        seed: int,
        config: TrainConfig,
        device: torch.device,
    ) -> None:
        self.graph_sparsity = check_sparsity(graph_sparsity, "graph sparsity")
        self.weight_sparsity = check_sparsity(weight_sparsity, "weight sparsity")
        self.seed, self.config, self.device = check_seed(seed), config, device
        self.given = check_data(data)
        self.model, self.options = model, options
        if options and not isinstance(model, str):
            raise InputError(
                f"option '{min(options)}' came with a module of your own, "
                "expected model options only with a model's name"
            )
        self.graph, _ = SimpleGraph.of(self.given.edge_index.to(device), self.given.num_nodes)
        self.num_classes = int(self.given.y.max()) + 1
        fields = {key: self.given[key].to(device) for key in ("x", "y", *MASKS)}
        self.data = Data(edge_index=self.graph.edge_index(), **fields)

    def train(
        self,
        keep: Tensor | None = None,
        teacher: Tensor | None = None,
        weight_sparsity: float = 0.0,
        callbacks: tuple[Callback, ...] = (),
    ) -> tuple[nn.Module, TrainResult]:
        """Train from the seed's initial weights, on the kept edges or the whole graph."""
        with seeded(self.seed, self.device):
            model = self.make_model()
            result = train(
                model,
                self.subgraph(keep),
                self.config,
                teacher=teacher,
                weight_sparsity=weight_sparsity,
                callbacks=callbacks,
            )
        return model, result

    def make_model(self) -> nn.Module:
        """Make a model with initial weights; of a module given by the user, a copy."""
        model: Any
        if isinstance(self.model, str):
            model = build_model(self.model, self.data.x.size(1), self.num_classes, **self.options)
        elif isinstance(self.model, nn.Module):
            model = copy.deepcopy(self.model)
        else:
            model = self.model() if callable(self.model) else self.model
        if not isinstance(model, nn.Module):
            raise InputError(
                f"model is a {type(model).__name__}, expected a name, a module or a function "
                "that makes one"
            )
        return model.to(self.device)

    def subgraph(self, keep: Tensor | None) -> Data:
        """The graph with the kept edges only; all of them for None."""
        if keep is None:
            return self.data
        sparse = copy.copy(self.data)
        sparse.edge_index = self.graph.edge_index(keep)
        return sparse

    def ticket(
        self,
        method: str,
        keep: Tensor,
        model: nn.Module,
        sparse: TrainResult,
        dense: TrainResult,
        dense_macs: list[int] | None,
        **settings: Any,
    ) -> Ticket:
        """Put the parts together."""
        macs = Macs(dense_macs, self.macs(model, keep))
        weights = [p for p in model.parameters() if p.requires_grad]
        where = {"device": str(self.device), "threads": torch.get_num_threads()}
        names = self.given.get("class_names")
        info = TicketInfo(
            method=method,
            dataset=str(self.given.get("name", "data")),
            split=str(self.given.get("split", "given")),
            split_seed=self.given.get("split_seed"),
            split_fingerprint=split_fingerprint(self.data),
            seed=self.seed,
            model=_model_spec(model),
            graph={
                "nodes": self.graph.num_nodes,
                "edges": self.graph.num_edges,
                "features": self.data.x.size(1),
                "classes": self.num_classes,
                "fingerprint": graph_fingerprint(self.graph),
            },
            graph_sparsity=self.graph_sparsity,
            weight_sparsity=self.weight_sparsity,
            edges=Count(self.graph.num_edges, int(keep.sum())),
            weights=Count(sum(p.numel() for p in weights), count_nonzero(weights)),
            dense=_accuracy(dense),
            ticket=_accuracy(sparse),
            macs=macs,
            config={**asdict(self.config), **settings, **where},
            classes=None if names is None else [str(name) for name in names],
        )
        seconds = {"dense": dense.seconds, "sparse": sparse.seconds}
        return Ticket(info, keep.cpu(), model.cpu().eval(), seconds)

    def macs(self, model: nn.Module, keep: Tensor | None = None) -> list[int] | None:
        """Multiply-accumulates of each layer, on the kept edges or the whole graph."""
        data = self.subgraph(keep)
        x = data.x if isinstance(model, GNN) else dense_input(model, data.x)
        return count_macs(model, x, data.edge_index)


def _model_spec(model: nn.Module) -> dict[str, Any]:
    for name in MODELS:
        if type(model) is MODELS[name]:
            return {
                "name": name,
                "in_channels": model.in_channels,
                "out_channels": model.out_channels,
                "options": model.options,
            }
    return {"class": f"{type(model).__module__}.{type(model).__qualname__}"}


def _accuracy(result: TrainResult) -> Accuracy:
    return Accuracy(result.best.test, result.best.val, result.best.index, result.last.test)
