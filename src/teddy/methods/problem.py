"""What every method starts from: a checked graph, a way to make the model, a seed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data import check_data
from teddy.edges import SimpleGraph
from teddy.edges.prune import keep_columns
from teddy.errors import InputError
from teddy.models import GNN, build_model
from teddy.models.macs import count_macs
from teddy.sparsity import check_sparsity
from teddy.ticket import Accuracy, Count, Macs, Ticket, TicketInfo
from teddy.ticket.fingerprint import graph_fingerprint
from teddy.training import TrainConfig, TrainResult, seeded, train
from teddy.training.loop import Callback
from teddy.weights import count_nonzero

ModelLike = str | nn.Module | Callable[[], nn.Module]


@dataclass
class Problem:
    """A graph and a model to find a ticket for.

    Attributes:
        data: The graph, on the device to train on.
        model: A name, a module (its weights are the initial ones), or a function that makes one.
        options: Options of a named model.
        graph_sparsity: Share of edges to remove.
        weight_sparsity: Share of weights to remove.
        seed: Of everything random.
        config: Training settings.
    """

    data: Data
    model: ModelLike
    options: dict[str, Any]
    graph_sparsity: float
    weight_sparsity: float
    seed: int
    config: TrainConfig

    def __post_init__(self) -> None:
        check_sparsity(self.graph_sparsity, "graph sparsity")
        check_sparsity(self.weight_sparsity, "weight sparsity")
        self.data = check_data(self.data)
        self._simple, self._pair_of_column = SimpleGraph.of(
            self.data.edge_index, self.data.num_nodes
        )
        if self.options and not isinstance(self.model, str):
            raise InputError(
                f"option '{min(self.options)}' came with a module of your own, "
                "expected model options only with a model's name"
            )

    @property
    def graph(self) -> SimpleGraph:
        """The simple graph, whose order of edges a ticket's mask follows."""
        return self._simple

    @cached_property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.data.y.max()) + 1

    def train(
        self,
        keep: Tensor | None = None,
        teacher: Tensor | None = None,
        weight_sparsity: float = 0.0,
        callbacks: tuple[Callback, ...] = (),
    ) -> tuple[nn.Module, TrainResult]:
        """Train from the seed's initial weights, on the kept edges or the whole graph."""
        data = self.data if keep is None else self.subgraph(keep)
        with seeded(self.seed, data.edge_index.device):
            model = self.make_model()
            result = train(
                model,
                data,
                self.config,
                teacher=teacher,
                weight_sparsity=weight_sparsity,
                callbacks=callbacks,
            )
        return model, result

    def make_model(self) -> nn.Module:
        """Make a model with initial weights; of a module given by the user, a copy."""
        if isinstance(self.model, str):
            channels = self.data.x.size(1), self.num_classes
            model: nn.Module = build_model(self.model, *channels, **self.options)
        elif isinstance(self.model, nn.Module):
            model = copy.deepcopy(self.model)
        else:
            model = self.model()
        return model.to(self.data.edge_index.device)

    def subgraph(self, keep: Tensor) -> Data:
        """The graph with the kept edges only."""
        return self.data.edge_subgraph(keep_columns(keep, self._pair_of_column))

    def ticket(
        self,
        method: str,
        keep: Tensor,
        model: nn.Module,
        sparse: TrainResult,
        dense_model: nn.Module,
        dense: TrainResult,
        **settings: Any,
    ) -> Ticket:
        """Put the parts together."""
        macs = Macs(
            dense=self._macs(dense_model, self.data), ticket=self._macs(model, self.subgraph(keep))
        )
        parameters = list(model.parameters())
        info = TicketInfo(
            method=method,
            dataset=str(self.data.get("name", "data")),
            split=str(self.data.get("split", "given")),
            seed=self.seed,
            model=self._model_spec(model),
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
            weights=Count(sum(p.numel() for p in parameters), count_nonzero(parameters)),
            dense=_accuracy(dense),
            ticket=_accuracy(sparse),
            macs=macs,
            config={**asdict(self.config), **settings},
            classes=self.data.get("class_names"),
        )
        seconds = {"dense": dense.seconds, "sparse": sparse.seconds}
        return Ticket(info, keep.cpu(), model.cpu().eval(), seconds)

    def _macs(self, model: nn.Module, data: Data) -> list[int] | None:
        x = data.x
        if not isinstance(model, GNN) and x.layout != torch.strided:
            x = x.to_dense()
        return count_macs(model, x, data.edge_index)

    def _model_spec(self, model: nn.Module) -> dict[str, Any]:
        if isinstance(self.model, str) and isinstance(model, GNN):
            return {
                "name": self.model,
                "in_channels": model.in_channels,
                "out_channels": model.out_channels,
                "options": model.options,
            }
        return {"class": f"{type(model).__module__}.{type(model).__qualname__}"}


def _accuracy(result: TrainResult) -> Accuracy:
    return Accuracy(result.best.test, result.best.val, result.best.index, result.last.test)
