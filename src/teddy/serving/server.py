"""The server: a network and its graph in memory, for many small questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.graph.canonical import check_edges, check_rows
from teddy.models import GNN
from teddy.models.module_call import copy_uncached
from teddy.serving.changes import ChangingGraph
from teddy.serving.checks import Nodes, as_nodes, check_inputs
from teddy.serving.choose import (
    answers_of_model,
    answers_of_module,
    check_no_products,
    shrunk_model,
    smaller_module,
)
from teddy.serving.graph import ServedGraph
from teddy.serving.workspace import SharedLock
from teddy.tasks import Classification, Task
from teddy.training.adapters import ModuleAdapter


@dataclass(frozen=True)
class Gathered:
    """Size of the neighbourhood that an answer is computed from.

    Attributes:
        nodes: Nodes whose features are read.
        edges: Messages that are summed; each is counted once for all layers.
    """

    nodes: int
    edges: int


class Server(ChangingGraph):
    """Exact answers for a few nodes at a time, from their neighbourhoods alone.

    The outputs of a node equal those of a pass over the whole graph, up to rounding. Their cost is
    that of the neighbourhood within as many hops as the network has layers. Dead hidden units and
    features are removed first. It runs on the CPU. Several threads may use one server at once, and
    a server can be pickled and forked.

    The graph can be changed in place: the next answer is that of a server of the changed graph. An
    edge that was pruned stays pruned when it is added again; any other new edge is kept (the rule
    ``training`` of :meth:`teddy.Ticket.transfer`).

    Args:
        model: A built-in model but Specformer, or a module with ``forward(x, edge_index)`` whose
            output at a node depends on its neighbourhood alone; it is copied.
        x: Features ``[N, F]``, dense or sparse. Dense ones are shared, not copied, so that a
            memory-mapped file stays on disk: change them by :meth:`set_features` only.
        edge_index: The kept edges, both directions of each, or as messages run if ``directed``.
        edge_values: Values of messages by name, such as ``edge_weight``.
        node_values: Values of nodes that a module takes, by name.
        graph_values: Values of the graph that a module takes, by name.
        directed: Whether a new edge carries a message in one direction only.
        removed: Pruned edges, int64 ``[2, P]``.
        hops: Hops that a module's output depends on; None: found by comparing answers.
        shrink: Whether to remove dead hidden units and features.
        store_products: Whether to keep the products of features with the weights of the first layer
            in memory, in place of the features (GCN, GIN, SAGE); None: where answers are faster.
        order: For each column that the network expects, the column of ``x`` in later changes.
        task: The task, for :meth:`predict`; by default classification.

    Example:
        >>> from teddy.models import GCN
        >>> model, path = GCN(3, 2), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> server = Server(model, torch.eye(3), path)
        >>> torch.allclose(server.logits([2]), model.eval()(torch.eye(3), path)[2:], atol=1e-6)
        True
        >>> server.add_edges(torch.tensor([[0], [2]]))
        1
        >>> server.gathered([2])
        Gathered(nodes=3, edges=6)
    """

    @torch.no_grad()
    def __init__(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        edge_values: Mapping[str, Tensor] | None = None,
        *,
        node_values: Mapping[str, Tensor] | None = None,
        graph_values: Mapping[str, Any] | None = None,
        directed: bool = False,
        removed: Tensor | None = None,
        hops: int | None = None,
        shrink: bool = True,
        store_products: bool | None = None,
        order: Tensor | None = None,
        task: Task | None = None,
    ) -> None:
        if not isinstance(edge_index, Tensor):
            raise InputError("cannot serve a HeteroData, expected a graph of one node type")
        check_inputs(model, x, edge_values or {})
        model = copy_uncached(model).cpu().eval()
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        x = x.detach().cpu()
        edge_index = check_edges(edge_index, x.size(0)).cpu()
        check_rows(edge_values or {}, edge_index.size(1))
        edge_values = {name: value.detach().cpu() for name, value in (edge_values or {}).items()}
        self._order, self._kept, self._width = order, None, tuple(x.shape[1:])
        self.task = Classification() if task is None else task
        self._lock = SharedLock()
        if isinstance(model, GNN):
            self.model, features, self._kept = shrunk_model(model, x, shrink)
            loops = edge_index[0] == edge_index[1]
            edge_values = {name: value[~loops] for name, value in edge_values.items()}
            dtype = next(self.model.parameters()).dtype
            if "edge_weight" in edge_values:
                edge_values["edge_weight"] = edge_values["edge_weight"].to(dtype)
            weighted = "edge_weight" in edge_values
            graph = ServedGraph(
                features, edge_index[:, ~loops], edge_values, weighted, directed, removed
            )
            self._answers, self.num_outputs = (
                answers_of_model(self.model, graph, store_products),
                model.out_channels,
            )
        else:
            check_no_products(store_products, type(model).__name__)
            values = {**edge_values, **(node_values or {}), **(graph_values or {})}

            def adapter(network: nn.Module) -> ModuleAdapter:
                return ModuleAdapter(network, x, edge_index, values)

            self.model = smaller_module(model, adapter) if shrink else model
            whole = adapter(self.model)
            graph = ServedGraph(whole.x, edge_index, edge_values, None, directed, removed)
            self._answers = answers_of_module(whole, graph, node_values or {}, hops)
            self.num_outputs = self._answers.num_outputs
        self.graph = graph

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.num_nodes

    @property
    def nbytes(self) -> int:
        """Bytes of the graph, its features and the weights."""
        weights = sum(p.nbytes for p in self.model.parameters())
        return self.graph.nbytes + weights

    @torch.no_grad()
    def logits(self, nodes: Nodes) -> Tensor:
        """Return the logits ``[B, C]`` of some nodes, in their order.

        Args:
            nodes: Numbers of nodes, perhaps repeated.
        """
        with self._lock.reading():
            queries = as_nodes(nodes, self.graph)
            if not queries.size:
                return self._no_logits()
            with self.graph.workspaces.take(self.graph.num_nodes) as workspace:
                return self._answers.outputs(queries, workspace)

    def predict(self, nodes: Nodes) -> Tensor:
        """Return the predictions of some nodes, in their order: classes by default."""
        return self.task.predict(self.logits(nodes))

    def predict_proba(self, nodes: Nodes) -> Tensor:
        """Return the probabilities of some nodes, in their order."""
        return self.task.predict_proba(self.logits(nodes))

    def gathered(self, nodes: Nodes) -> Gathered:
        """Return the size of the neighbourhood that an answer is computed from."""
        with self._lock.reading():
            queries = as_nodes(nodes, self.graph)
            with self.graph.workspaces.take(self.graph.num_nodes) as workspace:
                return Gathered(*self._answers.gathered(queries, workspace))

    def __repr__(self) -> str:
        name = type(self.model).__name__
        return f"Server({name}, nodes={self.num_nodes}, messages={self.graph.rows.nnz})"
