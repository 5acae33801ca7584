"""Kind of problem: graphs of a set, for graph classification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from teddy.data.checks import MASKS, PRUNED_BY
from teddy.errors import InputError
from teddy.graph import Edges, Groups
from teddy.graph.edge_subgraph import column_of_message, keep_batch_edges
from teddy.graph.fingerprint import borders_fingerprint
from teddy.models.edge_inputs import Inputs, takes
from teddy.sparsity import check_seed
from teddy.tasks.graph_split import as_batch, graph_set, left_out, with_graph_values
from teddy.tasks.heads import Head, Readout, readout_for
from teddy.tasks.kind import Kind
from teddy.tasks.programs import GraphProgram, Program
from teddy.tasks.ticket_kind import EdgeList
from teddy.tasks.views import Choice, Views

if TYPE_CHECKING:
    from teddy.models.source import ModelSource
    from teddy.settings import Settings, TrainConfig


class GraphKind(Kind):
    """Graphs of a set; a graph's logits are a readout of its node outputs.

    Training uses the training graphs only, in full batch or mini-batches. Held-out graphs are
    pruned like new graphs, by the score. They keep all edges if edge masks were learned, or with
    the rules ``training`` and ``none`` of ``inference``. The prediction of a graph does not depend
    on other graphs.

    The task may declare ``readout``. With the budget ``all``, the sparsity holds for all graphs of
    one part of the split together.
    """

    name: ClassVar[str] = "graph"
    key: ClassVar[str] = "graphs"
    takes_other_graphs: ClassVar[bool] = True
    classes_of_nodes: ClassVar[bool] = False
    container: ClassVar[str] = "Batch, or a list of Data"
    unsupported: ClassVar[Mapping[str, str]] = {
        "heterogeneous": "its readout is over nodes of one type",
    }
    draws_splits: ClassVar[bool] = True
    has_groups: ClassVar[bool] = True
    row_fields: ClassVar[tuple[str, ...]] = ("graph_of_node",)

    @property
    def _readout(self) -> str:
        """Readout of the task, by default the mean."""
        return str(self.task.options().get("readout", "mean"))

    def train_config(self, config: TrainConfig, model: Any) -> TrainConfig:
        """Return settings that distil on the training graphs."""
        return replace(config, distill_nodes="training")

    def prepare(self, data: Any, settings: Settings) -> Data:
        """Return the union of all graphs; those without a split get one."""
        batch, seed = as_batch(data, "data"), settings.data.split_seed
        self.left_out, self.budget = left_out(batch), settings.task.budget
        if seed is not None and MASKS[0] in batch:
            raise InputError(f"split_seed is {seed} and data have a split, expected one of them")
        batch = graph_set(
            batch, seed=check_seed(seed or 0), source="data", targets=self.task.targets
        )
        given = {key: batch[key] for key in batch.keys() if key not in ("batch", "ptr")}  # noqa: SIM118
        return Data(**given, graph_of_node=batch.batch)

    def for_tickets(self, data: Any, given: Data) -> Any:
        """Return the original data."""
        return data

    def check_module(self, source: ModelSource, given: Data) -> None:
        """Raise if the module cannot run on a graph, or needs a field that was left out."""
        super().check_module(source, given)
        model = source.kind()
        for name, reason in self.left_out.items():
            if takes(model, name):
                raise InputError(
                    f"{name} {reason}, expected a value of all nodes or edges for a set of graphs"
                )

    def check_inputs(self, inputs: Inputs) -> Inputs:
        """Raise if a value belongs to the whole set."""
        for name in inputs.whole:
            raise InputError(
                f"{name} is neither of nodes nor of edges, expected one of them in a set of graphs"
            )
        return inputs

    def views(self, fields: Data, edges: Edges, settings: Settings, seed: int) -> Views:
        """Return the graphs of each part of the split."""
        of_node = fields.graph_of_node
        inference = settings.task.inference
        return Views.from_graphs(fields, edges, of_node, self.budget, inference, seed)

    def head(self, network: nn.Module, graph: Data, device: torch.device) -> Head | None:
        """Return the readout; None for a module that takes ``batch``."""
        return readout_for(network, self._readout)

    def ticket_head(self, graph: Data, device: torch.device) -> Head | None:
        """Return the readout that a ticket was found with."""
        kind = self.header["readout"]
        return None if kind is None else Readout(kind, graph.batch.to(device))

    def identity(self, given: Data) -> dict[str, Any]:
        """Return the options, and a digest of the graphs' sizes."""
        borders = borders_fingerprint(given.graph_of_node)
        return {"budget": self.budget, "readout": self._readout, "borders": borders}

    def inputs(self, graph: Data, head: Head | None, device: torch.device) -> dict[str, Any]:
        """Return the graph of each node for a module that takes ``batch``."""
        return {} if head is not None else {"graph_of_node": graph.batch.to(device)}

    def header_fields(
        self,
        views: Views,
        choice: Choice,
        given: Data,
        logits: Mapping[str, Tensor],
        head: Head | None,
    ) -> dict[str, Any]:
        """Return the parts of the split with their edges, the budget and the readout."""
        keep = views.kept(views.full, choice)
        counts = {
            name.removesuffix("_mask"): {
                "graphs": int(given[name].sum()),
                "total": int(own.sum()),
                "kept": int(keep[own].sum()),
            }
            for name, (_, own) in zip(MASKS, views.parts[:3], strict=True)
        }
        rule = views.inference
        return {
            self.key: {
                "count": given.y.size(0),
                "borders": borders_fingerprint(given.graph_of_node),
                "budget": self.budget,
                "readout": None if head is None else self._readout,
                "parts": counts,
                **({} if rule == "scored" else {"inference": rule}),
            }
        }

    def graph(self, data: Any) -> Batch:
        """Return the graphs as one ``Batch``."""
        return as_batch(data)

    def require_fields(self, data: Any, names: Iterable[str], what: str = "graphs") -> None:
        """Raise unless all graphs have the fields that a ticket was found with."""
        super().require_fields(data, names, what)

    def same_rows(self, graph: Data) -> bool:
        """Return whether the graphs have the sizes of the ticket's graphs."""
        return bool(borders_fingerprint(graph.batch) == self.header["borders"])

    def edges_to_score(self, edges: Edges, graph: Data) -> Edges:
        """Return the edges, with a budget for each graph."""
        groups = Groups.from_batch(graph.batch, graph.num_graphs, separate_draws=True)
        return replace(edges, groups=groups)

    def sizes(self, edges: Edges, graph: Data) -> tuple[Tensor, list[int]]:
        """Return all messages, and the nodes of each graph."""
        return edges.edge_index, _nodes(graph)

    def program(self) -> Program:
        """Return the inputs of a network of graphs."""
        return GraphProgram(self.found_with, self.header)

    def pruned(
        self, data: Any, graph: Data, edges: Edges, fields: dict[str, Any], marks: Tensor
    ) -> Batch:
        """Return the graphs pruned; each can be taken out of the ``Batch``."""
        sparse = keep_batch_edges(graph, column_of_message(graph.edge_index, fields["edge_index"]))
        for name, value in fields.items():
            sparse[name] = value
        return with_graph_values(sparse, **{PRUNED_BY: marks})

    def labelled(self, data: Any) -> Batch:
        """Return the graphs with their classes and a split.

        Without one, the ticket's split of its own set is drawn again. For any other set the
        training graphs of the ticket are unknown.
        """
        batch = as_batch(data)
        if any(key in batch for key in MASKS):
            return graph_set(batch, targets=self.task.targets)
        if self.info.split_seed is None:
            raise InputError("graphs: have no split, expected the split of the ticket's graphs")
        if not self.found_on(batch):
            raise InputError(
                "graphs: have no split, and differ from those that the ticket was found on, "
                "expected train_mask, val_mask and test_mask"
            )
        return graph_set(batch, self.info.split, self.info.split_seed, targets=self.task.targets)

    def with_split(
        self, data: Any, split: str | None, split_seed: int | None, source: str
    ) -> Batch:
        """Return loaded graphs with a split of graphs."""
        found = super().with_split(data, split, split_seed, source)
        return with_graph_values(found, **{key: found[key] for key in MASKS if key in found})

    def edge_lists(self, data: Any, graph: Data, edges: Edges, keep: Tensor) -> list[EdgeList]:
        """Return the kept edges with the number of their graph; nodes are numbered in each."""
        (found,) = super().edge_lists(data, graph, edges, keep)
        of_edge = graph.batch[found.edges[0]]
        ids = torch.arange(graph.num_nodes, device=of_edge.device) - graph.ptr[graph.batch]
        return [replace(found, ids=(ids.tolist(),) * 2, columns={"graph": of_edge})]

    def edges_text(self) -> str:
        """Return the description of the edges after their number."""
        return f"{super().edges_text()} in {self.header['count']:,} graphs"

    def counts(self) -> tuple[str, dict[str, Mapping[str, int]]]:
        """Return the edges of each part of the split."""
        parts, words = self.header["parts"], {"train": "train", "val": "validate", "test": "test"}
        named = {
            f"{parts[p]['graphs']:,} graphs that {what}": parts[p] for p, what in words.items()
        }
        return "Edges", named

    def row_names(self, data: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return the number of each graph."""
        return ("graph",), [(number,) for number in range(self.graph(data).num_graphs)]

    def untested_reason(self, data: Any, outputs: int) -> str:
        """Return why there is no test metric; empty if there is one."""
        reason = super().untested_reason(data, outputs)
        return reason or ("" if self.found_on(data) else "the graphs differ from the ticket's")

    def found_on(self, batch: Batch) -> bool:
        """Return whether a ticket was found on these graphs, whole or pruned."""
        names = self.found_with.get("edge_inputs", [])
        own = {self.found_with.get(key) for key in ("fingerprint", "kept_fingerprint")} - {None}
        return self.same_rows(batch) and self.ticket_edges(batch, batch, names).fingerprint() in own

    def names(self, data: Any) -> Sequence[int | str]:
        """Return names of all nodes: number of the graph and number in it, such as ``1:0``.

        Example:
            >>> from teddy.tasks import GraphClassification
            >>> batch = Batch.from_data_list([Data(num_nodes=2), Data(num_nodes=1)])
            >>> GraphKind(GraphClassification()).names(batch)
            ['0:0', '0:1', '1:0']
        """
        sizes = enumerate(_nodes(self.graph(data) if not isinstance(data, Batch) else data))
        return [f"{graph}:{node}" for graph, size in sizes for node in range(size)]


def _nodes(batch: Batch) -> list[int]:
    """Return the nodes of each graph."""
    sizes: list[int] = torch.bincount(batch.batch, minlength=batch.num_graphs).tolist()
    return sizes
