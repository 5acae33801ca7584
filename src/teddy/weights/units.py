r"""Whole hidden units as groups of weights, including units declared by your own module."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError
from teddy.sparsity import check_sparsity, num_kept_weights
from teddy.weights.l0 import largest_entries


@dataclass(frozen=True)
class Part:
    """Weights of units in a tensor: ``width`` adjacent entries along a dimension for each unit."""

    tensor: Tensor
    dim: int
    width: int = 1

    def squares(self, count: int) -> Tensor:
        """Return the sum of squares of each unit's entries."""
        entries = self.tensor.detach().narrow(self.dim, 0, count * self.width)
        others = [d for d in range(entries.dim()) if d != self.dim]
        squares = entries.square().sum(dim=others) if others else entries.square()
        return squares.view(count, self.width).sum(dim=1)

    def zero_(self, units: Tensor) -> None:
        """Set the entries of the units that a mask marks to zero."""
        entries = self.tensor.detach().narrow(self.dim, 0, units.numel() * self.width)
        shape = [1] * entries.dim()
        shape[self.dim] = -1
        kept = (~units).to(entries).repeat_interleave(self.width).view(shape)
        entries.mul_(kept)


@dataclass(frozen=True)
class Units:
    """Hidden units of a layer, features or whole attention heads, and their weights.

    Your own module declares them in a method ``units()``, which returns a list with one ``Units``
    for each hidden layer.

    Attributes:
        count: Number of units.
        incoming: Weights that compute a unit: if all are zero, it is zero.
        outgoing: Weights that multiply a unit: if all are zero, it has no effect.
        own: Other weights that are removed with the unit, such as attention vectors.
        buffers: Tensors that are not learned and have entries for each unit, such as running
            statistics; compaction shrinks them with the weights.

    Example:
        >>> class Own(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.first, self.last = torch.nn.Linear(5, 8), torch.nn.Linear(8, 2)
        ...     def forward(self, x, edge_index):
        ...         return self.last(self.first(x).relu())
        ...     def units(self):
        ...         incoming = (Part(self.first.weight, 0), Part(self.first.bias, 0))
        ...         return [Units(8, incoming, outgoing=(Part(self.last.weight, 1),))]
        >>> Own().units()[0].squares().shape
        torch.Size([8])
    """

    count: int
    incoming: tuple[Part, ...]
    outgoing: tuple[Part, ...]
    own: tuple[Part, ...] = ()
    buffers: tuple[Part, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """All weights of the units."""
        return self.incoming + self.own + self.outgoing

    def squares(self) -> Tensor:
        """Return the squared norm of each unit's weights."""
        total = self.parts[0].squares(self.count)
        for part in self.parts[1:]:
            total = total + part.squares(self.count)
        return total

    def zero_(self, units: Tensor) -> None:
        """Set all weights of the units that a mask marks to zero."""
        for part in self.parts:
            part.zero_(units)


def num_kept_units(
    layers: Sequence[Units], parameters: Iterable[Tensor], sparsity: float
) -> list[int]:
    r"""Number of kept units per layer, with at most :math:`\lceil (1-p_\theta) d\rceil` weights.

    Each layer keeps the same share, and at least one unit, even if that exceeds the budget. A
    weight counts if the units at both of its ends are kept; weights of no unit always count.

    Example:
        >>> first, last = torch.ones(5, 4), torch.ones(4, 2)
        >>> hidden = Units(4, (Part(first, 1),), (Part(last, 0),))
        >>> num_kept_units([hidden], [first, last], 0.5)  # 14 of 28 weights: 2 units of 7
        [2]
    """
    tensors = list(parameters)
    ends: dict[tuple[int, int], tuple[int, int]] = {}  # layer and unit width of a dimension
    for index, units in enumerate(layers):
        for part in units.parts:
            ends[id(part.tensor), part.dim % part.tensor.dim()] = index, part.width
    budget = num_kept_weights(check_sparsity(sparsity), sum(t.numel() for t in tensors))

    def weights(kept: list[int]) -> int:
        return sum(
            math.prod(
                kept[ends[id(t), dim][0]] * ends[id(t), dim][1] if (id(t), dim) in ends else size
                for dim, size in enumerate(t.shape)
            )
            for t in tensors
        )

    most = max((units.count for units in layers), default=0)
    kept: list[int] = []
    for share in range(most, 0, -1):
        kept = [max(1, units.count * share // most) for units in layers]
        if weights(kept) <= budget:
            break
    return kept


class UnitProjection:
    r"""Projection onto few hidden units, for use after every training step.

    A group :math:`G_j` is all weights of unit :math:`j` of a hidden layer: its incoming weights (a
    column), its outgoing weights (a row) and, of a head, its attention vectors. In a network with
    one hidden layer the groups share no weight, and with :math:`k` of :func:`num_kept_units`

    .. math::
        \mathrm{proj}(\Theta) = \operatorname*{argmin}_{\Theta'} \|\Theta' - \Theta\|_2^2
        \quad \text{with at most } k \text{ groups } \Theta'_{G_j} \ne 0

    keeps the :math:`k` groups of largest :math:`\|\Theta_{G_j}\|_2`, the first of equal ones, and
    sets the others to zero. A weight between two hidden layers is in two groups, and the nearest
    point is a hard problem; there the layers are projected one after the other, from the first,
    so a weight removed with the unit at one end does not count at the other.

    Args:
        layers: The units of each hidden layer.
        parameters: All weights of the budget; those of no unit are kept.
        sparsity: Share of the weights to remove.

    Example:
        >>> first, last = torch.tensor([[3.0, 1.0]]), torch.tensor([[0.0], [2.0]])
        >>> project = UnitProjection([Units(2, (Part(first, 1),), (Part(last, 0),))],
        ...     [first, last], sparsity=0.5)
        >>> project()
        >>> first, last
        (tensor([[3., 0.]]), tensor([[0.], [0.]]))
    """

    def __init__(
        self, layers: Sequence[Units], parameters: Iterable[Tensor], sparsity: float
    ) -> None:
        self.layers = layers
        self.num_kept = num_kept_units(layers, parameters, sparsity)

    @torch.no_grad()
    def __call__(self) -> None:
        """Project the weights in place."""
        for units, count in zip(self.layers, self.num_kept, strict=True):
            squares = units.squares()
            if not math.isfinite(float(squares.sum())):
                raise InputError("a weight is nan or infinite, expected finite weights to project")
            if count < units.count:
                units.zero_(~largest_entries([squares], count)[0])


def declared_units(model: nn.Module) -> list[Units]:
    """Return the checked hidden units of a module's method ``units()``; none without the method.

    Raises:
        InputError: if it returns something else, or a part isn't of this module or doesn't have an
            entry for each unit.

    Example:
        >>> class Own(nn.Linear):
        ...     def units(self): return [Units(3, (Part(self.weight, 0),), (Part(self.weight, 1),))]
        >>> declared_units(Own(2, 3))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: units() of a Own: outgoing 1 of layer 1 is 'weight' [3, 2], ...
    """
    declare: Any = getattr(model, "units", None)
    if not callable(declare):
        return []
    kind = f"units() of a {type(model).__name__}"
    if any(isinstance(p, UninitializedParameter) for p in model.parameters()):
        raise InputError(f"{kind}: it has uninitialized parameters, expected a module with sizes")
    declared = declare()
    if not isinstance(declared, list | tuple) or not all(isinstance(u, Units) for u in declared):
        got = _kind(declared)
        raise InputError(f"{kind} returned {got}, expected a list of teddy.weights.Units")
    names = {id(p): name for name, p in model.named_parameters()}
    buffers = {id(b): name for name, b in model.named_buffers()}
    taken: dict[tuple[int, int], str] = {}
    for number, units in enumerate(declared, 1):
        if not units.incoming or not units.outgoing:
            missing = "outgoing" if units.incoming else "incoming"
            raise InputError(f"{kind}: layer {number} has no {missing} weights, expected some")
        for which in ("incoming", "outgoing", "own", "buffers"):
            known = buffers if which == "buffers" else names
            for position, part in enumerate(getattr(units, which), 1):
                where = f"{kind}: {which} {position} of layer {number}"
                _check_part(part, units, known, where)
                key = id(part.tensor), part.dim % part.tensor.dim()
                if key in taken:
                    raise InputError(
                        f"{where} is dimension {key[1]} of '{known[key[0]]}', which is "
                        f"{taken[key]}, too; expected each once"
                    )
                taken[key] = f"{which} {position} of layer {number}"
    return list(declared)


def _check_part(part: Any, units: Units, known: dict[int, str], where: str) -> None:
    what = "a buffer" if "buffers" in where else "a parameter"
    if not isinstance(part, Part) or id(part.tensor) not in known:
        raise InputError(f"{where} is {_kind(part)}, expected a Part of {what} of the module")
    tensor, needed = part.tensor, units.count * part.width
    described = f"'{known[id(tensor)]}' {list(tensor.shape)}"
    if not -tensor.dim() <= part.dim < tensor.dim():
        raise InputError(f"{where} is {described} without a dimension {part.dim}")
    if units.count < 1 or part.width < 1 or tensor.size(part.dim) < needed:
        raise InputError(
            f"{where} is {described}, expected {units.count} units of {part.width} in "
            f"dimension {part.dim}"
        )


def _kind(value: object) -> str:
    if isinstance(value, Part) and isinstance(value.tensor, Tensor):
        return f"a tensor {list(value.tensor.shape)}"
    if isinstance(value, torch.Tensor):
        return f"a tensor {list(value.shape)}"
    return f"a {type(value).__name__}"
