"""``accelerate``: the layers of a module on the compiled kernels."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn
from torch.jit import ScriptModule
from torch_geometric.nn import MessagePassing

from teddy.data.features import SPARSE_BELOW
from teddy.kernels import jit
from teddy.layers.entries import EntriesCache
from teddy.layers.features import Late, SparseInput, entries_of
from teddy.layers.messages import reason_against
from teddy.layers.propagate import FastPropagate
from teddy.tensors import TensorCache

# Smaller features are not worth it.
_LEAST = 1 << 14


class Acceleration:
    """Accelerated layers of a module, within its block; see :func:`accelerate`.

    Args:
        module: The module.

    Attributes:
        layers: Names of the accelerated layers.
        others: Names of the other layers that pass messages, each with the reason.

    Example:
        >>> import torch_geometric.nn as pyg
        >>> Acceleration(pyg.GraphSAGE(3, 4, num_layers=1, aggr="max"))
        Acceleration(layers=[], others={'convs.0': 'its aggregation is MaxAggregation, not a sum...
    """

    def __init__(self, module: nn.Module) -> None:
        self.module, self.others = module, dict[str, str]()
        self._features, cache = TensorCache(), EntriesCache()
        self._fast: dict[str, FastPropagate] = {}
        for name, layer in module.named_modules():
            if isinstance(layer, ScriptModule) or not isinstance(layer, MessagePassing):
                continue
            reason = reason_against(layer)
            if reason is None:
                self._fast[name] = FastPropagate(layer, cache)
            else:
                self.others[name] = reason

    @property
    def layers(self) -> list[str]:
        """Names of the accelerated layers."""
        return list(self._fast)

    def __repr__(self) -> str:
        return f"Acceleration(layers={self.layers}, others={self.others})"

    def __enter__(self) -> Acceleration:
        if jit.numba is not None and self._fast:
            for name, fast in self._fast.items():
                vars(self.module.get_submodule(name))["propagate"] = fast
            vars(self.module)["forward"] = FastForward(self.module, self._features)
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Run the layers as PyG does again."""
        for name in self._fast:
            vars(self.module.get_submodule(name)).pop("propagate", None)
        vars(self.module).pop("forward", None)


class FastForward:
    """The forward of a module, with products that are computed late.

    Args:
        module: The module.
        known: Sparse matrices of features.
    """

    def __init__(self, module: nn.Module, known: TensorCache) -> None:
        self.module, self.known = module, known
        self.__signature__ = inspect.signature(module.forward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module's own forward."""
        forward: Any = type(self.module).forward
        if torch.compiler.is_compiling():
            return forward(self.module, *args, **kwargs)
        inputs = [self._input(value) for value in args]
        named = {name: self._input(value) for name, value in kwargs.items()}
        with Late():
            return entries_of(forward(self.module, *inputs, **named))

    def _input(self, value: Any) -> Any:
        """Replace features of few non-zeros."""
        if type(value) is not Tensor or value.dim() != 2 or not value.is_floating_point():
            return value
        if value.requires_grad or value.numel() < _LEAST or not jit.available(value):
            return value
        if value.layout != torch.strided or value.is_inference():
            return value
        known = self.known.get(value, "sparse")
        if known is None:
            few = int(torch.count_nonzero(value)) < SPARSE_BELOW * value.numel()
            known = SparseInput.make(value.detach()) if few else False
            self.known.put(value, "sparse", known)
        return known if isinstance(known, SparseInput) else value


def accelerate(module: nn.Module) -> Acceleration:
    """Run the layers of a PyG module on the compiled kernels, in training and evaluation.

    Nothing in the module changes but the way in which messages are summed: a layer whose message is
    the row of its source, or that times a number, becomes a product with a sparse matrix, which is
    made once for a graph. Features of few non-zeros are multiplied as a sparse matrix. Results are
    those of PyG up to rounding. Other layers run as before. Without numba (extra ``fast``), and on
    other devices than the CPU, nothing is accelerated.

    Args:
        module: A module with layers of PyG, or with your own ``MessagePassing`` layers.

    Example:
        >>> import torch_geometric.nn as pyg
        >>> net = pyg.GCN(3, 4, num_layers=2, out_channels=2)
        >>> x, edge_index = torch.rand(3, 3), torch.tensor([[0, 1], [1, 2]])
        >>> expected = net(x, edge_index)
        >>> fast = accelerate(net)
        >>> fast.layers, fast.others
        (['convs.0', 'convs.1'], {})
        >>> torch.allclose(net(x, edge_index), expected, atol=1e-6)
        True
        >>> fast.remove()  # or `with accelerate(net): ...`
    """
    return Acceleration(module).__enter__()


def layer_fields(module: nn.Module) -> dict[str, dict[str, Any]]:
    """Return which layers of a module are accelerated, for the metadata of a ticket.

    Example:
        >>> import torch_geometric.nn as pyg
        >>> layer_fields(pyg.GCN(3, 4, num_layers=1))
        {'pyg_layers': {'accelerated': ['convs.0'], 'others': {}}}
        >>> layer_fields(nn.Linear(1, 1))
        {}
    """
    found = Acceleration(module)
    if jit.numba is None or not (found.layers or found.others):
        return {}
    return {"pyg_layers": {"accelerated": found.layers, "others": found.others}}


def layer_text(fields: dict[str, Any]) -> str:
    """Return a sentence on the layers of :func:`layer_fields`.

    Example:
        >>> layer_text({"accelerated": ["convs.0"], "others": {"last": "its sum is another"}})
        'Layers on the compiled kernels: convs.0. As in PyG: last (its sum is another).'
    """
    others = ", ".join(f"{name} ({reason})" for name, reason in fields["others"].items())
    names = ", ".join(fields["accelerated"]) or "none"
    return f"Layers on the compiled kernels: {names}." + (
        f" As in PyG: {others}." if others else ""
    )
