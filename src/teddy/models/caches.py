"""What PyG's layers remember of a graph with ``cached=True``: nothing of it is right on another."""

from __future__ import annotations

import copy
import io
from collections.abc import Iterator

import torch
from torch import nn
from torch.jit import ScriptModule
from torch_geometric.nn import MessagePassing

from teddy.errors import InputError

#: Names of what layers remember, as those of PyG call it.
_NAMES = ("_cached_edge_index", "_cached_adj_t", "_cached_x", "_cached_h")


def stop_caching(model: nn.Module) -> nn.Module:
    """Make every layer of a module compute each graph afresh, and forget those it has seen.

    The module is changed, and returned. Layers are PyG's and those derived from them.

    Raises:
        InputError: if a layer's cache can't be emptied.

    Example:
        >>> import torch
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
    """Return a copy of a module that remembers no graph; the module stays as it is.

    What a layer remembers may be a part of an autograd graph, which can't be copied.
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
    """What a layer remembers, by its name."""
    if isinstance(layer, ScriptModule):
        names = [name for name in _NAMES if hasattr(layer, name)]
    else:
        names = [name for name in vars(layer) if name.startswith(("_cached_", "cached_"))]
    found = {name: getattr(layer, name) for name in names}
    flags = (type(None), bool, int, float, str)
    return {name: value for name, value in found.items() if not isinstance(value, flags)}


def _set(layer: nn.Module, name: str, value: object) -> None:
    try:
        setattr(layer, name, value)
    except (AttributeError, RuntimeError, TypeError):
        raise InputError(
            f"a {type(layer).__name__} remembers its graph in {name}, which can't be changed; "
            "expected a layer with cached=False"
        ) from None
