"""Views of data for a ticket: the kept edges, and the inputs of its network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.checks import mask_of_split
from teddy.data.splits import split_number
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.prune import Signals
from teddy.prune.choose import needed_signals
from teddy.serving import Server
from teddy.tasks import Kind, Task, kind_from, task_from
from teddy.tasks.inference import edges_at_inference, scores_any_graph, warn_of_piece
from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.features import extra_inputs_for, features_for, order_for
from teddy.ticket.info import TicketInfo
from teddy.ticket.operations import supports
from teddy.ticket.pruned_mark import is_marked, refuse_marked
from teddy.training.runner import Runner


@dataclass(frozen=True)
class TicketView:
    """Edges, features and head with which a ticket's network runs on data.

    Attributes:
        x: Features, with columns in the order of the training.
        edges: Edges before pruning, with the values of messages.
        keep: Mask of the kept edges, bool ``[M]``.
        values: Further inputs of the network.
        head: Map from its outputs to logits; None: the outputs are the logits.
        order: Index in the data of each column of ``x``; None: the same order.
    """

    x: Tensor
    edges: Edges
    keep: Tensor
    values: Mapping[str, Any] = field(default_factory=dict)
    head: nn.Module | None = None
    order: Tensor | None = None

    def runner(self, network: nn.Module, keep: Tensor | None = None) -> Runner:
        """Return the runner of a network on all edges, or on those to keep."""
        edge_index, values = self._inputs(keep)
        return Runner(network.to(self.x.device), self.x, edge_index, values, head=self.head)

    def logits(self, network: nn.Module) -> Tensor:
        """Run a network on the kept edges, in evaluation mode."""
        return self.runner(network, self.keep).evaluation_logits()

    def compile(self, network: nn.Module, shrink: bool = True) -> CompiledTicket:
        """Prepare a network for many passes over the kept edges."""
        edge_index, values = self._inputs(self.keep)
        return CompiledTicket(network, self.x, edge_index, values, shrink, self.order, self.head)

    def server(self, network: nn.Module, task: Task, **options: Any) -> Server:
        """Prepare a network for answers about a few nodes at a time."""
        kept, pruned = self.edges.subset(self.keep), self.edges.pairs[:, ~self.keep]
        return Server(
            network, self.x, kept.edge_index, kept.messages.values,
            node_values=self.edges.extra_inputs.nodes, graph_values=self.edges.extra_inputs.whole,
            directed=self.edges.directed, removed=pruned, order=self.order, task=task, **options,
        )  # fmt: skip

    def _inputs(self, keep: Tensor | None) -> tuple[Any, dict[str, Any]]:
        fields = {**self.edges.fields(keep, numbered=False), **self.values}
        inputs = {
            name: value.to(self.x.device) if isinstance(value, Tensor) else value
            for name, value in fields.items()
        }
        return inputs.pop("edge_index"), inputs


@dataclass(eq=False)
class TicketEdges:
    """Metadata and kept edges of a ticket, without the network.

    Attributes:
        info: Metadata of the ticket.
        keep: Mask of the kept edges, bool ``[M]``, in canonical order of undirected edges.
    """

    info: TicketInfo
    keep: Tensor

    @property
    def task(self) -> Task:
        """Task of the ticket, ready to predict and to evaluate."""
        return task_from(self.info.task)

    @property
    def kind(self) -> Kind:
        """Kind of problem of the ticket."""
        return kind_from(self.task, self.info)

    def view(self, data: Any, every_edge: bool = False) -> TicketView:
        """Return the inputs of the ticket's network on data.

        Args:
            data: Graph, set of graphs or heterogeneous graph that the ticket was found on.
            every_edge: Whether to keep all edges, as for the dense model. Data that are pruned
                already are refused then.

        Example:
            >>> import teddy
            >>> data = teddy.load_dataset("citeseer")
            >>> view = teddy.find_ticket(data, "gcn", 0.5, epochs=2, hidden_channels=8).view(data)
            >>> view.edges.num_edges, int(view.keep.sum())
            (4552, 2276)
        """
        kind = self.kind
        graph, edges, keep = self.chosen(data, whole=every_edge)
        x = features_for(self.info, graph)
        kind.check_features(edges)
        head = kind.ticket_head(graph, x.device)
        values = kind.inputs(graph, head, x.device)
        if every_edge:
            keep = torch.ones_like(keep)
        return TicketView(x, edges, keep, values, head, order_for(self.info, graph))

    def prune(self, data: Any) -> tuple[Edges, Tensor]:
        """Return the simple graph of whole data, and the mask of its kept edges.

        Several graphs or relations are joined to one.

        Raises:
            InputError: if the graph is pruned already, or not one that the ticket can prune.
        """
        _, edges, keep = self.chosen(data, whole=True, inputs=False)
        return edges.simple(keep)

    def chosen(
        self, data: Any, whole: bool = False, inputs: bool = True
    ) -> tuple[Data, Edges, Tensor]:
        """Return the graph, its edges and the mask of the kept ones, bool ``[M]``.

        Args:
            data: Graph, set of graphs or heterogeneous graph that the ticket was found on.
            whole: Whether data that are pruned already are refused.
            inputs: Whether edges get the values that the network takes.

        Raises:
            InputError: if the data are not ones that the ticket can prune.
        """
        graph, edges = self.edges(data, inputs)
        return graph, edges, self._kept(data, graph, edges, whole)

    def edges(self, data: Any, inputs: bool = True) -> tuple[Data, Edges]:
        """Return the graph and its edges, before pruning; see :meth:`chosen`."""
        kind = self.kind
        graph = kind.graph(data)
        inductive, weighted, names = self.info.inductive, self.info.weighted, list[str]()
        if inductive is not None:
            weighted = inductive.get("weighted", weighted)
        if weighted and (inductive is not None or kind.takes_other_graphs):
            names = ["edge_weight"]
        if inputs:
            names = self.info.graph.get("edge_inputs", [])
        edges = kind.ticket_edges(data, graph, names)
        if inputs:
            edges = replace(edges, extra_inputs=extra_inputs_for(self.info, graph))
        return graph, edges

    def is_pruned(self, graph: Data, edges: Edges, fingerprint: str | None = None) -> bool:
        """Return whether this ticket has pruned a graph already.

        The ticket's own graph is recognised by the fingerprint of its kept edges, any other by the
        mark that :meth:`~teddy.ticket.Ticket.apply` leaves.

        Args:
            graph: The graph.
            edges: Its edges.
            fingerprint: Their fingerprint, if computed already.
        """
        of, kind = self.info.inductive or self.info.graph, self.kind
        if kind.same_rows(graph):
            fingerprint = fingerprint or edges.fingerprint()
            if fingerprint == of.get("fingerprint"):
                return False
            if fingerprint == of.get("kept_fingerprint"):
                return True
        return is_marked(self, graph, *kind.sizes(edges, graph))

    def signals(self, graph: Data, score: str | None) -> Signals:
        """Return the features, if the edge score needs them."""
        needs_x = score is not None and "x" in needed_signals(score)
        return Signals(features_for(self.info, graph) if needs_x else None)

    def _kept(self, data: Any, graph: Data, edges: Edges, whole: bool) -> Tensor:
        info, kind, fingerprint = self.info, self.kind, edges.fingerprint()
        every = torch.ones_like(edges.pairs[0], dtype=torch.bool)
        if self.is_pruned(graph, edges, fingerprint):
            if whole:
                raise InputError(
                    f"data are already pruned by this ticket, to {edges.num_edges} edges, expected "
                    "the whole graph"
                )
            return every
        keep, known = self.keep.to(every.device), torch.zeros_like(every)
        if info.inductive is None:
            if fingerprint == info.graph["fingerprint"] and kind.same_rows(graph):
                return keep
            refuse_marked(graph)
            if not kind.takes_other_graphs:
                raise self._another(edges)
            choice = {"score": info.score, "weighted": info.weighted, **kind.header}
            keep = keep[:0]
        else:
            choice = dict(info.inductive)
            if fingerprint != choice.get("fingerprint"):
                refuse_marked(graph)
                warn_of_piece(data, choice.get("nodes", 0))
        rule, score = choice.get("inference", "scored"), choice["score"]
        scored = rule == "scored" and scores_any_graph(score)
        if info.inductive is not None and rule != "none" and not scored:
            if "train_mask" not in graph:
                raise InputError(
                    "data have no train_mask, expected one: the ticket prunes the edges between "
                    "its training nodes"
                )
            mask = graph.train_mask
            if mask.dim() > 1:  # several splits, of which the ticket knows its own
                mask = mask_of_split(mask, split_number(info.split) or 0)
            training, known = edges.induced(mask)
            # New edges stay, so the graph is pruned if that of the training nodes is.
            fingerprint = training.fingerprint()
            if fingerprint == info.graph.get("kept_fingerprint"):
                return every
            if fingerprint != info.graph["fingerprint"]:
                refuse_marked(graph)
                raise self._another(training)
        return edges_at_inference(
            rule, kind.edges_to_score(edges, graph), known, keep, info.graph_sparsity, score,
            info.seed, bool(choice.get("weighted")), self.signals(graph, score if scored else None),
        )  # fmt: skip

    def _another(self, edges: Edges) -> InputError:
        """Return the error for a graph that is not the ticket's."""
        info, expected = self.info, self.info.graph
        changed = "; has it changed since: Ticket.transfer (--changed)"
        hint = changed if info.inductive is None and supports("transfer", info) else ""
        loops = f" and {edges.self_loops.numel()} self-loops" if expected.get("self_loops") else ""
        return self.kind.wrong_graph(edges) or InputError(
            f"the ticket belongs to {info.dataset} with {expected['nodes']} nodes and "
            f"{expected['edges']} edges, got another graph with {edges.num_nodes} nodes and "
            f"{edges.num_edges} edges{loops}{hint}"
        )
