"""Base class of kinds of problem: nodes, links, graphs and heterogeneous graphs."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.data.checks import MASKS, check_data
from teddy.graph import Edges
from teddy.graph.inputs import ExtraInputs
from teddy.models.edge_inputs import Inputs, model_inputs
from teddy.models.masks import check_takes_edge_weights
from teddy.tasks.heads import Head
from teddy.tasks.ticket_kind import TicketKind
from teddy.tasks.views import Choice, Views

if TYPE_CHECKING:
    from teddy.models.source import ModelSource
    from teddy.settings import Settings, TrainConfig


class Kind(TicketKind):
    """Kind of problem: makes views of data, and logits of rows from node outputs.

    This class predicts the nodes of one graph. Other kinds override the methods that differ. No
    code outside this subpackage depends on the kind.

    Attributes:
        row_fields: Further fields of rows in views.
        draws_splits: Whether a search draws a split of data without one (``split_seed``).
        has_groups: Whether edge budgets are by graph or by relation.
    """

    row_fields: ClassVar[tuple[str, ...]] = ()
    draws_splits: ClassVar[bool] = False
    has_groups: ClassVar[bool] = False

    def train_config(self, config: TrainConfig, model: Any) -> TrainConfig:
        """Return the training settings with the defaults of this kind."""
        return config

    def split_data(self, data: Any, settings: Settings) -> Any:
        """Return the data of a search, split if necessary."""
        return data

    def prepare(self, data: Any, settings: Settings) -> Data:
        """Return the predicted rows, checked: features, targets, masks, inputs."""
        return check_data(data, targets=self.task.targets, integers=True)

    def check_module(self, source: ModelSource, given: Data) -> None:
        """Raise unless your own module takes features and a graph."""
        source.check_module(given)

    def check_inputs(self, inputs: Inputs) -> Inputs:
        """Return the inputs of a model, or raise if the kind does not support them."""
        return inputs

    def edges(
        self, data: Any, given: Data, source: ModelSource, settings: Settings, device: torch.device
    ) -> Edges:
        """Return the edges of a search's data, with the values that its model takes.

        Args:
            data: Original data.
            given: Predicted rows, see :meth:`prepare`.
            source: Factory of the models.
            settings: The settings tree.
            device: Device of the result.
        """
        directed, (first, last) = settings.task.directed, given.edge_index
        inputs = self.check_inputs(model_inputs(source.kind(), given, directed))
        self_loops = bool((first == last).any()) and source.takes_self_loops()
        listed = copy.copy(given).to(device, "edge_index", *inputs.edges)
        edges = Edges.from_data(listed, inputs.edges, directed, self_loops)
        extra = ExtraInputs.from_data(given, inputs.nodes, inputs.whole).to(device)
        return replace(edges, extra_inputs=extra)

    def views(self, fields: Data, edges: Edges, settings: Settings, seed: int) -> Views:
        """Return the graphs that train, validate and test.

        Args:
            fields: ``x``, ``y`` and masks, on the device.
            edges: The edges.
            settings: The settings tree.
            seed: Seed of random scores.
        """
        inference = settings.task.inference
        make = Views.inductive if settings.task.inductive else Views.transductive
        return make(fields, edges, inference, seed, self.row_fields)

    def head(self, network: nn.Module, graph: Data, device: torch.device) -> Head | None:
        """Return the head of a network, or raise if the network does not support it.

        Args:
            network: The network.
            graph: Rows of :meth:`prepare`.
            device: Device of the result.

        Returns:
            None if the outputs are the logits.
        """
        return None

    def width(self, num_outputs: int) -> int:
        """Return the number of outputs of a built-in model for a number of logits."""
        return num_outputs

    def check_weighs_edges(self, network: nn.Module) -> None:
        """Raise unless a network takes edge weights, to learn edge masks."""
        check_takes_edge_weights(network)

    def identity(self, given: Data) -> dict[str, Any]:
        """Return further values that identify a result, next to graph, model and training."""
        return {}

    def second_metric(self, data: Data, logits: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Return another metric of the ``dense`` model and the ``ticket``, or None.

        Args:
            data: ``y`` and masks.
            logits: Logits of both.
        """
        return None

    def header_fields(
        self,
        views: Views,
        choice: Choice,
        given: Data,
        logits: Mapping[str, Tensor],
        head: Head | None,
    ) -> dict[str, Any]:
        """Return the field :attr:`key` of a ticket's header, in a dict.

        Args:
            views: The views of the search.
            choice: The kept edges.
            given: Rows of :meth:`prepare`.
            logits: Logits of the ``dense`` model and the ``ticket``.
            head: Head of the ticket's network.
        """
        return {}

    def for_tickets(self, data: Any, given: Data) -> Any:
        """Return the data that tickets of a search take: its rows, or the original data."""
        return given

    def rows(self, data: Any, settings: Settings) -> tuple[Tensor, Any]:
        """Return the targets of loaded data, and the store of their masks."""
        return data.y, data

    def data_parts(self, data: Any, settings: Settings) -> list[Any]:
        """Return texts, bytes and mappings of tensors that identify loaded data."""
        graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
        parts: list[Any] = [f"{graph.fingerprint()} {self.split_fingerprint(data)}"]
        if data.get("y") is not None:
            parts.append(data.y.numpy().tobytes())
        x = data.x if data.x.layout == torch.sparse_csr else data.x.to_sparse_csr()
        tensors = [x.crow_indices(), x.col_indices(), x.values()]
        if "edge_weight" in data:
            tensors.append(data.edge_weight)
        parts += [part.contiguous().numpy().tobytes() for part in tensors]
        known = {"x", "y", "edge_index", "edge_weight", *MASKS}
        others = {f" {key}": value for key, value in data.to_dict().items() if key not in known}
        directed = {" edge_index": data.edge_index} if settings.task.directed else {}
        return [*parts, others, directed]
