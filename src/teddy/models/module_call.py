"""Call of your own module: arguments by the names in its forward, no cached graphs."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.jit import ScriptModule
from torch_geometric.nn import MessagePassing

from teddy.errors import InputError
from teddy.graph.inputs import HeteroInputs
from teddy.models.edge_inputs import check_given
from teddy.models.hetero import call_hetero
from teddy.models.masks import call_with
from teddy.models.own_module import ForwardSignature


class ModuleCall:
    """Call of a module on a graph.

    A module is called as ``module(x, edge_index)``, with other values by the names in its forward.
    A module that pools graphs itself gets ``graph_of_node`` as ``batch``. On a heterogeneous graph
    the call is ``module(x_dict, edge_index_dict)``, see :mod:`teddy.models.hetero`.

    Example:
        >>> class Own(nn.Linear):
        ...     def forward(self, x, edge_index, batch): return super().forward(x)[batch == 1]
        >>> x, of_node = torch.ones(3, 1), torch.tensor([0, 0, 1])
        >>> ModuleCall(Own(1, 2))(x, torch.tensor([[0], [1]]), {"graph_of_node": of_node}).shape
        torch.Size([1, 2])
    """

    def __init__(self, module: nn.Module) -> None:
        self.module, self.signature = module, ForwardSignature.from_module(module)

    def check(self, edge_index: Any, values: Mapping[str, Any]) -> None:
        """Raise if the module requires missing values, or does not take the given ones."""
        if not isinstance(edge_index, HeteroInputs):
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
            x: Features; of a heterogeneous graph those of the target nodes.
            edge_index: Edges; of a heterogeneous graph
                :class:`~teddy.graph.inputs.HeteroInputs`.
            values: Other values of the graph by name.
            weights: Weights in place of the module's own, by name.
        """
        run: Callable[..., Any] = self.module
        if weights is not None:
            run = partial(call_with, self.module, weights, "__call__")
        if isinstance(edge_index, HeteroInputs):
            return call_hetero(self.module, x, edge_index, run)
        inputs, named = self.signature.arguments(x, edge_index, _named(values))
        return run(*inputs, **named)


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by their names in PyG."""
    return {"batch" if name == "graph_of_node" else name: v for name, v in values.items()}


@torch.no_grad()
def check_looks_up(module: nn.Module, x: Tensor, edge_index: Any, **of_edges: Any) -> None:
    """Raise if a module fails on integer features, in one pass.

    Args:
        module: Copy of your own module, whose lazy parameters are initialised.
        x: Integer features.
        edge_index: The graph.
        of_edges: Other values by name.

    Example:
        >>> class Own(nn.Linear):
        ...     def forward(self, x, edge_index): return super().forward(x)
        >>> check_looks_up(Own(1, 2), torch.tensor([[1]]), torch.tensor([[0], [0]]))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Own fails on integer x (RuntimeError: ...), expected an
        embedding with a row for each id, or data.x = data.x.float()
    """
    try:
        ModuleCall(module.eval())(x, edge_index, of_edges)
    except Exception as error:  # any error of your own module
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            f"a {type(module).__name__} fails on integer x ({type(error).__name__}: {reason}), "
            "expected an embedding with a row for each id, or data.x = data.x.float()"
        ) from error


#: Names of cached values in PyG layers.
_NAMES = ("_cached_edge_index", "_cached_adj_t", "_cached_x", "_cached_h")


def stop_caching(model: nn.Module) -> nn.Module:
    """Clear and disable the caches of PyG layers (``cached=True``), which hold one graph only.

    The module is changed and returned.

    Raises:
        InputError: if a layer's cache can't be emptied.

    Example:
        >>> from torch_geometric.nn import GCNConv
        >>> conv = GCNConv(1, 1, cached=True)
        >>> _ = conv(torch.ones(2, 1), torch.tensor([[0], [1]]))
        >>> stop_caching(conv)._cached_edge_index is None, conv.cached
        (True, False)
    """
    for layer in _layers(model):
        for name in _caches(layer):
            _set(layer, name, None)
        if getattr(layer, "cached", False) is True:
            _set(layer, "cached", False)
    return model


def copy_uncached(model: nn.Module) -> nn.Module:
    """Return a copy of a module with empty caches.

    A cached tensor may be a part of an autograd graph, which cannot be copied.
    """
    if isinstance(model, ScriptModule):  # the parameters of a deep copy can't be trained
        buffer = io.BytesIO()
        torch.jit.save(model, buffer)
        buffer.seek(0)
        return stop_caching(torch.jit.load(buffer))
    memo = {
        id(value): None
        for layer in _layers(model)
        if not isinstance(layer, ScriptModule)
        for value in _caches(layer).values()
    }
    return stop_caching(copy.deepcopy(model, memo))


def _layers(model: nn.Module) -> Iterator[nn.Module]:
    for module in model.modules():
        scripted = isinstance(module, ScriptModule)
        if scripted or isinstance(module, MessagePassing):
            yield module


def _caches(layer: nn.Module) -> dict[str, object]:
    """Return the cached values of a layer by name."""
    if isinstance(layer, ScriptModule):
        names = [name for name in _NAMES if hasattr(layer, name)]
    else:
        names = [name for name in vars(layer) if name.startswith(("_cached_", "cached_"))]
    values = {name: getattr(layer, name) for name in names}
    flags = (type(None), bool, int, float, str)
    return {name: value for name, value in values.items() if not isinstance(value, flags)}


def _set(layer: nn.Module, name: str, value: object) -> None:
    try:
        setattr(layer, name, value)
    except (AttributeError, RuntimeError, TypeError):
        raise InputError(
            f"a {type(layer).__name__} caches its graph in {name}, which cannot be cleared, "
            "expected a layer with cached=False"
        ) from None
