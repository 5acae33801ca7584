"""Checks of a user's own module before the first training, each with one line to say."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor, nn
from torch.fx import GraphModule

from teddy.errors import InputError
from teddy.models.called import ModuleCall
from teddy.models.signature import ForwardSignature

_Parameter = inspect.Parameter
_BY_PLACE = (_Parameter.POSITIONAL_ONLY, _Parameter.POSITIONAL_OR_KEYWORD)


def check_callable(make: Callable[..., Any]) -> None:
    """Raise if a function that should make a module needs arguments other than ``data``.

    Example:
        >>> check_callable(nn.Linear)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: model is the class Linear, which needs in_features, out_features;
        expected a module, Linear(...), or a function without arguments, lambda: Linear(...)
    """
    needed = needed_arguments(make)
    if needed not in ([], ["data"]):
        kind = "class" if isinstance(make, type) else "function"
        name = getattr(make, "__name__", type(make).__name__)
        raise InputError(
            f"model is the {kind} {name}, which needs {', '.join(needed)}; expected a module, "
            f"{name}(...), or a function without arguments, lambda: {name}(...)"
        )


def needed_arguments(make: Callable[..., Any]) -> list[str]:
    """Names of the arguments that a function cannot be called without.

    Example:
        >>> needed_arguments(lambda data, hidden=16: None)
        ['data']
    """
    return [name for name, given in _parameters(make).items() if _is_needed(given)]


def check_module(module: nn.Module) -> None:
    """Raise if a module can't be trained as ``module(x, edge_index)``.

    Example:
        >>> class Own(nn.Module):
        ...     def forward(self, data): return data.x
        >>> check_module(Own())
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Own has forward(data), expected forward(x, edge_index): wrap it
        in a module whose forward calls it with Data(x=x, edge_index=edge_index)
    """
    check_weights(module)
    signature = ForwardSignature.of(module)
    if _takes_dicts(module, [str(signature.features), str(signature.graph)]):
        raise InputError(
            f"a {signature.kind} is for a HeteroData, expected forward(x, edge_index) for a Data"
        )
    if signature.graph is None and not signature.first:
        raise InputError(
            f"a {signature.kind} has forward({signature.features or ''}), expected "
            "forward(x, edge_index): wrap it in a module whose forward calls it with "
            "Data(x=x, edge_index=edge_index)"
        )


def check_weights(module: nn.Module) -> None:
    """Raise if a module has no values, being on the meta device, or a state that isn't tensors.

    Example:
        >>> check_weights(nn.Linear(1, 1, device="meta"))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Linear has weight on the meta device, which holds no values,
        expected a module on the CPU or the device to train on
    """
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if tensor.device.type == "meta":
            raise InputError(
                f"a {type(module).__name__} has {name} on the meta device, which holds no values, "
                "expected a module on the CPU or the device to train on"
            )
    check_state(module)


def check_state(module: nn.Module) -> None:
    """Raise if the state of a module has anything but tensors, such as ``get_extra_state`` returns.

    Example:
        >>> class Own(nn.Module):
        ...     def get_extra_state(self): return {"step": 1}
        >>> check_state(Own())
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the model's state has a dict '_extra_state', expected tensors only
    """
    for name, value in module.state_dict().items():
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            raise InputError(f"the model's state has a {kind} '{name}', expected tensors only")


@torch.no_grad()
def check_looks_up(module: nn.Module, x: Tensor, edge_index: Any, **of_edges: Any) -> None:
    """Raise if a module can't compute with integer features; one pass tells.

    Args:
        module: The user's own module, a copy: lazy parameters get their shapes.
        x: Integers.
        edge_index: The graph.
        of_edges: Whatever else it is given by name.

    Example:
        >>> class Own(nn.Linear):
        ...     def forward(self, x, edge_index): return super().forward(x)
        >>> check_looks_up(Own(1, 2), torch.tensor([[1]]), torch.tensor([[0], [0]]))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Own fails on integer x (RuntimeError: ...), expected an
        embedding with a row for each id, or data.x = data.x.float()
    """
    try:
        ModuleCall(module.eval())(x, edge_index, of_edges)
    except Exception as error:  # whatever the user's module raises
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            f"a {type(module).__name__} fails on integer x ({type(error).__name__}: {reason}), "
            "expected an embedding with a row for each id, or data.x = data.x.float()"
        ) from error


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # compiled code says nothing of its arguments
        return {"arguments": _Parameter("arguments", _Parameter.VAR_POSITIONAL)}


def _is_needed(parameter: inspect.Parameter) -> bool:
    named = parameter.kind in (*_BY_PLACE, _Parameter.KEYWORD_ONLY)
    return named and parameter.default is _Parameter.empty


def _takes_dicts(module: nn.Module, by_place: Collection[str]) -> bool:
    """Whether a module takes features and edges by type: by its names, or by to_hetero."""
    if any(name.endswith("_dict") for name in by_place):
        return True
    if not isinstance(module, GraphModule):
        return False
    return any(getattr(node.target, "__name__", "") == "get_dict" for node in module.graph.nodes)
