"""Kinds of problem as tickets use them: read data, prune them, name rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.capabilities import Capabilities
from teddy.data.checks import MASKS, PRUNED_BY, check_data
from teddy.data.features import node_ids
from teddy.data.splits import same_split
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.graph.edge_subgraph import column_of_message, keep_data_edges
from teddy.graph.fingerprint import split_fingerprint
from teddy.tasks.heads import Head
from teddy.tasks.programs import NodeProgram, Program
from teddy.tasks.row_splits import require_fields, with_split

if TYPE_CHECKING:
    from teddy.tasks.task import Task


class TicketHeader(Protocol):
    """Fields of a ticket's header that a kind of problem reads."""

    @property
    def dataset(self) -> str:
        """Name of the data set."""

    @property
    def split(self) -> str:
        """Name of the split."""

    @property
    def split_seed(self) -> int | None:
        """Seed of a split that was drawn."""

    @property
    def split_fingerprint(self) -> str:
        """The sha256 of the split."""

    @property
    def graph(self) -> Mapping[str, Any]:
        """Sizes, fingerprints, and inputs of the network."""

    @property
    def inductive(self) -> Mapping[str, Any] | None:
        """The graph that an inductive ticket was tested on."""


@dataclass(frozen=True)
class EdgeList:
    """Kept edges of one graph or relation, for a table.

    Attributes:
        ids: Ids of source nodes, and of target nodes.
        edges: Kept edges, int64 ``[2, K]``.
        listed: All edges as listed in the data, int64 ``[2, E]``.
        store: Data with values of the listed edges.
        columns: Further columns by name: integers or texts.
    """

    ids: tuple[Sequence[Any], Sequence[Any]]
    edges: Tensor
    listed: Tensor
    store: Any
    columns: Mapping[str, Tensor | list[str]] = field(default_factory=dict)


