"""Hidden units that your own module declares."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from teddy.errors import InputError
from teddy.weights.units import Part, Units


def declared_units(model: nn.Module) -> list[Units]:
    """The hidden units that a module's method ``units()`` returns, checked; none without one.

    Args:
        model: The module.

    Raises:
        InputError: if it returns something else, or a part isn't of this module or doesn't have a
            place for each unit.

    Example:
        >>> declared_units(nn.Linear(1, 1))
        []
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
    found = declare()
    if not isinstance(found, list | tuple) or not all(isinstance(u, Units) for u in found):
        raise InputError(f"{kind} returned {_kind(found)}, expected a list of teddy.weights.Units")
    names = {id(p): name for name, p in model.named_parameters()}
    buffers = {id(b): name for name, b in model.named_buffers()}
    taken: dict[tuple[int, int], str] = {}
    for number, units in enumerate(found, 1):
        if not units.incoming or not units.outgoing:
            missing = "outgoing" if units.incoming else "incoming"
            raise InputError(f"{kind}: layer {number} has no {missing} weights, expected some")
        for which in ("incoming", "outgoing", "own", "buffers"):
            known = buffers if which == "buffers" else names
            for place, part in enumerate(getattr(units, which), 1):
                where = f"{kind}: {which} {place} of layer {number}"
                _check_part(part, units, known, where)
                key = id(part.tensor), part.dim % part.tensor.dim()
                if key in taken:
                    raise InputError(
                        f"{where} is dimension {key[1]} of '{known[key[0]]}', which is "
                        f"{taken[key]}, too; expected each once"
                    )
                taken[key] = f"{which} {place} of layer {number}"
    return list(found)


def _check_part(part: Any, units: Units, known: dict[int, str], where: str) -> None:
    what = "a buffer" if "buffers" in where else "a parameter"
    if not isinstance(part, Part) or id(part.tensor) not in known:
        raise InputError(f"{where} is {_kind(part)}, expected a Part of {what} of the module")
    tensor, needed = part.tensor, units.count * part.width
    described = f"'{known[id(tensor)]}' {list(tensor.shape)}"
    if not -tensor.dim() <= part.dim < tensor.dim():
        raise InputError(f"{where} is {described}, which has no dimension {part.dim}")
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
