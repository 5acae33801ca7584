"""Which edges of some data a ticket keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import mask_of_split
from teddy.data.splits import split_number
from teddy.edges import Arcs, HeteroArcs, Signals, SimpleGraph
from teddy.edges.prune import needed_signals
from teddy.errors import InputError
from teddy.ticket.features import beside_for, check_has, features_for
from teddy.ticket.fingerprint import arcs_fingerprint
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

    def prune(self, data: Data) -> tuple[SimpleGraph, Tensor]:
        """The simple graph of some data, which must be whole, and which of its edges stay.

        Of a heterogeneous graph, that of all relations together.

        Raises:
            InputError: if the graph is pruned already, or the ticket can't say which edges stay.
        """
        if self.info.hetero is not None or self.info.graphs is not None:
            arcs, keep = self.chosen(data, whole=True)
            return arcs.simple(keep)
        data = graph_for(self.info, data)
        arcs = self._arcs(data, self._to_choose())
        self.check_whole(data, arcs)
        return arcs.graph, self.kept(data, arcs)

    def chosen(self, data: Any, whole: bool = False) -> tuple[Arcs, Tensor]:
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
        arcs = self.arcs(data)
        if whole:
            self.check_whole(data, arcs)
        return arcs, self.kept(data, arcs)

    def arcs(self, data: Data) -> Arcs:
        """The edges of some data as the ticket's model takes them, before they are pruned."""
        arcs = self._arcs(data, self.info.graph.get("edge_inputs", []))
        return replace(arcs, beside=beside_for(self.info, graph_for(self.info, data)))

    def _to_choose(self) -> list[str]:
        """What the choice of edges takes: weights where they choose the edges of a grown graph."""
        weighted = self.info.inductive is not None and self.info.inductive.get("weighted")
        return ["edge_weight"] if weighted else []

    def _arcs(self, data: Data, names: list[str]) -> Arcs:
        refuse_hetero(self.info)
        if not isinstance(data, Data) or data.edge_index is None:
            raise InputError(f"got {type(data).__name__}, expected a Data with an edge_index")
        data = graph_for(self.info, data)
        check_has(data, names)
        directed, self_loops = (
            bool(self.info.graph.get(key, False)) for key in ("directed", "self_loops")
        )
        return Arcs.of_data(data, names, directed, self_loops)

    def is_pruned(self, data: Data, arcs: Arcs, fingerprint: str | None = None) -> bool:
        """Whether a graph is one that this ticket has pruned already, and takes as it is.

        By the fingerprint of the kept edges of the graph that it was found or, if inductive, tested
        on; of any other graph by the mark that :meth:`~teddy.ticket.Ticket.apply` left.

        Args:
            data: The graph.
            arcs: Its edges.
            fingerprint: Of the edges, where it is known.
        """
        of = self.info.graph if self.info.inductive is None else self.info.inductive
        fingerprint = fingerprint or arcs_fingerprint(arcs)
        if fingerprint == of.get("fingerprint"):
            return False
        if fingerprint == of.get("kept_fingerprint"):
            return True
        columns, nodes = arcs.columns()
        return is_marked(self, data, columns, [nodes])

    def check_whole(self, data: Data, arcs: Arcs) -> None:
        """Raise if a graph is pruned already, for what compares it with the whole."""
        if self.is_pruned(data, arcs):
            raise InputError(
                f"data is the graph that the ticket has pruned, with {arcs.graph.num_edges} edges, "
                "expected the whole graph"
            )

    def kept(self, data: Data, arcs: Arcs) -> Tensor:
        """Which of the undirected edges behind some arcs stay, bool ``[M]``; all if it is pruned.

        Raises:
            InputError: if the ticket can't say which.
        """
        graph, inductive, fingerprint = arcs.graph, self.info.inductive, arcs_fingerprint(arcs)
        keep = self.keep.to(graph.pairs.device)
        every = torch.ones_like(graph.pairs[0], dtype=torch.bool)
        if self.is_pruned(data, arcs, fingerprint):
            return every
        if inductive is None:
            self._recognise(data, arcs, fingerprint)
            return keep
        if fingerprint != inductive.get("fingerprint"):
            refuse_marked(data)
            warn_of_piece(data, inductive.get("nodes", 0))
        rule, score = inductive["inference"], inductive["score"]
        known = torch.zeros_like(every)
        if rule == "training" or (rule == "scored" and not scores_any_graph(score)):
            nodes = data[arcs.target] if isinstance(arcs, HeteroArcs) else data
            if "train_mask" not in nodes:
                raise InputError("the ticket knows its training nodes' edges, expected train_mask")
            mask = nodes.train_mask
            if mask.dim() > 1:  # several splits, of which the ticket knows its own
                mask = mask_of_split(mask, split_number(self.info.split) or 0)
            training, known = arcs.induced(mask)
            # New edges stay, so the graph is pruned if that of the training nodes is.
            fingerprint = arcs_fingerprint(training)
            if fingerprint == self.info.graph.get("kept_fingerprint"):
                return every
            self._recognise(data, training, fingerprint)
        return edges_at_inference(
            rule, arcs, known, keep, self.info.graph_sparsity, score, self.info.seed,
            bool(inductive.get("weighted")),
            self.signals(data, score if rule == "scored" else None),
        )  # fmt: skip

    def signals(self, data: Data, score: str | None) -> Signals:
        """Features, where the score that chooses the edges of a grown graph looks at them."""
        looks = score is not None and "x" in needed_signals(score)
        return Signals(features_for(self.info, data) if looks else None)

    def _recognise(self, data: Data, arcs: Arcs, fingerprint: str) -> None:
        expected, graph = self.info.graph, arcs.graph
        if fingerprint != expected["fingerprint"]:
            refuse_marked(data)
            if isinstance(arcs, HeteroArcs):
                raise another_hetero(self.info, arcs)
            changed = "; has it changed since: Ticket.transfer (--changed)"
            takes_others = self.info.inductive is None and self.info.links is None
            loops = (
                f" and {arcs.self_loops.numel()} self-loops" if expected.get("self_loops") else ""
            )
            raise InputError(
                f"the ticket belongs to {self.info.dataset} with {expected['nodes']} nodes and "
                f"{expected['edges']} edges, got another graph with {graph.num_nodes} nodes and "
                f"{graph.num_edges} edges{loops}{changed if takes_others else ''}"
            )
