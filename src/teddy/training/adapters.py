"""Adapters for forward passes of built-in models and of any other module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError
from teddy.graph.inputs import HeteroInputs
from teddy.kernels.pattern import Pattern, edge_pattern
from teddy.layers import Acceleration
from teddy.models import GNN
from teddy.models.base import Features, entry_weights
from teddy.models.inputs import dense_input, match_dtype
from teddy.models.layered import LayeredGNN
from teddy.models.masks import Masks, call_with
from teddy.models.module_call import ModuleCall, stop_caching


class Adapter(ABC):
    """Forward passes of a network on a graph, in training and in evaluation."""

    @abstractmethod
    def training_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return training outputs of all nodes, or of these."""

    @abstractmethod
    def evaluation_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return evaluation outputs of all nodes, or of these, with the current weights."""


class BuiltInAdapter(Adapter):
    """Forward passes of a built-in model, with the graph prepared once and a shared stem.

    Evaluation after a step and the training forward of the next step have the same weights and
    masks, so that one stem serves both. Without dropout they are the same pass. A model that
    computes some nodes only does not share the stem, unless masks are learned.

    Args:
        network: Model.
        x: Features.
        edge_index: Messages; with edge masks, sorted by source, then target.
        values: ``edge_weight``, if edges have weights.
        masks: Learned masks.
        mask_of_edge: Mask of each undirected edge, see :class:`~teddy.training.runner.Runner`.
    """

    def __init__(
        self,
        network: GNN,
        x: Features,
        edge_index: Tensor,
        values: Mapping[str, Any],
        masks: Masks | None = None,
        mask_of_edge: Tensor | None = None,
    ) -> None:
        self.network, self.masks = network, masks
        self.x, self.structure = network.prepare(x, edge_index, **values)
        self.shares_stem = masks is not None or not network.by_node
        self._weights: dict[str, Tensor] | None = None
        self._stem: Any = None
        self._outputs: Tensor | None = None
        if masks is not None and masks.edge_mask is not None:
            self.pattern = edge_pattern(edge_index, x.shape[0])
            self.mask_of_entry = masks.mask_of_entry(self.pattern, mask_of_edge)
            self.edge_weights = values.get("edge_weight")
            if self.edge_weights is not None:
                self.edge_weights = entry_weights(edge_index, self.edge_weights, self.pattern)

    def training_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return training outputs of all nodes, or of these."""
        if not self.shares_stem:
            return self._of_nodes(self.network.train(), nodes)
        if self._stem is None:
            self._begin()
        outputs = self._outputs
        if outputs is None:
            self.network.train()
            outputs = self._call("head", self._stem)
        self._forget()  # the step is going to change the weights
        return _rows(outputs, nodes)

    def evaluation_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return evaluation outputs of all nodes, or of these, with the current weights."""
        if not self.shares_stem:
            with torch.no_grad():
                return self._of_nodes(self.network.eval(), nodes)
        self._begin()
        if self.network.deterministic:
            outputs = self._outputs = self._call("head", self._stem)
        else:
            with torch.no_grad():
                self.network.eval()
                outputs = self._call("head", self._stem)
        if not torch.is_grad_enabled():  # nothing can be learned from it
            self._forget()
        return _rows(outputs.detach(), nodes)

    def _of_nodes(self, network: GNN, nodes: Tensor | None) -> Tensor:
        stem: Any = network.stem
        return network.head(stem(self.x, self.structure, nodes), self.structure)

    def _begin(self) -> None:
        """Mask weights and edges, and compute the stem."""
        if self.masks is not None:
            self._weights = self.masks.weights(self.network)
        if self.masks is not None and self.masks.edge_mask is not None:
            weights = self.masks.edge_weights(self.mask_of_entry)
            if self.edge_weights is not None:
                weights = weights * self.edge_weights.to(weights)
            assert isinstance(self.network, LayeredGNN)
            self.structure = self.network.adjacency(self.pattern, weights)
        self._stem = self._call("stem", self.x)

    def _forget(self) -> None:
        self._weights = self._stem = self._outputs = None

    def _call(self, part: str, inputs: Any) -> Any:
        if self._weights is None:
            return getattr(self.network, part)(inputs, self.structure)
        return call_with(self.network, self._weights, part, inputs, self.structure)


class ModuleAdapter(Adapter):
    """Forward passes of your own module, over dense features.

    Its layers run on the compiled kernels where they can, see :func:`teddy.layers.accelerate`.
    Caches of layers (``cached=True``) are disabled. Lazy parameters are initialised by one pass.
    Edge weights are multiplied by edge masks.

    Args:
        network: Module, see :class:`~teddy.models.module_call.ModuleCall` for its inputs.
        x: Features.
        edge_index: Messages; with edge masks, sorted by source, then target.
        values: Other values of the graph by name.
        masks: Learned masks.
        mask_of_edge: Mask of each undirected edge, see :class:`~teddy.training.runner.Runner`.
    """

    def __init__(
        self,
        network: nn.Module,
        x: Tensor,
        edge_index: Any,
        values: Mapping[str, Any],
        masks: Masks | None = None,
        mask_of_edge: Tensor | None = None,
    ) -> None:
        self.network, self.call = stop_caching(network), ModuleCall(network)
        self.acceleration = Acceleration(network)
        self.x, self.edge_index = dense_input(network, x), edge_index
        self.values, self.masks = match_dtype(values, self.x), masks
        of_node = values.get("graph_of_node")
        self.num_rows = self.x.size(0) if of_node is None else int(of_node[-1]) + 1
        self.call.check(edge_index, values)
        if masks is not None and masks.edge_mask is not None:
            self.mask_of_message = _mask_of_message(masks, edge_index, x.size(0), mask_of_edge)
        if any(isinstance(p, UninitializedParameter) for p in network.parameters()):
            self.evaluation_outputs()
            self._check_initialized()
        if masks is not None and masks.edge_mask is not None and masks.edge_mask.numel():
            self._check_masks_matter(masks.edge_mask)

    def training_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return training outputs of all nodes, or of these."""
        self.network.train()
        return _rows(self._outputs(), nodes)

    @torch.no_grad()
    def evaluation_outputs(self, nodes: Tensor | None = None) -> Tensor:
        """Return evaluation outputs of all nodes, or of these, with the current weights."""
        self.network.eval()
        return _rows(self._outputs().detach(), nodes)

    def _outputs(self) -> Tensor:
        """Return the outputs of a pass, or raise if they are not logits."""
        edge_index, values, weights = self.edge_index, self.values, None
        if self.masks is not None:
            weights = self.masks.weights(self.network)
            if self.masks.edge_mask is not None:
                edge_index, values = self._masked_edges(self.masks)
        with self.acceleration:
            outputs = self.call(self.x, edge_index, values, weights)
        rows = self.num_rows
        if not isinstance(outputs, Tensor) or outputs.dim() != 2 or outputs.size(0) != rows:
            got = list(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
            raise InputError(
                f"the model returned {got}, expected logits of shape [{rows}, classes]"
            )
        return outputs

    def _masked_edges(self, masks: Masks) -> tuple[Any, dict[str, Any]]:
        """Return the graph and its values with masked edges."""
        weight = {kind: masks.edge_weights(index) for kind, index in self.mask_of_message.items()}
        if isinstance(self.edge_index, HeteroInputs):
            return self.edge_index.weighted(weight), self.values
        product = match_dtype(weight, self.x)["edge_weight"] * self.values.get("edge_weight", 1)
        return self.edge_index, {**self.values, "edge_weight": product}

    def _check_initialized(self) -> None:
        """Raise if a lazy parameter is still uninitialised after a pass, since it is unused."""
        for name, parameter in self.network.named_parameters():
            if isinstance(parameter, UninitializedParameter):
                raise InputError(
                    f"'{name}' of a {type(self.network).__name__} is lazy and never used, expected "
                    "a module without it"
                )

    def _check_masks_matter(self, edge_mask: Tensor) -> None:
        """Raise if the module takes edge weights, but does not use them."""
        self.network.eval()
        (gradient,) = torch.autograd.grad(self._outputs().sum(), [edge_mask], allow_unused=True)
        if gradient is None:
            raise InputError(
                f"the {type(self.network).__name__} ignores edge_weight, expected a module that "
                "uses it to learn edge masks"
            )


def _mask_of_message(
    masks: Masks, edge_index: Any, num_nodes: int, mask_of_edge: Tensor | None
) -> dict[Any, Tensor]:
    """Return masks of messages by relation; for one node type under ``edge_weight``."""
    if isinstance(edge_index, HeteroInputs):
        edges = edge_index.edge_of.items()
        return {kind: masks.mask_of_edge(edge, mask_of_edge) for kind, edge in edges}
    source, target = edge_index
    pattern = Pattern.from_entries(source, target, (num_nodes, num_nodes))
    return {"edge_weight": masks.mask_of_entry(pattern, mask_of_edge)}


def _rows(outputs: Tensor, nodes: Tensor | None) -> Tensor:
    return outputs if nodes is None else outputs.index_select(0, nodes)
