"""A search for a ticket that classifies graphs."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.data.graphs import GraphsLike, as_batch, graph_set, left_out
from teddy.edges import Arcs, GraphUnion, Signals
from teddy.errors import InputError
from teddy.methods.growth import Growth, Stage
from teddy.methods.headed import HeadedProblem
from teddy.methods.level import Level
from teddy.methods.model_source import ModelLike
from teddy.methods.record import Choice, Dense
from teddy.models import GNN
from teddy.models.edge_inputs import Inputs, takes
from teddy.models.graph_head import ByBatch, Readout, network_of, of_graphs
from teddy.models.macs import count_macs
from teddy.numbers import check_seed
from teddy.settings import Settings
from teddy.ticket.fingerprint import borders_fingerprint
from teddy.ticket.info import Count
from teddy.training import TrainResult, Unseen, seeded
from teddy.training.forward import dense_input
from teddy.training.inputs import of_edges, own_types
from teddy.training.tasks import GraphClassification, parse_task

#: What a union of graphs has beside ``x`` and edges.
_OF_GRAPHS = ("y", *MASKS)


@dataclass(frozen=True)
class GraphGrowth(Growth):
    """The graphs that a training sees, those that validate, those that test, and all of them.

    Each part is pruned by itself: with a budget over all graphs, those of other parts have no say.
    Graphs in no part are pruned as new ones are, each by itself.

    Attributes:
        held_out: The graphs that validate, those that test, and those in no part.
        whole: All graphs.
        parts: bool ``[M]`` of each part, training's first: its edges among all.
        budget: ``graph`` or ``all``.
    """

    held_out: tuple[Stage, Stage, Stage]
    whole: Stage
    parts: tuple[Tensor, ...]
    budget: str

    @staticmethod
    def of_graphs(
        data: Data, arcs: Arcs, of_node: Tensor, budget: str, inference: str, seed: int
    ) -> GraphGrowth:
        """Of a union of graphs.

        Args:
            data: ``x``, and ``y`` and masks of graphs.
            arcs: The edges.
            of_node: The graph of each node.
            budget: ``graph`` or ``all``.
            inference: ``scored``: the score prunes held-out graphs; else they keep all edges.
            seed: For scores that draw.
        """
        masks = [data[key] for key in MASKS]
        rest = ~torch.stack(masks).any(dim=0)
        found = [_part(data, arcs, of_node, mask) for mask in (*masks, rest)]
        (train, *held_out), parts = zip(*found, strict=True)
        whole, _ = _part(data, arcs, of_node, torch.ones_like(rest))
        return GraphGrowth(train, None, inference, seed, tuple(held_out), whole, parts, budget)

    @property
    def deployed(self) -> Stage:
        """All graphs."""
        return self.whole

    def kept(self, stage: Stage, choice: Choice) -> Tensor:
        """The edges that stay in some graphs.

        The score that chose those of the training graphs chooses those of each other part. Held-out
        graphs keep all edges if masks were learned instead, or by the rules ``training`` and
        ``none``.
        """
        if stage is self.seen:
            return choice.keep
        if stage is self.whole:
            keep = torch.ones_like(self.whole.known)
            for part, own in zip((self.seen, *self.held_out), self.parts, strict=True):
                keep[own] = self.kept(part, choice)
            return keep
        if self.inference != "scored" or choice.score is None:
            return torch.ones_like(stage.known)
        union, signals = union_at(stage), Signals(stage.data.x)
        weights = stage.arcs.weights if choice.weighted else None
        chosen = choice.sparsity, choice.score, self.seed
        if stage is self.held_out[-1]:
            return union.keep_alone(*chosen, signals, weights)
        return union.keep(*chosen, self.budget, signals, weights)

    def unseen(self, choice: Choice | None) -> Unseen:
        """The graphs to validate and test on."""
        judged = self.held_out[:2]
        keep = [None if choice is None else self.kept(stage, choice) for stage in judged]
        return Unseen(*(stage.subgraph(k) for stage, k in zip(judged, keep, strict=True)))

    def unseen_under_masks(self, keep: Tensor) -> Unseen:
        """The same while masks are learned: held-out graphs have none, and keep all edges."""
        graphs = []
        for stage in self.held_out[:2]:
            graph = copy.copy(stage.data)
            graph.mask_of_edge = torch.full_like(stage.known, int(keep.sum()), dtype=torch.long)
            graphs.append(graph)
        return Unseen(*graphs)


def union_at(stage: Stage) -> GraphUnion:
    """The graphs of a stage."""
    return GraphUnion(stage.graph, stage.data.graph_of_node, stage.data.y.size(0))


def _part(data: Data, arcs: Arcs, of_node: Tensor, graphs: Tensor) -> tuple[Stage, Tensor]:
    """Some of the graphs, numbered anew, and their edges among all, bool ``[M]``."""
    nodes = graphs[of_node]
    part, within = arcs.induced(nodes)
    number = graphs.long().cumsum(0) - 1
    fields = {key: data[key][graphs] for key in _OF_GRAPHS}
    fields |= {"x": select_rows(data.x, nodes), "graph_of_node": number[of_node[nodes]]}
    known = torch.ones(part.graph.num_edges, dtype=torch.bool, device=nodes.device)
    return Stage(part, part.data(fields), known), within


class GraphProblem(HeadedProblem):
    """Graphs with a class each.

    Training sees the training graphs alone, all in a step or batches of them. The held-out ones are
    pruned as new graphs would be, by the score. They keep all edges where masks were learned for
    the training graphs' edges, or by the rules ``training`` and ``none`` of ``inference``.

    Args:
        data: Graphs, see :func:`teddy.graph_set`; those without a split get one.
        model: A network of nodes, or a module that takes ``batch`` and gives logits of graphs.
        settings: The settings tree.
        named: Further arguments of :class:`~teddy.methods.problem.Problem`.
    """

    def __init__(
        self, data: GraphsLike, model: ModelLike, settings: Settings, seed: int = 0, **named: Any
    ) -> None:
        own = GraphClassification(**parse_task(settings.task.task).options())
        self.budget, self.readout = own.budget, own.readout
        self.split_seed = settings.data.split_seed
        super().__init__(data, model, settings, seed, **named)
        with seeded(self.seed, self.device):
            # Can it be one of graphs?
            self.reads_out = not isinstance(self.make_model(), ByBatch)

    def _checked(self, data: Any) -> Data:
        batch = as_batch(data, "data")
        self.left_out = left_out(batch)
        if self.split_seed is not None and MASKS[0] in batch:
            raise InputError(
                f"split_seed is {self.split_seed}, and data have a split; expected none"
            )
        batch = graph_set(batch, seed=check_seed(self.split_seed or 0), source="data")
        of_batch = ("batch", "ptr")
        given = {key: batch[key] for key in batch.keys() if key not in of_batch}  # noqa: SIM118
        return Data(**given, graph_of_node=batch.batch)

    def _check_module(self) -> None:
        super()._check_module()
        with seeded(self.seed, self.device):
            model = self.source.kind()
        for name, reason in self.left_out.items():
            if takes(model, name):
                raise InputError(f"{name} {reason}, expected none such for a set of graphs")

    def _inputs(self, inputs: Inputs) -> Inputs:
        for name in inputs.whole:
            raise InputError(
                f"{name} is neither of nodes nor of edges, expected none such for a set of graphs"
            )
        return inputs

    def _growth(self, fields: Data, arcs: Arcs) -> Growth:
        of_node = self.given.graph_of_node.to(self.device)
        inference = self.settings.task.inference
        return GraphGrowth.of_graphs(fields, arcs, of_node, self.budget, inference, self.seed)

    def _shown(self, fields: Data) -> Tensor:
        mask: Tensor = fields.train_mask
        return mask

    def head(self) -> nn.Module:
        """The readout."""
        return Readout(self.readout)

    def around(self, network: nn.Module) -> nn.Module:
        """A network of nodes and the readout, or a module that takes ``batch``."""
        return of_graphs(network, self.readout)

    def network(self, model: nn.Module) -> nn.Module:
        """The network of nodes, or the module that takes ``batch``."""
        return network_of(model)

    def macs(self, model: nn.Module, choice: Choice | None = None) -> list[int] | None:
        """Multiply-accumulates of each layer, over all graphs."""
        keep = None if choice is None else self.growth.kept(self.deployed, choice)
        data = self.deployed.subgraph(keep)
        values = of_edges(data)
        if not isinstance(model, ByBatch):
            model = self.network(model)
            del values["graph_of_node"]
        x = data.x if isinstance(model, GNN) else dense_input(model, data.x)
        return count_macs(model, x, data.edge_index, **own_types(values, x))

    def choose(
        self,
        sparsity: float,
        score: str,
        weighted: bool = False,
        signals: Signals | None = None,
    ) -> Tensor:
        """The edges of the training graphs that a score keeps, bool ``[M]``."""
        weights = self.seen.arcs.weights if weighted else None
        return union_at(self.seen).keep(sparsity, score, self.seed, self.budget, signals, weights)

    def keep_highest(self, scores: Tensor, sparsity: float) -> Tensor:
        """Keep all edges but those of lowest score, of each training graph or of all of them."""
        return union_at(self.seen).keep_highest(scores, sparsity, self.budget)

    def num_pruned(self, level: Level) -> int:
        """Edges of the training graphs that go."""
        return int(union_at(self.seen).num_pruned(level.graph_sparsity, self.budget).sum())

    def _check_choice(self, method: str, level: Level, keep: Tensor) -> None:
        super()._check_choice(method, level, keep)
        union = union_at(self.seen)
        if self.budget == "all":
            return
        gone = torch.bincount(union.graph_of_edge[~keep], minlength=union.num_graphs)
        wrong = gone != union.num_pruned(level.graph_sparsity)
        if wrong.any():
            graph = int(wrong.nonzero()[0])
            expected = int(union.num_pruned(level.graph_sparsity)[graph])
            raise InputError(
                f"{method} removed {int(gone[graph])} edges of training graph {graph}, "
                f"expected {expected}"
            )

    def identity(self) -> dict[str, Any]:
        """What decides the result beside the graphs, the model and the training."""
        borders = borders_fingerprint(self.given.graph_of_node)
        return {"budget": self.budget, "readout": self.readout, "borders": borders}

    def belongs_to(self, choice: Choice) -> tuple[Arcs, Tensor]:
        """All graphs, and which of their edges stay."""
        return self.whole.arcs, self.growth.kept(self.whole, choice)

    @property
    def whole(self) -> Stage:
        """All graphs."""
        return self.deployed

    def facts(self, keep: Tensor, sparse: TrainResult, dense: Dense) -> dict[str, Any]:
        """What a ticket says of its graphs."""
        assert isinstance(self.growth, GraphGrowth)
        counts = {
            name.removesuffix("_mask"): {
                "graphs": int(self.given[name].sum()),
                **asdict(Count(int(own.sum()), int(keep[own].sum()))),
            }
            for name, own in zip(MASKS, self.growth.parts[:3], strict=True)
        }
        inference = self.growth.inference
        return {
            "graphs": {
                "count": self.given.y.size(0),
                "borders": borders_fingerprint(self.given.graph_of_node),
                "budget": self.budget,
                "readout": self.readout if self.reads_out else None,
                "parts": counts,
                **({} if inference == "scored" else {"inference": inference}),
            }
        }
