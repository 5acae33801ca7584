"""From a model with zeros to an equal one that is smaller."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from textwrap import shorten

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from teddy.kernels.vectors import NARROW, WIDE
from teddy.models.base import GNN
from teddy.models.layered import LayeredGNN
from teddy.weights.units import Part, Units, declared_units

# So many narrow vectors at the end of a row take as long as a wide one.
_NARROW = 2


@torch.no_grad()
def compact(model: GNN, units_only: bool = False) -> tuple[GNN, Tensor]:
    """Remove hidden units and features that don't change what a model computes.

    A unit is dead if all its incoming weights are zero, as the activations here are zero at zero,
    or all its outgoing weights; a feature if it has no weight. Units that lead only to dead units
    are dead, too. At least one unit of each layer is kept, and dead ones that fill up a vector of
    the kernels, which is faster.

    Args:
        model: It isn't changed.
        units_only: For other programs: features are kept, and no dead unit fills up a vector.

    Returns:
        A smaller copy, for inference, and the kept features, int64.

    Example:
        >>> from teddy.models import GCN
        >>> model = GCN(3, 2, hidden_channels=64)
        >>> with torch.no_grad():
        ...     model.weights[0][:, 16:] = 0  # most hidden units have no input
        ...     model.weights[0][1] = 0  # nor the second feature a weight
        >>> small, features = compact(model)
        >>> [tuple(weight.shape) for weight in small.weights], features.tolist()
        ([(2, 16), (16, 2)], [0, 2])
    """
    small = copy.deepcopy(model).eval().requires_grad_(False)
    features, hidden = None if units_only else small.feature_weights(), small.units()
    layers = hidden if features is None else [features, *hidden]
    alive = alive_units(layers)
    kept = []
    for stays, units in zip(alive, layers, strict=True):
        single = units.incoming and all(part.width == 1 for part in units.parts)
        wanted = 1
        if single and not units_only:
            wanted = _filled(int(stays.sum()), units.count, isinstance(model, LayeredGNN))
        kept.append(_indices(stays, max(wanted, 1)))
    remove_units(small, layers, kept)
    for module in small.modules():
        if isinstance(module, nn.Linear):
            module.out_features, module.in_features = module.weight.shape
    if features is None:
        return small, torch.arange(small.in_channels)
    small.in_channels = kept[0].numel()
    return small, kept[0]


def alive_units(layers: list[Units]) -> list[Tensor]:
    """Mask of the units of each layer that matter; the weights of the others are set to zero."""
    alive = [_matters(units) for units in layers]
    while True:
        for units, stays in zip(layers, alive, strict=True):
            units.zero_(~stays)
        before, alive = alive, [_matters(units) for units in layers]
        if all(torch.equal(a, b) for a, b in zip(before, alive, strict=True)):
            return alive


def _matters(units: Units) -> Tensor:
    """Units that may be other than zero and have an effect."""
    seen = _seen(units.outgoing, units.count)
    return seen & _seen(units.incoming, units.count) if units.incoming else seen


def _seen(parts: tuple[Part, ...], count: int) -> Tensor:
    """Units that have an entry other than zero."""
    seen = torch.zeros(count, dtype=torch.bool, device=parts[0].tensor.device)
    for part in parts:
        own = part.tensor.narrow(part.dim, 0, count * part.width) != 0
        others = [d for d in range(own.dim()) if d != part.dim]
        entries = own.any(dim=others) if others else own
        seen |= entries.view(count, part.width).any(dim=1)
    return seen


def _indices(alive: Tensor, wanted: int = 1) -> Tensor:
    """Indices of the units alive and, up to a number of units, of the first dead ones."""
    stays = alive.clone()
    stays[(~alive).nonzero().flatten()[: max(wanted - int(alive.sum()), 0)]] = True
    return stays.nonzero().flatten()


def _filled(count: int, total: int, wide: bool) -> int:
    """A number of units that is as fast or faster: whole vectors, where there are enough.

    Example:
        >>> [_filled(count, 512, True) for count in (1, 66, 81, 184)], _filled(184, 512, False)
        ([8, 72, 128, 192], 184)
    """
    narrow, whole = (-(-count // lanes) * lanes for lanes in (NARROW, WIDE))
    if wide and narrow % WIDE > _NARROW * NARROW and whole <= total:
        return whole
    return min(narrow, total)


def remove_units(model: nn.Module, layers: list[Units], kept: list[Tensor]) -> None:
    """Keep some units of each layer: only their places in the parameters and buffers."""
    chosen: dict[int, dict[int, Tensor]] = defaultdict(dict)
    for units, indices in zip(layers, kept, strict=True):
        for part in (*units.parts, *units.buffers):
            within = torch.arange(part.width, device=indices.device)
            places = (indices[:, None] * part.width + within).flatten()
            size = part.tensor.size(part.dim)  # what comes after the units stays
            rest = torch.arange(units.count * part.width, size, device=indices.device)
            dim = part.dim % part.tensor.dim()
            chosen[id(part.tensor)][dim] = torch.cat([places, rest])
    smaller: dict[int, Tensor] = {}  # what has several names stays one
    for lists in (model.named_parameters, model.named_buffers):
        for name, tensor in list(lists(remove_duplicate=False)):
            if id(tensor) not in chosen:
                continue
            path, _, leaf = name.rpartition(".")
            if id(tensor) not in smaller:
                few: Tensor = tensor
                for dim, places in chosen[id(tensor)].items():
                    few = few.index_select(dim, places)
                learned = isinstance(tensor, nn.Parameter)
                smaller[id(tensor)] = nn.Parameter(few, requires_grad=False) if learned else few
            setattr(model.get_submodule(path), leaf, smaller[id(tensor)])


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

    Tensors are made smaller, and so are the sizes stored in layers of torch and PyG. The outputs
    are compared with those of the module as it was.

    Args:
        model: The module, in evaluation; it isn't changed.
        run: From a module to its outputs, on the graph that counts.

    Returns:
        A smaller copy; the module itself if it declares no units, or none of them is dead.

    Raises:
        NotSmallerError: if the smaller copy doesn't run, or has other outputs.

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
    remove_units(small, layers, [_indices(stays) for stays in alive])
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
    """Set the sizes stored in layers to those of their tensors, from those of the full module.

    A layer's size is that of its own weight, or of the weight of a layer inside, as in PyG's
    convolutions.
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
