"""``accelerate``: the layers of a module on the compiled kernels."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn
from torch.jit import ScriptModule
from torch_geometric.nn import MessagePassing

from teddy.kernels import jit
from teddy.layers.entries import EntriesCache
from teddy.layers.features import FastDropout, SparseMatrices, entries_of, runs_plainly
from teddy.layers.messages import reason_against
from teddy.layers.propagate import FastPropagate


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
        self._matrices, cache = SparseMatrices(), EntriesCache()
        self._fast: dict[str, FastPropagate] = {}
        self._replaced: list[tuple[nn.Module, str, object, dict[str, Any]]] = []
        self._lock, self._blocks, self._is_open = threading.Lock(), 0, False
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
        if self._is_open:  # of `with accelerate(module)`
            self._is_open = False
            return self
        return self.start()

    def start(self) -> Acceleration:
        """Accelerate until :meth:`remove`."""
        with self._lock:
            self._blocks += 1
            if self._blocks == 1 and jit.numba is not None and self._fast:
                for name, fast in self._fast.items():
                    self._replace(self.module.get_submodule(name), "propagate", fast)
                forward = FastForward(self.module, self.module.forward, self._matrices)
                self._replace(self.module, "forward", forward)
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Run the layers as PyG does again."""
        with self._lock:
            self._is_open = False
            self._blocks = max(0, self._blocks - 1)
            if self._blocks == 0:
                for module, name, fast, before in self._replaced[::-1]:
                    if vars(module).get(name) is fast:
                        vars(module).pop(name)
                        vars(module).update(before)
                self._replaced.clear()

    def __reduce__(self) -> tuple[type[Acceleration], tuple[nn.Module]]:
        """Copy and pickle without what was computed."""
        return Acceleration, (self.module,)

    def _replace(self, module: nn.Module, name: str, fast: object) -> None:
        """Replace a method of a module for the block, unless it has one of its own."""
        known = vars(module)
        before = {name: known[name]} if name in known else {}
        if before and name == "propagate":
            return
        known[name] = fast
        self._replaced.append((module, name, fast, before))


class FastForward:
    """The forward of a module on features of few non-zeros, with a faster dropout.

    Args:
        module: The module.
        forward: Its forward.
        matrices: Sparse matrices of features.
    """

    def __init__(
        self, module: nn.Module, forward: Callable[..., Any], matrices: SparseMatrices
    ) -> None:
        self.module, self.matrices = module, matrices
        # A bound method of the class would keep a copied module at its original.
        self._own = None if getattr(forward, "__self__", None) is module else forward
        self.__signature__ = inspect.signature(forward)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module's own forward."""
        forward: Any = self._own
        if forward is None:
            forward = partial(type(self.module).forward, self.module)
        if runs_plainly():
            return forward(*args, **kwargs)
        inputs = [self.matrices.replace(value) for value in args]
        named = {name: self.matrices.replace(value) for name, value in kwargs.items()}
        with FastDropout():
            return entries_of(forward(*inputs, **named))


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
        >>> import torch, torch_geometric.nn as pyg
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
    made = Acceleration(module).start()
    made._is_open = True
    return made


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
