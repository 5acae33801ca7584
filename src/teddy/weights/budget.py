"""Parameters that are excluded from the weight budget."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from torch import nn

from teddy.errors import InputError
from teddy.settings.weights import ExcludeLike, exclude_items


def excluded_parameters(model: nn.Module, exclude: Sequence[ExcludeLike]) -> set[str]:
    """Names of the parameters that patterns match.

    A pattern matches a parameter by its name, by the name of a module that it is part of, or by
    the name of such a module's class. A class matches parameters of its instances.

    Args:
        model: The model.
        exclude: Patterns and module classes, see :class:`teddy.settings.WeightBudget`.

    Raises:
        InputError: if a pattern matches nothing.

    Example:
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        >>> sorted(excluded_parameters(model, ["0.bias", nn.BatchNorm1d]))
        ['0.bias', '1.bias', '1.weight']
    """
    modules = dict(model.named_modules())
    names: dict[str, set[str]] = {}
    owners: dict[str, list[nn.Module]] = {}
    for name, _ in model.named_parameters():
        parts = name.split(".")
        inside = [".".join(parts[:end]) for end in range(1, len(parts))]
        owners[name] = [modules[path] for path in inside]
        classes = {kind.__name__ for owner in owners[name] for kind in type(owner).__mro__}
        names[name] = {name, *inside} | (classes - {"Module", "object"})
    found: set[str] = set()
    for item in exclude_items(exclude):
        matched = {
            name
            for name in names
            if (
                any(fnmatchcase(word, item) for word in names[name])
                if isinstance(item, str)
                else any(isinstance(owner, item) for owner in owners[name])
            )
        }
        if not matched:
            text = item if isinstance(item, str) else item.__name__
            first = ", ".join(list(names)[:6])
            raise InputError(
                f"weight_exclude '{text}' matches no parameter of the {type(model).__name__}, "
                f"expected patterns of names such as {first}, or module classes"
            )
        found |= matched
    return found
