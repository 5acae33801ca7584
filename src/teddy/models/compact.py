"""From a model with zeros to an equal one that is smaller."""

from __future__ import annotations

import copy
from collections import defaultdict

import torch
from torch import Tensor, nn

from teddy.kernels.vectors import NARROW, WIDE
from teddy.models.base import GNN
from teddy.models.layered import LayeredGNN
from teddy.weights.units import Part, Units

# So many narrow vectors at the end of a row take as long as a wide one.
_NARROW = 2


@torch.no_grad()
def compact(model: GNN, units_only: bool = False) -> tuple[GNN, Tensor]:
    """Remove hidden units and features that don't change what a model computes.

    A unit whose incoming weights are all zero is zero itself, as the activations here are zero at
    zero; one whose outgoing weights are all zero isn't seen; and a feature is dead if nothing
    multiplies it. What leads only to a dead unit is dead, too, and so on. Of each layer one unit
    stays at least, and dead ones that fill up a vector of the kernels: it is faster so.

    Args:
        model: It isn't changed.
        units_only: For other programs: features stay, and no dead unit fills up a vector.

    Returns:
        A copy without them, for inference, and the features that are left, int64.

    Example:
        >>> from teddy.models import GCN
        >>> model = GCN(3, 2, hidden=64)
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
    wide = isinstance(model, LayeredGNN)
    if units_only:
        kept = [at_least_one(stays) for stays in alive]
    else:
        kept = [_indices(stays, units, wide) for stays, units in zip(alive, layers, strict=True)]
    remove_units(small, layers, kept)
    for module in small.modules():
        if isinstance(module, nn.Linear):
            module.out_features, module.in_features = module.weight.shape
    if features is None:
        return small, torch.arange(small.in_channels)
    small.in_channels = kept[0].numel()
    return small, kept[0]


def alive_units(layers: list[Units]) -> list[Tensor]:
    """Which units of each layer matter; the weights of the others are set to zero."""
    alive = [_matters(units) for units in layers]
    while True:
        for units, stays in zip(layers, alive, strict=True):
            units.zero_(~stays)
        before, alive = alive, [_matters(units) for units in layers]
        if all(torch.equal(a, b) for a, b in zip(before, alive, strict=True)):
            return alive


def _matters(units: Units) -> Tensor:
    """Units that aren't zero, as far as their weights tell, and that something sees."""
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


def at_least_one(alive: Tensor) -> Tensor:
    """Indices of those alive, or the first if none is."""
    return (
        alive.nonzero().flatten() if alive.any() else torch.zeros_like(alive[:1], dtype=torch.long)
    )


def _indices(alive: Tensor, units: Units, wide: bool) -> Tensor:
    """Those alive and, of hidden units, the first dead ones up to a whole vector; one at least."""
    single = units.incoming and all(part.width == 1 for part in units.parts)
    count = int(alive.sum())
    wanted = max(1, _filled(count, units.count, wide) if single else count)
    stays = alive.clone()
    stays[(~alive).nonzero().flatten()[: wanted - count]] = True
    return stays.nonzero().flatten()


def _filled(count: int, total: int, wide: bool) -> int:
    """Units that are as fast as so many, or faster: whole vectors, where there are enough.

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
