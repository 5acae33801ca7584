"""The call of a user's own module: by the names in its forward, by graph or by node type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from teddy.graph.surroundings import Surroundings
from teddy.models.edge_inputs import check_given
from teddy.models.hetero import call_hetero
from teddy.models.masks import call_with
from teddy.models.signature import ForwardSignature


class ModuleCall:
    """The call convention of a module on a graph.

    A module is called as ``module(x, edge_index)``, with other values by the names in its forward.
    One that reads graphs out itself gets ``graph_of_node`` as ``batch``. On a heterogeneous graph
    it is called as ``module(x_dict, edge_index_dict)``, see :mod:`teddy.models.hetero`.

    Args:
        module: The module.

    Example:
        >>> import torch
        >>> class Own(nn.Linear):
        ...     def forward(self, x, edge_index, batch): return super().forward(x)[batch == 1]
        >>> x, of_node = torch.ones(3, 1), torch.tensor([0, 0, 1])
        >>> ModuleCall(Own(1, 2))(x, torch.tensor([[0], [1]]), {"graph_of_node": of_node}).shape
        torch.Size([1, 2])
    """

    def __init__(self, module: nn.Module) -> None:
        self.module, self.signature = module, ForwardSignature.of(module)

    def check(self, edge_index: Any, values: Mapping[str, Any]) -> None:
        """Raise if the module needs other values than there are, or doesn't take those."""
        if not isinstance(edge_index, Surroundings):
            check_given(self.module, _named(values))

    def __call__(
        self,
        x: Tensor,
        edge_index: Any,
        values: Mapping[str, Any],
        weights: Mapping[str, Tensor] | None = None,
    ) -> Any:
        """Call the module.

        Args:
            x: Features; of a heterogeneous graph those of the nodes that are predicted.
            edge_index: Edges; of a heterogeneous graph
                :class:`~teddy.graph.surroundings.Surroundings`.
            values: Other values of the graph by name.
            weights: Weights in place of the module's own, by name.
        """
        run: Callable[..., Any] = self.module
        if weights is not None:
            run = partial(call_with, self.module, weights, "__call__")
        if isinstance(edge_index, Surroundings):
            return call_hetero(self.module, x, edge_index, run)
        inputs, named = self.signature.arguments(x, edge_index, _named(values))
        return run(*inputs, **named)


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the names that PyG has for them."""
    return {"batch" if name == "graph_of_node" else name: v for name, v in values.items()}
