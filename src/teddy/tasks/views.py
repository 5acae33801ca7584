"""Views: the graphs that a training sees, validates and tests on, and that a ticket is for."""

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
    """The edges that a method has chosen in the training view.

    Attributes:
        keep: bool ``[M]``, the kept edges.
        sparsity: Share of edges that was to be removed.
        score: The edge score that chose; None: they were chosen in another way.
        weighted: Whether its degrees were weighted.
    """

    keep: Tensor
    sparsity: float
    score: str | None = None
    weighted: bool = False


@dataclass(frozen=True)
class EvaluationGraphs:
    """Graphs with rows that a training must not see.

    Attributes:
        val: A graph whose ``val_mask`` rows validate: ``x``, ``edge_index``, ``y``, and what edges
            have (``edge_weight``, ``edge_attr``), where the model takes it. Where edges have
            learned masks, ``mask_of_edge`` says which mask each undirected edge has in
            canonical order; one past the last: none.
        test: The same, with ``test_mask``.
    """

    val: Data
    test: Data


@dataclass(frozen=True)
class View:
    """A graph with features, targets and the rows that count.

    Attributes:
        edges: Its edges, and the values of messages.
        data: ``x``, ``y``, masks, messages and other inputs.
        known: bool ``[M]``: edges that the training view has, too.
    """

    edges: Edges
    data: Data
    known: Tensor

    def subgraph(self, keep: Tensor | None) -> Data:
        """The graph with the kept edges only; all of them for None."""
        if keep is None:
            return self.data
        sparse = copy.copy(self.data)
        for name, value in self.edges.fields(keep).items():
            sparse[name] = value
        return sparse


@dataclass(frozen=True)
class Views:
    """The views of a search: the same one three times where training sees the whole graph.

    Attributes:
        train: The graph that training sees and a method prunes.
        val: The graph that validates.
        test: The graph that tests.
        full: The graph that a ticket is used on.
        inference: Rule by which views other than ``train`` are pruned; see
            :func:`teddy.tasks.inference.edges_at_inference`.
        seed: For scores that draw.
        grows: Whether ``train`` is the graph of the training nodes, as in the inductive setting.
        parts: Views that ``full`` is made of, each with bool ``[M]``, its edges in ``full``; empty
            where it is pruned as a whole.
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
        """One view of the whole graph, which training sees.

        Args:
            data: ``x``, ``y`` and the masks.
            edges: The edges.
            inference: The rule, which has no effect here.
            seed: For scores that draw.
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
        """The graph as it grows: of the training nodes, with those that validate, whole.

        Nothing of a node that comes later is in an earlier view: no feature, label, edge or degree.

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
        found = []
        for nodes in (data.train_mask, data.train_mask | data.val_mask, everyone):
            part, within = edges.induced(nodes)
            fields = {key: data[key][nodes] for key in ("y", *MASKS, *more)}
            fields["x"] = select_rows(data.x, nodes)
            found.append(View(part, part.data(fields), trained[within]))
        train, val, test = found
        return Views(train, val, test, test, inference, seed, grows=True)

    @staticmethod
    def from_graphs(
        data: Data, edges: Edges, graph_of_node: Tensor, budget: str, inference: str, seed: int
    ) -> Views:
        """The graphs of each part of the split, which are pruned part by part.

        With a budget over all graphs, those of other parts have no say. Graphs in no part are
        pruned as new ones are, each by itself.

        Args:
            data: ``x`` of all nodes, and ``y`` and masks of graphs.
            edges: The edges.
            graph_of_node: The graph of each node.
            budget: ``each`` or ``all``.
            inference: The rule.
            seed: For scores that draw.
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
        """The views, each once."""
        views = (self.train, self.val, self.test, self.full)
        return list({id(view): view for view in views}.values())

    @property
    def held_out(self) -> bool:
        """Whether other graphs than the one that training sees validate and test."""
        return self.val is not self.train

    @property
    def found_on(self) -> View:
        """The view whose edges a ticket's header counts: a whole set of graphs, else ``train``."""
        return self.full if self.parts else self.train

    def kept(self, view: View, choice: Choice) -> Tensor:
        """The kept edges of a view, bool ``[M]``."""
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
        """The graphs to validate and test on, if training sees other ones."""
        if not self.held_out:
            return None
        judged = (self.val, self.test)
        keep = [None if choice is None else self.kept(view, choice) for view in judged]
        return EvaluationGraphs(*(view.subgraph(k) for view, k in zip(judged, keep, strict=True)))

    def masked_evaluation_graphs(self, keep: Tensor) -> EvaluationGraphs | None:
        """The same while masks are learned for the edges that are left; new ones have none."""
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
