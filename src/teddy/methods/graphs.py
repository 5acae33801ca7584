"""A search for a ticket that classifies graphs."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.data.graphs import GraphsLike, as_batch, graph_set, left_out
from teddy.errors import InputError
from teddy.graph import Edges, Groups
from teddy.methods.growth import Growth, Stage
from teddy.methods.headed import HeadedProblem
from teddy.methods.model_source import ModelLike
from teddy.methods.record import Choice, Dense
from teddy.models.edge_inputs import Inputs, takes
from teddy.models.graph_head import readout_for
from teddy.numbers import check_seed
from teddy.prune import Signals, choose_edges
from teddy.settings import Settings
from teddy.ticket.fingerprint import borders_fingerprint
from teddy.ticket.info import Count
from teddy.training import TrainResult, Unseen, seeded
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
        budget: ``each`` or ``all``.
    """

    held_out: tuple[Stage, Stage, Stage]
    whole: Stage
    parts: tuple[Tensor, ...]
    budget: str

    @staticmethod
    def of_graphs(
        data: Data, edges: Edges, of_node: Tensor, budget: str, inference: str, seed: int
    ) -> GraphGrowth:
        """Of a union of graphs.

        Args:
            data: ``x``, and ``y`` and masks of graphs.
            edges: The edges.
            of_node: The graph of each node.
            budget: ``each`` or ``all``.
            inference: ``scored``: the score prunes held-out graphs; else they keep all edges.
            seed: For scores that draw.
        """
        masks = [data[key] for key in MASKS]
        rest = ~torch.stack(masks).any(dim=0)
        found = [_part(data, edges, of_node, mask, budget) for mask in (*masks, rest)]
        (train, *held_out), parts = zip(*found, strict=True)
        whole, _ = _part(data, edges, of_node, torch.ones_like(rest), budget)
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
        edges = stage.edges
        if stage is self.held_out[-1]:
            assert edges.groups is not None
            edges = replace(edges, groups=replace(edges.groups, budget="each", alone=True))
        return choose_edges(
            edges, choice.sparsity, choice.score, self.seed, choice.weighted, Signals(stage.data.x)
        )

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


def _part(
    data: Data, edges: Edges, of_node: Tensor, graphs: Tensor, budget: str
) -> tuple[Stage, Tensor]:
    """Some of the graphs, numbered anew, and their edges among all, bool ``[M]``."""
    nodes = graphs[of_node]
    part, within = edges.induced(nodes)
    number = graphs.long().cumsum(0) - 1
    fields = {key: data[key][graphs] for key in _OF_GRAPHS}
    fields |= {"x": select_rows(data.x, nodes), "graph_of_node": number[of_node[nodes]]}
    groups = Groups.of_graphs(fields["graph_of_node"], int(graphs.sum()), budget)
    part = replace(part, groups=groups)
    known = torch.ones_like(part.pairs[0], dtype=torch.bool)
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
            self.reads_out = self.head_for(self.make_model()) is not None

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

    def _growth(self, fields: Data, edges: Edges) -> Growth:
        of_node = self.given.graph_of_node.to(self.device)
        inference = self.settings.task.inference
        return GraphGrowth.of_graphs(fields, edges, of_node, self.budget, inference, self.seed)

    def _shown(self, fields: Data) -> Tensor:
        mask: Tensor = fields.train_mask
        return mask

    def head_for(self, network: nn.Module) -> nn.Module | None:
        """The readout; None for a module that takes ``batch``."""
        return readout_for(network, self.readout)

    def identity(self) -> dict[str, Any]:
        """What decides the result beside the graphs, the model and the training."""
        borders = borders_fingerprint(self.given.graph_of_node)
        return {"budget": self.budget, "readout": self.readout, "borders": borders}

    def belongs_to(self, choice: Choice) -> tuple[Edges, Tensor]:
        """All graphs, and which of their edges stay."""
        return self.whole.edges, self.growth.kept(self.whole, choice)

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
