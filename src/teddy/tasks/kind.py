"""Kinds of problem: all that differs between nodes, links, graphs and heterogeneous graphs."""

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
    """Kind of problem: how data become views, and outputs of nodes become predictions.

    This class is that of one graph whose nodes are predicted. Each other kind overrides what
    differs; nothing outside this subpackage asks which kind it is.

    Attributes:
        row_fields: Further fields of the rows that views have.
        draws_splits: Whether a search draws a split of data without one (``split_seed``).
        has_groups: Whether there are several edge budgets, by graph or by relation.
    """

    row_fields: ClassVar[tuple[str, ...]] = ()
    draws_splits: ClassVar[bool] = False
    has_groups: ClassVar[bool] = False

    def train_config(self, config: TrainConfig, model: Any) -> TrainConfig:
        """Return the settings of the training with this kind's own defaults."""
        return config

    def split_data(self, data: Any, settings: Settings) -> Any:
        """Return the data that a search sees, before it is asked for a model."""
        return data

    def prepare(self, data: Any, settings: Settings) -> Data:
        """Return the rows that are predicted, checked: features, targets, masks, inputs."""
        return check_data(data, targets=self.task.targets, integers=True)

    def check_module(self, source: ModelSource, given: Data) -> None:
        """Raise unless the user's own module takes features and a graph."""
        source.check_module(given)

    def check_inputs(self, inputs: Inputs) -> Inputs:
        """Return the values that a model is given, or raise if they can't be."""
        return inputs

    def edges(
        self, data: Any, given: Data, source: ModelSource, settings: Settings, device: torch.device
    ) -> Edges:
        """Return the edges of a search's data, with the values that its model takes.

        Args:
            data: The data as they came.
            given: The rows that are predicted, see :meth:`prepare`.
            source: Makes the models.
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
            seed: For scores that draw.
        """
        inference = settings.task.inference
        make = Views.inductive if settings.task.inductive else Views.transductive
        return make(fields, edges, inference, seed, self.row_fields)

    def head(self, network: nn.Module, graph: Data, device: torch.device) -> Head | None:
        """Return the head of a network, or raise if the network can't have one.

        Args:
            network: The network.
            graph: Rows of :meth:`prepare`.
            device: Device of the result.

        Returns:
            None where the outputs are the logits.
        """
        return None

    def width(self, num_outputs: int) -> int:
        """Return the outputs of a built-in model for so many logits."""
        return num_outputs

    def check_weighs_edges(self, network: nn.Module) -> None:
        """Raise unless a network takes weights of edges, to learn edge masks."""
        check_takes_edge_weights(network)

    def identity(self, given: Data) -> dict[str, Any]:
        """Return the values that decide a result beside the graph, model and training."""
        return {}

    def second_metric(self, data: Data, logits: Mapping[str, Tensor]) -> dict[str, Any] | None:
        """Return another metric of the ``dense`` model and the ``ticket``, where there is one.

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
        """Return the field :attr:`key` of a ticket's header, by its name.

        Args:
            views: The views of the search.
            choice: The kept edges.
            given: Rows of :meth:`prepare`.
            logits: Logits of the ``dense`` model and the ``ticket``.
            head: Head of the ticket's network.
        """
        return {}

    def for_tickets(self, data: Any, given: Data) -> Any:
        """Return the data that tickets of a search take: its rows, or the data as they came."""
        return given

    def rows(self, data: Any, settings: Settings) -> tuple[Tensor, Any]:
        """Return the targets of loaded data, and the place that has their masks."""
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
