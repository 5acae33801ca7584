"""Removal of dead hidden units and features: a smaller model with equal outputs."""

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

# Number of narrow vectors at the end of a row that take as long as a wide one.
_NARROW = 2


@torch.no_grad()
def compact(model: GNN, units_only: bool = False) -> tuple[GNN, Tensor]:
    """Remove hidden units and features without effect on a model's outputs.

    A unit is dead if all its incoming or all its outgoing weights are zero, since the activations
    are zero at zero. A feature is dead without a non-zero weight. Units that lead only to dead
    units are dead, too. At least one unit of each layer is kept, and enough dead units to fill the
    vectors of the kernels.

    Args:
        model: Model, which is not changed.
        units_only: Whether to keep all features, and no dead unit to fill vectors.

    Returns:
        A smaller copy for inference, and the kept features, int64.

    Example:
        >>> from teddy.models import GCN
        >>> model = GCN(3, 2, hidden_channels=64)
        >>> with torch.no_grad():
        ...     model.weights[0][:, 16:] = 0  # most hidden units have no input
        ...     model.weights[0][1] = 0  # the second feature has no weight
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
    """Return masks of the live units of each layer; weights of the others are set to zero."""
    alive = [_live(units) for units in layers]
    while True:
        for units, stays in zip(layers, alive, strict=True):
            units.zero_(~stays)
        before, alive = alive, [_live(units) for units in layers]
        if all(torch.equal(a, b) for a, b in zip(before, alive, strict=True)):
            return alive


def _live(units: Units) -> Tensor:
    """Return the mask of units that may be non-zero and have an effect."""
    seen = _seen(units.outgoing, units.count)
    return seen & _seen(units.incoming, units.count) if units.incoming else seen


def _seen(parts: tuple[Part, ...], count: int) -> Tensor:
    """Return the mask of units with a non-zero entry."""
    seen = torch.zeros(count, dtype=torch.bool, device=parts[0].tensor.device)
    for part in parts:
        nonzero = part.tensor.narrow(part.dim, 0, count * part.width) != 0
        others = [d for d in range(nonzero.dim()) if d != part.dim]
        entries = nonzero.any(dim=others) if others else nonzero
        seen |= entries.view(count, part.width).any(dim=1)
    return seen


def _indices(alive: Tensor, wanted: int = 1) -> Tensor:
    """Return the indices of live units and, up to a number, of the first dead ones."""
    kept = alive.clone()
    kept[(~alive).nonzero().flatten()[: max(wanted - int(alive.sum()), 0)]] = True
    return kept.nonzero().flatten()


def _filled(count: int, total: int, wide: bool) -> int:
    """Return a number of units that fills whole vectors, which is at least as fast.

    Example:
        >>> [_filled(count, 512, True) for count in (1, 66, 81, 184)], _filled(184, 512, False)
        ([8, 72, 128, 192], 184)
    """
    narrow, whole = (-(-count // lanes) * lanes for lanes in (NARROW, WIDE))
    if wide and narrow % WIDE > _NARROW * NARROW and whole <= total:
        return whole
    return min(narrow, total)


def remove_units(model: nn.Module, layers: list[Units], kept: list[Tensor]) -> None:
    """Shrink parameters and buffers to the kept units of each layer."""
    chosen: dict[int, dict[int, Tensor]] = defaultdict(dict)
    for units, indices in zip(layers, kept, strict=True):
        for part in (*units.parts, *units.buffers):
            within = torch.arange(part.width, device=indices.device)
            places = (indices[:, None] * part.width + within).flatten()
            size = part.tensor.size(part.dim)  # what comes after the units stays
            rest = torch.arange(units.count * part.width, size, device=indices.device)
            dim = part.dim % part.tensor.dim()
            chosen[id(part.tensor)][dim] = torch.cat([places, rest])
    smaller: dict[int, Tensor] = {}  # a tensor with several names remains one
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


#: Tolerance of outputs, relative to the largest one.
TOLERANCE = 1e-5

# Size attributes of layers of torch and PyG, and the dimension of their weight.
_SIZES = {
    "out_features": 0,
    "out_channels": 0,
    "num_features": 0,
    "in_features": 1,
    "in_channels": 1,
}


class NotSmallerError(Exception):
    """Error with the reason why a module cannot be made smaller."""


@torch.no_grad()
def compact_module(model: nn.Module, run: Callable[[nn.Module], Tensor]) -> nn.Module:
    """Remove dead units among the hidden units that your own module declares.

    Tensors and the sizes stored in layers of torch and PyG are reduced. The outputs are compared
    with those of the original module.

    Args:
        model: Module in evaluation mode, which is not changed.
        run: Function from a module to its outputs on the graph.

    Returns:
        A smaller copy, or the module itself without dead declared units.

    Raises:
        NotSmallerError: if the smaller copy fails, or its outputs differ.

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
        raise NotSmallerError(f"{kind} fails ({type(error).__name__}: {reason})") from None
    if after.shape != before.shape:
        raise NotSmallerError(f"{kind} returns shape {list(after.shape)}, not {list(before.shape)}")
    deviation = float((after - before).abs().max()) if before.numel() else 0.0
    if not deviation <= TOLERANCE * max(1.0, float(before.abs().max())):
        raise NotSmallerError(f"{kind} has outputs that differ by {deviation:.1e}")
    return small


def fit_sizes(full: nn.Module, small: nn.Module) -> None:
    """Adjust the sizes stored in layers to the smaller tensors.

    A layer's size is that of its weight, or of the weight of an inner layer, as in PyG's
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
    elif isinstance(value, tuple) and was in value:  # in SAGE: of neighbours and of the node
        setattr(module, attribute, tuple(now if size == was else size for size in value))
