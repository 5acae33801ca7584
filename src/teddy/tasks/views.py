"""Views: the graphs for training, validation and test, and the one of the ticket."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.features import select_rows
from teddy.graph import Edges, Groups
from teddy.prune import Signals
from teddy.tasks.inference import edges_at_inference


@dataclass(frozen=True)
class Choice:
    """Choice of edges by a method in the training view.

    Attributes:
        keep: Mask of the kept edges, bool ``[M]``.
        sparsity: Requested share of removed edges.
        score: Edge score that chose them; None: another way.
        weighted: Whether degrees of the score were weighted.
    """

    keep: Tensor
    sparsity: float
    score: str | None = None
    weighted: bool = False


@dataclass(frozen=True)
class EvaluationGraphs:
    """Graphs for validation and test with rows that are hidden from training.

    Attributes:
        val: Graph with ``val_mask``: ``x``, ``edge_index``, ``y`` and the edge values that the
            model takes. With learned edge masks, ``mask_of_edge`` is the index of the mask of each
            undirected edge in canonical order; one past the last: no mask.
        test: Graph with ``test_mask``.
    """

    val: Data
    test: Data


@dataclass(frozen=True)
class View:
    """Graph with features, targets and masks.

    Attributes:
        edges: Edges, and values of messages.
        data: ``x``, ``y``, masks, messages and other inputs.
        known: Mask of the edges that the training view has, too, bool ``[M]``.
    """

    edges: Edges
    data: Data
    known: Tensor

    def subgraph(self, keep: Tensor | None) -> Data:
        """Return the graph with the kept edges; None: all edges."""
        if keep is None:
            return self.data
        sparse = copy.copy(self.data)
        for name, value in self.edges.fields(keep).items():
            sparse[name] = value
        return sparse


@dataclass(frozen=True)
class Views:
    """Views of a search; in the transductive setting all are the same object.

    Attributes:
        train: Graph for training, which a method prunes.
        val: Graph for validation.
        test: Graph for the test.
        full: Graph on which a ticket is used.
        inference: Rule that prunes views other than ``train``; see
            :func:`teddy.tasks.inference.edges_at_inference`.
        seed: Seed of random scores.
        grows: Whether ``train`` is the graph of the training nodes, as in the inductive setting.
        parts: Views that make up ``full``, each with the mask of its edges in ``full``; empty if
            it is pruned as a whole.
    """

    train: View
    val: View
    test: View
    full: View
    inference: str = "scored"
    seed: int = 0
    grows: bool = False
    parts: tuple[tuple[View, Tensor], ...] = ()

    @staticmethod
    def transductive(
        data: Data, edges: Edges, inference: str, seed: int, more: Iterable[str] = ()
    ) -> Views:
        """Return views of the whole graph, which training uses.

        Args:
            data: ``x``, ``y`` and the masks.
            edges: The edges.
            inference: Rule, without effect here.
            seed: Seed of random scores.
            more: Names of further fields of the view.
        """
        fields = {key: data[key] for key in ("x", "y", *MASKS, *more)}
        every = torch.ones_like(edges.pairs[0], dtype=torch.bool)
        view = View(edges, edges.data(fields), every)
        return Views(view, view, view, view, inference, seed)

    @staticmethod
    def inductive(
        data: Data, edges: Edges, inference: str, seed: int, more: Iterable[str] = ()
    ) -> Views:
        """Return growing views: training nodes, then validation nodes, then all nodes.

        An earlier view contains no feature, label, edge or degree of later nodes.

        Example:
            >>> masks = {name: torch.arange(3) == i for i, name in enumerate(MASKS)}
            >>> data = Data(x=torch.eye(3), y=torch.tensor([0, 1, 1]), **masks)
            >>> edges = Edges.from_edge_index(torch.tensor([[0, 0], [1, 2]]), 3)
            >>> views = Views.inductive(data, edges, "scored", 0)
            >>> [view.edges.num_edges for view in (views.train, views.val, views.test)]
            [0, 1, 2]
        """
        everyone = torch.ones_like(data.train_mask)
        _, trained = edges.induced(data.train_mask)
        views = []
        for nodes in (data.train_mask, data.train_mask | data.val_mask, everyone):
            part, within = edges.induced(nodes)
            fields = {key: data[key][nodes] for key in ("y", *MASKS, *more)}
            fields["x"] = select_rows(data.x, nodes)
            views.append(View(part, part.data(fields), trained[within]))
        train, val, test = views
        return Views(train, val, test, test, inference, seed, grows=True)

    @staticmethod
    def from_graphs(
        data: Data, edges: Edges, graph_of_node: Tensor, budget: str, inference: str, seed: int
    ) -> Views:
        """Return views of the graphs of each part of the split, which are pruned separately.

        A budget over all graphs holds within a part. Graphs in no part are pruned like new ones,
        each by itself.

        Args:
            data: ``x`` of all nodes, and ``y`` and masks of graphs.
            edges: The edges.
            graph_of_node: Graph of each node.
            budget: ``each`` or ``all``.
            inference: Rule that prunes held-out graphs.
            seed: Seed of random scores.
        """

        def view(graphs: Tensor, budget: str, alone: bool = False) -> tuple[View, Tensor]:
            nodes = graphs[graph_of_node]
            part, within = edges.induced(nodes)
            number = graphs.long().cumsum(0) - 1
            fields = {key: data[key][graphs] for key in ("y", *MASKS)}
            fields |= {"x": select_rows(data.x, nodes)}
            fields |= {"graph_of_node": number[graph_of_node[nodes]]}
            count = int(graphs.sum())
            groups = Groups.from_batch(fields["graph_of_node"], count, budget, alone)
            part = replace(part, groups=groups)
            known = torch.full_like(part.pairs[0], False, dtype=torch.bool)
            return View(part, part.data(fields), known), within

        masks = [data[key] for key in MASKS]
        rest = ~torch.stack(masks).any(dim=0)
        parts = [view(mask, budget) for mask in masks] + [view(rest, "each", alone=True)]
        full, _ = view(torch.ones_like(rest), budget)
        train, val, test = (part for part, _ in parts[:3])
        return Views(train, val, test, full, inference, seed, parts=tuple(parts))

    def distinct(self) -> list[View]:
        """Return the distinct views."""
        views = (self.train, self.val, self.test, self.full)
        return list({id(view): view for view in views}.values())

    @property
    def held_out(self) -> bool:
        """True if validation and test use other graphs than training."""
        return self.val is not self.train

    @property
    def found_on(self) -> View:
        """View whose edges a ticket counts: all graphs of a set, else ``train``."""
        return self.full if self.parts else self.train

    def kept(self, view: View, choice: Choice) -> Tensor:
        """Return the mask of the kept edges of a view, bool ``[M]``."""
        if view is self.train:
            return choice.keep
        if view is self.full and self.parts:
            keep = torch.ones_like(view.known)
            for part, own in self.parts:
                keep[own] = self.kept(part, choice)
            return keep
        return edges_at_inference(
            self.inference, view.edges, view.known, choice.keep, choice.sparsity, choice.score,
            self.seed, choice.weighted, Signals(view.data.x),
        )  # fmt: skip

    def evaluation_graphs(self, choice: Choice | None) -> EvaluationGraphs | None:
        """Return the graphs for validation and test, or None if training uses the same one."""
        if not self.held_out:
            return None
        views = (self.val, self.test)
        keep = [None if choice is None else self.kept(view, choice) for view in views]
        return EvaluationGraphs(*(view.subgraph(k) for view, k in zip(views, keep, strict=True)))

    def masked_evaluation_graphs(self, keep: Tensor) -> EvaluationGraphs | None:
        """Return these graphs with learned edge masks; edges hidden from training have none."""
        if not self.held_out:
            return None
        graphs = []
        for view in (self.val, self.test):
            kept = edges_at_inference("training", view.edges, view.known, keep, 0.0, None, 0)
            graph, known = copy.copy(view.subgraph(kept)), view.known[kept]
            graph.mask_of_edge = torch.full_like(known, int(keep.sum()), dtype=torch.long)
            graph.mask_of_edge[known] = torch.arange(int(known.sum()), device=keep.device)
            graphs.append(graph)
        return EvaluationGraphs(*graphs)
