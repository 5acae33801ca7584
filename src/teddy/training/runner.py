"""Runner: forward passes of a network on a graph, with a head and learned masks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.inputs import model_values
from teddy.models.layered import LayeredGNN
from teddy.models.masks import Masks
from teddy.training.adapters import Adapter, BuiltInAdapter, ModuleAdapter
from teddy.training.layerwise import LayerwiseAdapter


class Runner:
    r"""Forward passes of a network on a graph, for training and for evaluation.

    With an encoder :math:`f` of nodes and a head :math:`h` without weights, the logits are
    :math:`h(f(X, A))`; with masks they are :math:`h(f(X, m_g \odot A, m_\theta \odot \Theta))`.

    Args:
        network: Built-in model, or any module with ``forward(x, edge_index)``.
        x: Features.
        edge_index: Messages; with edge masks, sorted by source, then target. Of a heterogeneous
            graph :class:`~teddy.graph.inputs.HeteroInputs`.
        values: Other inputs of the network, such as ``edge_weight``, and ``graph_of_node`` of
            several graphs, for the head or, without one, for the network.
        head: Map from node outputs to logits of links or graphs; None: the outputs are the logits.
            Its tensors belong to the data and are non-persistent buffers.
        masks: Learned masks of edges and weights.
        mask_of_edge: Index of the mask of each undirected edge, in canonical order; one past the
            last: no mask. By default one mask for each edge.
        by_layer: Whether to evaluate layer by layer with little memory, if the network supports
            it; other runners train it on mini-batches.

    Example:
        >>> import torch
        >>> from teddy.models import GCN
        >>> from teddy.tasks.heads import LinkHead
        >>> network, x = GCN(3, 2, hidden_channels=4), torch.ones(2, 3)
        >>> path = torch.tensor([[0, 1], [1, 0]])
        >>> Runner(network, x, path).evaluation_logits().shape
        torch.Size([2, 2])
        >>> head = LinkHead(torch.tensor([[0], [1]]))
        >>> Runner(network, x, path, head=head).training_logits().shape
        torch.Size([1, 1])
    """

    def __init__(
        self,
        network: nn.Module,
        x: Tensor,
        edge_index: Any,
        values: Mapping[str, Any] | None = None,
        *,
        head: nn.Module | None = None,
        masks: Masks | None = None,
        mask_of_edge: Tensor | None = None,
        by_layer: bool = False,
    ) -> None:
        self.network, self.head, self.masks, self.by_layer = network, head, masks, by_layer
        values = dict(values or {})
        self._of_graphs: tuple[Tensor, ...] = ()
        if head is not None:
            for name in head.state_dict():
                raise InputError(f"the head stores '{name}', expected a head without weights")
            if "graph_of_node" in values:
                self._of_graphs = (values.pop("graph_of_node"),)
        self.adapter: Adapter
        if by_layer and isinstance(network, LayeredGNN) and network.by_layer:
            self.adapter = LayerwiseAdapter(network, x, edge_index, **values)
        elif isinstance(network, GNN):
            self.adapter = BuiltInAdapter(network, x, edge_index, values, masks, mask_of_edge)
        else:
            self.adapter = ModuleAdapter(network, x, edge_index, values, masks, mask_of_edge)

    @staticmethod
    def from_data(
        network: nn.Module,
        data: Data,
        *,
        head: nn.Module | None = None,
        masks: Masks | None = None,
        by_layer: bool = False,
    ) -> Runner:
        """Return the runner of a graph with ``x``, ``edge_index`` and other inputs."""
        mask_of_edge, values = data.get("mask_of_edge"), model_values(data)
        return Runner(
            network, data.x, data.edge_index, values,
            head=head, masks=masks, mask_of_edge=mask_of_edge, by_layer=by_layer,
        )  # fmt: skip

    def on(self, data: Data) -> Runner:
        """Return the runner of the same network, head and masks on another graph."""
        return Runner.from_data(
            self.network, data, head=self.head, masks=self.masks, by_layer=self.by_layer
        )

    def training_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Return training logits of all rows, or of these; with a head, of links or graphs."""
        if self.head is None:
            return self.adapter.training_outputs(nodes)
        return self._predicted(self.adapter.training_outputs(), nodes)

    def evaluation_logits(self, nodes: Tensor | None = None) -> Tensor:
        """Return evaluation logits with the current weights, without gradients."""
        if self.head is None:
            return self.adapter.evaluation_outputs(nodes)
        return self._predicted(self.adapter.evaluation_outputs(), nodes)

    def _predicted(self, outputs: Tensor, rows: Tensor | None) -> Tensor:
        assert self.head is not None
        logits: Tensor = self.head(outputs, *self._of_graphs)
        return logits if rows is None else logits.index_select(0, rows)
