"""Kind of problem: nodes of one type in a heterogeneous graph."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data, HeteroData

from teddy.capabilities import FEATURES, Capabilities
from teddy.data.checks import PRUNED_BY
from teddy.data.features import node_ids
from teddy.data.splits import same_split
from teddy.errors import InputError
from teddy.graph.edge_subgraph import column_of_message, keep_hetero_edges
from teddy.graph.edges import Edges
from teddy.graph.groups import relation_text
from teddy.graph.inputs import HeteroInputs
from teddy.graph.relations import nodes_of_types, pairing_between
from teddy.models.edge_inputs import EDGE_INPUTS
from teddy.models.hetero import check_takes_types, check_weighs_relations, hetero_edge_inputs
from teddy.models.own_module import check_weights
from teddy.tasks.heads import Head
from teddy.tasks.kind import Kind
from teddy.tasks.programs import HeteroProgram, Program
from teddy.tasks.target_nodes import (
    check_target,
    edge_counts,
    feature_widths,
    hetero_metadata,
    node_counts,
    target_data,
    target_edges,
    target_nodes,
    with_target_nodes,
)
from teddy.tasks.ticket_kind import EdgeList
from teddy.tasks.views import Choice, Views

if TYPE_CHECKING:
    from teddy.models.source import ModelSource
    from teddy.settings import Settings


class HeteroKind(Kind):
    """Nodes of one type of a ``HeteroData``, and a module ``forward(x_dict, edge_index_dict)``.

    The training sees the features, targets and masks of the predicted nodes, and all else in
    :class:`~teddy.graph.inputs.HeteroInputs`.
    """

    key: ClassVar[str] = "hetero"
    classes_of_nodes: ClassVar[bool] = False
    container: ClassVar[str] = "HeteroData"
    has_groups: ClassVar[bool] = True
    modules_take_data: ClassVar[bool] = True

    @property
    def directed(self) -> bool:
        """True if relations get no reverse."""
        return bool(self.header.get("directed", False))

    def parts(self) -> list[Capabilities]:
        """Return the task and the type of the data."""
        return [*super().parts(), FEATURES["heterogeneous"]]

    def prepare(self, data: Any, settings: Settings) -> Data:
        """Return the nodes that are predicted."""
        nodes_of_types(data)  # is it a graph of several types?
        self.target = check_target(data, settings.task.target)
        self.budget = settings.task.budget
        return target_data(data, self.target, self.task.targets)

    def for_tickets(self, data: Any, given: Data) -> Any:
        """Return the original data."""
        return data

    def check_module(self, source: ModelSource, given: Data) -> None:
        """Raise unless your own module has weights to prune."""
        module = source.own_module()
        if module is not None:
            check_weights(module)

    def edges(
        self, data: Any, given: Data, source: ModelSource, settings: Settings, device: torch.device
    ) -> Edges:
        """Return the edges of all relations."""
        present = [name for name in EDGE_INPUTS if name in data]
        names = hetero_edge_inputs(source.make(0, 0), present, data.keys())
        data, pairing = copy.copy(data).to(device), None
        if settings.task.inductive:
            pairing = pairing_between(data, self.target, given.train_mask.to(device))
        return target_edges(data, self.target, self.budget, names, pairing)

    def head(self, network: nn.Module, graph: Data, device: torch.device) -> Head | None:
        """Return None, or raise for a built-in model."""
        check_takes_types(network)
        return None

    def check_weighs_edges(self, network: nn.Module) -> None:
        """Raise unless a module takes weights of edges by relation."""
        check_weighs_relations(network)

    def identity(self, given: Data) -> dict[str, Any]:
        """Return the type of the predicted nodes, and the scope of the edge budget."""
        return {"target": self.target, "budget": self.budget}

    def views(self, fields: Data, edges: Edges, settings: Settings, seed: int) -> Views:
        """Return the graphs that train, validate and test."""
        self.one_way = settings.task.directed
        return super().views(fields, edges, settings, seed)

    def header_fields(
        self,
        views: Views,
        choice: Choice,
        given: Data,
        logits: Mapping[str, Tensor],
        head: Head | None,
    ) -> dict[str, Any]:
        """Return types, relations and their kept edges."""
        metadata = hetero_metadata(views.train.edges, choice.keep)
        return {self.key: metadata | ({"directed": True} if self.one_way else {})}

    def graph(self, data: Any) -> Data:
        """Return the nodes that are predicted, or raise unless the types are the ticket's.

        An inductive ticket takes any graph of the same types and relations.
        """
        _check_kind(data)
        nodes = nodes_of_types(data)
        listed = (kind for part in self.header["relations"] for kind in part["edge_types"])
        kinds = sorted((first, name, last) for first, name, last in listed)
        if sorted(data.edge_types) != kinds or nodes.keys() != self.header["nodes"].keys():
            found = ", ".join(relation_text(kind) for kind in sorted(data.edge_types))
            raise self._another(f"{node_counts(nodes)} nodes and the relations {found}")
        if self.inductive is None and nodes != self.header["nodes"]:
            raise self._another(f"{node_counts(nodes)} nodes")
        return target_data(data, self.header["target"], labelled=False)

    def ticket_edges(self, data: Any, graph: Data, names: Sequence[str]) -> Edges:
        """Return the edges of all relations."""
        groups = [
            tuple((first, name, last) for first, name, last in part["edge_types"])
            for part in self.header["relations"]
        ]
        for name in names:
            if name not in data:
                raise InputError(f"data have no {name}, expected it, as in the ticket's graph")
        return target_edges(data, self.header["target"], self.header["scope"], names, groups)

    def check_features(self, edges: Edges) -> None:
        """Raise unless all types but the target's have as many features as the ticket's graph."""
        got, expected = feature_widths(edges), self.header["features"]
        for name in sorted({*got, *expected}):
            one, other = expected.get(name, 0), got.get(name, 0)
            if one != other:
                raise InputError(
                    f"'{name}' has {other} features, expected {one}, as in the ticket's graph"
                )

    def wrong_graph(self, edges: Edges) -> InputError | None:
        """Return the error for a graph that is not the ticket's."""
        return self._another(edge_counts(edges))

    def _another(self, got: str) -> InputError:
        edges = ", ".join(
            f"{part['total']} {relation_text(tuple(part['edge_types'][0]))}"
            for part in self.header["relations"]
        )
        nodes = node_counts(self.header["nodes"])
        return InputError(
            f"the ticket belongs to {self.info.dataset} with {nodes} nodes and edges {edges}, got "
            f"another graph with {got}"
        )

    def check_one_edge_index(self) -> None:
        """Raise, since each relation has its own."""
        raise InputError(
            "a heterogeneous ticket has no single edge_index, expected ticket.apply(data), whose "
            "result has edge_index_dict"
        )

    def pruned(
        self, data: Any, graph: Data, edges: Edges, fields: dict[str, Any], marks: Tensor
    ) -> HeteroData:
        """Return the graph with each kept edge of a relation once."""
        around: HeteroInputs = fields["edge_index"]
        kept = around.edge_index_dict
        columns = {kind: column_of_message(data[kind].edge_index, kept[kind]) for kind in kept}
        sparse = keep_hetero_edges(data, columns)
        for name, found in {"edge_index": kept, **around.of_edges}.items():
            for kind, value in found.items():
                sparse[kind][name] = value
        for type_name, x in around.x_dict.items():
            sparse[type_name].x = x
        setattr(sparse, PRUNED_BY, marks[0])
        return sparse

    def program(self) -> Program:
        """Return the inputs of a network of types and relations."""
        return HeteroProgram(self.found_with, self.header)

    def store(self, data: Any) -> Any:
        """Return the place in data that has the features of the predicted nodes."""
        return data[self.header["target"]]

    def labelled(self, data: Any) -> Data:
        """Return the nodes that are predicted: features, targets and masks."""
        _check_kind(data)
        return same_split(
            target_data(data, self.header["target"], self.task.targets), self.info.split
        )

    def with_split(
        self, data: Any, split: str | None, split_seed: int | None, source: str
    ) -> HeteroData:
        """Return loaded data with a split of the predicted nodes."""
        target = self.header["target"]
        nodes = super().with_split(target_nodes(data, target), split, split_seed, source)
        return with_target_nodes(data, target, nodes)

    def edge_lists(self, data: Any, graph: Data, edges: Edges, keep: Tensor) -> list[EdgeList]:
        """Return the kept edges of each relation, as messages run."""
        ids = {name: node_ids(data[name]) for name in data.node_types}
        if len({type(node) for own in ids.values() for node in own}) > 1:
            ids = {name: list(map(str, own)) for name, own in ids.items()}  # a column has one type
        return [
            EdgeList(
                (ids[kind[0]], ids[kind[2]]), kept, data[kind].edge_index, data[kind],
                {"relation": ["__".join(kind)] * kept.size(1)},
            )
            for kind, kept in edges.fields(keep)["edge_index"].edge_index_dict.items()
        ]  # fmt: skip

    def edges_text(self) -> str:
        """Return the description of the edges after their number."""
        return f"edges of {len(self.header['relations'])} relations"

    def counts(self) -> tuple[str, dict[str, Mapping[str, int]]]:
        """Return the edges of each relation."""
        parts = self.header["relations"]
        return "Relations", {", ".join(part["edge_types"][0]): part for part in parts}

    def rows(self, data: Any, settings: Settings) -> tuple[Tensor, Any]:
        """Return the targets of the predicted type of loaded data."""
        store = data[check_target(data, settings.task.target)]
        return store.y, store

    def data_parts(self, data: Any, settings: Settings) -> list[Any]:
        """Return all tensors of all types and relations."""
        stores = (
            {f"{store._key} {name}": own for name, own in store.items()} for store in data.stores
        )
        return [str(nodes_of_types(data)), *stores]

    def names(self, data: Any) -> Sequence[int | str]:
        """Return names of all nodes by type: the type and the id of its table, or the number.

        Example:
            >>> from teddy.tasks import Classification
            >>> data = HeteroData(
            ...     paper={"num_nodes": 2}, author={"num_nodes": 1, "node_ids": ["ann"]})
            >>> HeteroKind(Classification()).names(data)
            ['author:ann', 'paper:0', 'paper:1']
        """
        found = []
        for name, count in nodes_of_types(data).items():
            ids = data[name].get("node_ids")
            found += [f"{name}:{node}" for node in (range(count) if ids is None else ids)]
        return found


def _check_kind(data: HeteroData) -> None:
    if not isinstance(data, HeteroData):
        raise InputError(f"data is a {type(data).__name__}, expected a HeteroData, as the ticket's")
