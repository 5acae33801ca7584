"""Which edges of some data a ticket keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import mask_of_split
from teddy.data.splits import split_number
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.prune import Signals
from teddy.prune.choose import needed_signals
from teddy.ticket.features import beside_for, check_has, features_for
from teddy.ticket.graphs import graphs_kept
from teddy.ticket.heads import graph_for
from teddy.ticket.hetero import another_hetero, hetero_kept, refuse_hetero
from teddy.ticket.inference import edges_at_inference, scores_any_graph, warn_of_piece
from teddy.ticket.info import TicketInfo
from teddy.ticket.mark import is_marked, refuse_marked


@dataclass(eq=False)
class ChosenEdges:
    """The half of a ticket that is a graph; it needs no network.

    Attributes:
        info: Everything about the ticket but its tensors.
        keep: bool ``[M]`` over the canonical order of the graph's undirected edges.
    """

    info: TicketInfo
    keep: Tensor

    def prune(self, data: Data) -> tuple[Edges, Tensor]:
        """The simple graph of some data, which must be whole, and which of its edges stay.

        Of a heterogeneous graph, that of all relations together.

        Raises:
            InputError: if the graph is pruned already, or the ticket can't say which edges stay.
        """
        if self.info.hetero is not None or self.info.graphs is not None:
            edges, keep = self.chosen(data, whole=True)
            return edges.simple(keep)
        data = graph_for(self.info, data)
        edges = self._edges(data, self._to_choose())
        self.check_whole(data, edges)
        return edges, self.kept(data, edges)

    def chosen(self, data: Any, whole: bool = False) -> tuple[Edges, Tensor]:
        """The edges of some data as the ticket's model takes them, and which stay, bool ``[M]``.

        Args:
            data: A graph, a set of graphs or a heterogeneous graph, as the ticket's.
            whole: Whether data that are pruned already are refused.

        Raises:
            InputError: if the ticket can't say which.
        """
        if self.info.hetero is not None:
            return hetero_kept(self, data, whole)
        if self.info.graphs is not None:
            return graphs_kept(self, graph_for(self.info, data), whole)
        edges = self.edges(data)
        if whole:
            self.check_whole(data, edges)
        return edges, self.kept(data, edges)

    def edges(self, data: Data) -> Edges:
        """The edges of some data as the ticket's model takes them, before they are pruned."""
        edges = self._edges(data, self.info.graph.get("edge_inputs", []))
        return replace(edges, beside=beside_for(self.info, graph_for(self.info, data)))

    def _to_choose(self) -> list[str]:
        """What the choice of edges takes: weights where they choose the edges of a grown graph."""
        weighted = self.info.inductive is not None and self.info.inductive.get("weighted")
        return ["edge_weight"] if weighted else []

    def _edges(self, data: Data, names: list[str]) -> Edges:
        refuse_hetero(self.info)
        if not isinstance(data, Data) or data.edge_index is None:
            raise InputError(f"got {type(data).__name__}, expected a Data with an edge_index")
        data = graph_for(self.info, data)
        check_has(data, names)
        directed, self_loops = (
            bool(self.info.graph.get(key, False)) for key in ("directed", "self_loops")
        )
        return Edges.from_data(data, names, directed, self_loops)

    def is_pruned(self, data: Data, edges: Edges, fingerprint: str | None = None) -> bool:
        """Whether a graph is one that this ticket has pruned already, and takes as it is.

        By the fingerprint of the kept edges of the graph that it was found or, if inductive, tested
        on; of any other graph by the mark that :meth:`~teddy.ticket.Ticket.apply` left.

        Args:
            data: The graph.
            edges: Its edges.
            fingerprint: Of the edges, where it is known.
        """
        of = self.info.graph if self.info.inductive is None else self.info.inductive
        fingerprint = fingerprint or edges.fingerprint()
        if fingerprint == of.get("fingerprint"):
            return False
        if fingerprint == of.get("kept_fingerprint"):
            return True
        columns, nodes = edges.columns()
        return is_marked(self, data, columns, [nodes])

    def check_whole(self, data: Data, edges: Edges) -> None:
        """Raise if a graph is pruned already, for what compares it with the whole."""
        if self.is_pruned(data, edges):
            raise InputError(
                f"data is the graph that the ticket has pruned, with {edges.num_edges} edges, "
                "expected the whole graph"
            )

    def kept(self, data: Data, edges: Edges) -> Tensor:
        """Which of the undirected edges of a graph stay, bool ``[M]``; all if it is pruned.

        Raises:
            InputError: if the ticket can't say which.
        """
        inductive, fingerprint = self.info.inductive, edges.fingerprint()
        keep = self.keep.to(edges.pairs.device)
        every = torch.ones_like(edges.pairs[0], dtype=torch.bool)
        if self.is_pruned(data, edges, fingerprint):
            return every
        if inductive is None:
            self._recognise(data, edges, fingerprint)
            return keep
        if fingerprint != inductive.get("fingerprint"):
            refuse_marked(data)
            warn_of_piece(data, inductive.get("nodes", 0))
        rule, score = inductive["inference"], inductive["score"]
        known = torch.zeros_like(every)
        if rule == "training" or (rule == "scored" and not scores_any_graph(score)):
            nodes = data[edges.target] if edges.target else data
            if "train_mask" not in nodes:
                raise InputError("the ticket knows its training nodes' edges, expected train_mask")
            mask = nodes.train_mask
            if mask.dim() > 1:  # several splits, of which the ticket knows its own
                mask = mask_of_split(mask, split_number(self.info.split) or 0)
            training, known = edges.induced(mask)
            # New edges stay, so the graph is pruned if that of the training nodes is.
            fingerprint = training.fingerprint()
            if fingerprint == self.info.graph.get("kept_fingerprint"):
                return every
            self._recognise(data, training, fingerprint)
        return edges_at_inference(
            rule, edges, known, keep, self.info.graph_sparsity, score, self.info.seed,
            bool(inductive.get("weighted")),
            self.signals(data, score if rule == "scored" else None),
        )  # fmt: skip

    def signals(self, data: Data, score: str | None) -> Signals:
        """Features, where the score that chooses the edges of a grown graph looks at them."""
        looks = score is not None and "x" in needed_signals(score)
        return Signals(features_for(self.info, data) if looks else None)

    def _recognise(self, data: Data, edges: Edges, fingerprint: str) -> None:
        expected = self.info.graph
        if fingerprint != expected["fingerprint"]:
            refuse_marked(data)
            if edges.target:
                raise another_hetero(self.info, edges)
            changed = "; has it changed since: Ticket.transfer (--changed)"
            takes_others = self.info.inductive is None and self.info.links is None
            loops = (
                f" and {edges.self_loops.numel()} self-loops" if expected.get("self_loops") else ""
            )
            raise InputError(
                f"the ticket belongs to {self.info.dataset} with {expected['nodes']} nodes and "
                f"{expected['edges']} edges, got another graph with {edges.num_nodes} nodes and "
                f"{edges.num_edges} edges{loops}{changed if takes_others else ''}"
            )
