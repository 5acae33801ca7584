"""From your own module with dead hidden units to an equal one that is smaller."""

from __future__ import annotations

import copy
from collections.abc import Callable
from textwrap import shorten

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from teddy.models.compact import alive_units, at_least_one, remove_units
from teddy.models.declared_units import declared_units

#: How far outputs may be off, of those of largest size.
TOLERANCE = 1e-5

# Sizes that layers of torch and PyG know of themselves, and the dimension of their weight.
_SIZES = {
    "out_features": 0,
    "out_channels": 0,
    "num_features": 0,
    "in_features": 1,
    "in_channels": 1,
}


class NotSmallerError(Exception):
    """Why a module can't be made smaller."""


@torch.no_grad()
def compact_module(model: nn.Module, run: Callable[[nn.Module], Tensor]) -> nn.Module:
    """Remove the dead ones among the hidden units that your own module declares.

    Tensors are made smaller, and so are the sizes that layers of torch and PyG know of themselves.
    The outputs are compared with those of the module as it was.

    Args:
        model: The module, in evaluation; it isn't changed.
        run: From a module to its outputs, on the graph that counts.

    Returns:
        A smaller copy; the module itself if it declares no units, or none of them is dead.

    Raises:
        NotSmallerError: if the smaller copy doesn't run, or gives other outputs.

    Example:
        >>> from teddy.weights import Part, Units
        >>> class Own(nn.Sequential):
        ...     def units(self):
        ...         incoming = Part(self[0].weight, 0), Part(self[0].bias, 0)
        ...         return [Units(8, incoming, (Part(self[2].weight, 1),))]
        >>> own = Own(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> own.units()[0].zero_(torch.arange(8) > 1)
        >>> compact_module(own, lambda module: module(torch.ones(1, 3)))[0]
        Linear(in_features=3, out_features=2, bias=True)
    """
    if not declared_units(model):
        return model
    small = copy.deepcopy(model).requires_grad_(False)
    layers = declared_units(small)
    alive = alive_units(layers)
    if all(bool(stays.all()) for stays in alive):
        return model
    remove_units(small, layers, [at_least_one(stays) for stays in alive])
    fit_sizes(model, small)
    kind, before = f"a {type(model).__name__} without its dead units", run(model)
    try:
        after = run(small)
    except Exception as error:  # a layer that counts on its size
        reason = shorten(" ".join(str(error).split()), 120, placeholder=" ...")
        raise NotSmallerError(f"{kind} doesn't run ({type(error).__name__}: {reason})") from None
    if after.shape != before.shape:
        raise NotSmallerError(f"{kind} returns {list(after.shape)}, not {list(before.shape)}")
    off = float((after - before).abs().max()) if before.numel() else 0.0
    if not off <= TOLERANCE * max(1.0, float(before.abs().max())):
        raise NotSmallerError(f"{kind} gives outputs that are off by {off:.1e}")
    return small


def fit_sizes(full: nn.Module, small: nn.Module) -> None:
    """Set the sizes that layers know of themselves to those of their tensors.

    A layer's size is that of its own weight, or of the weight of a layer inside, as of PyG's
    convolutions.

    Args:
        full: The module as it was.
        small: The same with smaller tensors.

    Example:
        >>> full, small = nn.Linear(4, 3), nn.Linear(2, 3)
        >>> small.in_features = 4
        >>> fit_sizes(full, small)
        >>> small
        Linear(in_features=2, out_features=3, bias=True)
    """
    before = dict(full.named_modules(remove_duplicate=False))  # a layer may have several names
    for name, module in small.named_modules():
        layers = [("", module), *module.named_children()]
        for child, layer in layers:
            old = before[".".join(part for part in (name, child) if part)]
            sizes = [getattr(each, "weight", None) for each in (old, layer)]
            if not all(isinstance(weight, Tensor) and not is_lazy(weight) for weight in sizes):
                continue
            was, now = (list(weight.shape) for weight in sizes if weight is not None)
            for attribute, dim in _SIZES.items():
                if dim < len(was) and was[dim] != now[dim]:
                    _replace(module, before[name], attribute, was[dim], now[dim])


def _replace(module: nn.Module, full: nn.Module, attribute: str, was: int, now: int) -> None:
    value = getattr(full, attribute, None)
    if value == was:
        setattr(module, attribute, now)
    elif isinstance(value, tuple) and was in value:  # of SAGE: of the neighbours and of a node
        setattr(module, attribute, tuple(now if size == was else size for size in value))