class TicketKind:
    """Kind of problem of a ticket: nodes of one graph.

    Args:
        task: The task.
        info: Header of a ticket; None: a search.

    Attributes:
        name: Row of targets and predictions: ``node``, ``link`` or ``graph``.
        key: Field of a ticket's header for this kind; empty: none.
        takes_other_graphs: Whether a ticket runs on other graphs than its own.
        classes_of_nodes: Whether every node may have a class.
        exported: Output of an exported program; empty: that of the task.
        container: PyG class of the data, as text.
        unsupported: Unsupported parts of a search, with the reason.
        modules_take_data: Whether a function that makes a module may take the data.
    """

    name: ClassVar[str] = "node"
    key: ClassVar[str] = ""
    takes_other_graphs: ClassVar[bool] = False
    classes_of_nodes: ClassVar[bool] = True
    exported: ClassVar[str] = ""
    container: ClassVar[str] = "Data"
    modules_take_data: ClassVar[bool] = False
    unsupported: ClassVar[Mapping[str, str]] = {}

    def __init__(self, task: Task, info: TicketHeader | None = None) -> None:
        self.task = task
        if info is not None:
            self.info, self.found_with, self.inductive = info, info.graph, info.inductive
        own = getattr(info, "own", None) or {}
        found = getattr(info, self.key, own.get(self.key)) if self.key else None
        self.header: Mapping[str, Any] = found or {}

    @property
    def directed(self) -> bool:
        """True if data are read as directed."""
        return bool(self.found_with.get("directed", False))

    def parts(self) -> list[Capabilities]:
        """Return the task, and the features of its data, as parts of a search."""
        return [self.task.part()]

    def has_node_classes(self) -> bool:
        """Return whether every node may have a class, as homophily requires."""
        return self.task.classes and self.classes_of_nodes

    def split_fingerprint(self, data: Data) -> str:
        """Return the sha256 of the split."""
        return split_fingerprint(data)

    def graph(self, data: Any) -> Data:
        """Return the graph of messages, with the features of the predicted rows."""
        return data

    def ticket_edges(self, data: Any, graph: Data, names: Sequence[str]) -> Edges:
        """Return the edges of a ticket's data.

        Args:
            data: Original data.
            graph: Result of :meth:`graph`.
            names: Names of edge values to include.
        """
        if not isinstance(graph, Data) or graph.edge_index is None:
            raise InputError(f"data is a {type(data).__name__}, expected a Data with an edge_index")
        self.require_fields(graph, names)
        directed, self_loops = (
            bool(self.found_with.get(key, False)) for key in ("directed", "self_loops")
        )
        return Edges.from_data(graph, names, directed, self_loops)

    def require_fields(self, data: Any, names: Iterable[str], what: str = "data") -> None:
        """Raise unless data have the fields that a ticket was found with."""
        require_fields(data, names, what)

    def inputs(self, graph: Data, head: Head | None, device: torch.device) -> dict[str, Any]:
        """Return further inputs of a ticket's network for this kind of problem."""
        return {}

    def same_rows(self, graph: Data) -> bool:
        """Return whether data have the rows of the ticket's graph or graphs."""
        return True

    def edges_to_score(self, edges: Edges, graph: Data) -> Edges:
        """Return the edges as a score takes them, for data other than the ticket's."""
        return edges

    def sizes(self, edges: Edges, graph: Data) -> tuple[Tensor, list[int]]:
        """Return all messages, and the number of nodes of each graph."""
        messages, nodes = edges.stacked_messages()
        return messages, [nodes]

    def wrong_graph(self, edges: Edges) -> InputError | None:
        """Return the error for another graph than the ticket's; None: the default one."""
        return None

    def check_features(self, edges: Edges) -> None:
        """Raise if features of other node types differ from the ticket's."""

    def check_one_edge_index(self) -> None:
        """Raise unless all messages are in one ``edge_index``."""

    def ticket_head(self, graph: Data, device: torch.device) -> Head | None:
        """Return the head of a ticket's network; see :meth:`head`."""
        return None

    def pruned(
        self, data: Any, graph: Data, edges: Edges, fields: dict[str, Any], marks: Tensor
    ) -> Any:
        """Return PyG data with the kept messages, each once, and their values.

        Args:
            data: Original data.
            graph: Result of :meth:`graph`.
            edges: Edges before pruning.
            fields: Inputs of the network on the kept edges.
            marks: Mark of each pruned graph.
        """
        sparse = keep_data_edges(graph, column_of_message(graph.edge_index, fields["edge_index"]))
        for name, value in fields.items():
            sparse[name] = value
        if sparse.num_nodes != edges.num_nodes:
            sparse.num_nodes = edges.num_nodes
        sparse[PRUNED_BY] = marks[0]
        return sparse

    def program(self) -> Program:
        """Return the inputs of a ticket's exported network."""
        return NodeProgram(self.found_with, self.header)

    def store(self, data: Any) -> Any:
        """Return the store of data with the features of the predicted rows."""
        return data

    def labelled(self, data: Any) -> Data:
        """Return the predicted rows with targets and masks, for evaluation."""
        integers = "integer_x" in self.found_with
        return same_split(
            check_data(data, targets=self.task.targets, integers=integers), self.info.split
        )

    def names(self, data: Any) -> Sequence[int | str]:
        """Return the names of all nodes of the edges."""
        return node_ids(data)

    def with_split(self, data: Any, split: str | None, split_seed: int | None, source: str) -> Any:
        """Return loaded data with the requested split, or the ticket's if possible.

        Args:
            data: The data.
            split: Name of a split; None: the ticket's.
            split_seed: Seed of a drawn split; None: the ticket's.
            source: Name of the data in messages.
        """
        return with_split(data, self.info, split, split_seed, source, self.name)

    def edge_lists(self, data: Any, graph: Data, edges: Edges, keep: Tensor) -> list[EdgeList]:
        """Return the kept edges for tables, each undirected one once."""
        kept, listed, ids = edges.fields(keep)["edge_index"], graph.edge_index, node_ids(graph)
        if not edges.directed:
            kept, listed = kept[:, kept[0] <= kept[1]], listed.sort(dim=0).values
        return [EdgeList((ids, ids), kept, listed, graph)]

    def edges_text(self) -> str:
        """Return the description of the edges after their number."""
        return f"{'' if self.found_with.get('directed') else 'un'}directed edges"

    def counts(self) -> tuple[str, dict[str, Mapping[str, int]]]:
        """Return a title, and the edges of each part of the data, ``total`` and ``kept``."""
        return "", {}

    def row_names(self, data: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return the columns that name the predicted rows, and their values."""
        return ("node",), [(node,) for node in node_ids(self.store(data))]

    def targets(self, data: Any) -> Tensor | None:
        """Return the original targets of the rows, or None."""
        y: Tensor | None = self.store(data).get("y")
        return y

    def test_rows(self, data: Any) -> tuple[Tensor, Tensor]:
        """Return the test mask and the encoded targets of labelled rows."""
        y = self.targets(data)
        assert y is not None
        return self.store(data).test_mask, self.task.encode(y)

    def untested_reason(self, data: Any, outputs: int) -> str:
        """Return why there is no test metric for data; empty if there is one.

        Args:
            data: The data.
            outputs: Number of logits of a row.
        """
        store, y = self.store(data), self.targets(data)
        if y is None:
            return "data have no labels"
        if not self.task.classes and y.view(len(y), -1).size(1) != outputs:
            return "y has another number of columns"
        if any(key not in store for key in MASKS):
            return "data have no split"
        # With another split, training rows of the ticket would count as test rows.
        if self.split_fingerprint(store) != self.info.split_fingerprint:
            return "the split differs from the ticket's"
        known = self.task.targets.known(y)
        return "" if known[store.test_mask].all() else f"test {self.name}s have no label"
