"""Which edges of some data a ticket keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.edges import Arcs, Signals, SimpleGraph
from teddy.edges.prune import needed_signals
from teddy.errors import InputError
from teddy.ticket.features import beside_for, check_has, features_for
from teddy.ticket.fingerprint import arcs_fingerprint
from teddy.ticket.graphs import refuse_graphs
from teddy.ticket.heads import graph_for
from teddy.ticket.hetero import refuse_hetero
from teddy.ticket.inference import edges_at_inference, scores_any_graph
from teddy.ticket.info import TicketInfo


@dataclass(eq=False)
class ChosenEdges:
    """The half of a ticket that is a graph; it needs no network.

    Attributes:
        info: Everything about the ticket but its tensors.
        keep: bool ``[M]`` over the canonical order of the graph's undirected edges.
    """

    info: TicketInfo
    keep: Tensor

    def prune(self, data: Data) -> tuple[SimpleGraph, Tensor, Tensor]:
        """The simple graph of some data, which of its edges stay, and the edge of each column.

        Raises:
            InputError: if the ticket can't say which edges stay.
        """
        data = graph_for(self.info, data)
        arcs = self._arcs(data, self._to_choose())
        _, pair_of_column = SimpleGraph.of(data.edge_index, data.num_nodes)
        return arcs.graph, self.kept(data, arcs), pair_of_column

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
        refuse_graphs(self.info)
        if not isinstance(data, Data) or data.edge_index is None:
            raise InputError(f"got {type(data).__name__}, expected a Data with an edge_index")
        data = graph_for(self.info, data)
        check_has(data, names)
        return Arcs.of_data(data, names, self.info.graph.get("directed", False))

    def kept(self, data: Data, arcs: Arcs) -> Tensor:
        """Which of the undirected edges behind some arcs stay, bool ``[M]``.

        Raises:
            InputError: if the ticket can't say which.
        """
        graph, inductive = arcs.graph, self.info.inductive
        keep = self.keep.to(graph.pairs.device)
        if inductive is None:
            self._recognise(arcs)
            return keep
        rule, score = inductive["inference"], inductive["score"]
        known = torch.zeros_like(graph.pairs[0], dtype=torch.bool)
        if rule == "training" or (rule == "scored" and not scores_any_graph(score)):
            if "train_mask" not in data:
                raise InputError("the ticket knows its training nodes' edges, expected train_mask")
            training, known = arcs.induced(data.train_mask)
            self._recognise(training)
        return edges_at_inference(
            rule, graph, known, keep, self.info.graph_sparsity, score, self.info.seed,
            arcs.weights if inductive.get("weighted") else None,
            self.signals(data, score if rule == "scored" else None),
        )  # fmt: skip

    def signals(self, data: Data, score: str | None) -> Signals:
        """Features, where the score that chooses the edges of a grown graph looks at them."""
        looks = score is not None and "x" in needed_signals(score)
        return Signals(features_for(self.info, data) if looks else None)

    def _recognise(self, arcs: Arcs) -> None:
        expected, graph = self.info.graph, arcs.graph
        if arcs_fingerprint(arcs) != expected["fingerprint"]:
            changed = "; has it changed since: Ticket.transfer (--changed)"
            takes_others = self.info.inductive is None and self.info.links is None
            raise InputError(
                f"the ticket belongs to {self.info.dataset} with {expected['nodes']} nodes and "
                f"{expected['edges']} edges, got another graph with {graph.num_nodes} nodes and "
                f"{graph.num_edges} edges{changed if takes_others else ''}"
            )
