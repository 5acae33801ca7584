"""Your own module: the signature of its forward, and checks before training."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from torch import Tensor, nn
from torch.fx import GraphModule
from torch.jit import ScriptModule
from torch_geometric.nn import Sequential

from teddy.errors import InputError
from teddy.models.identity import class_path

#: Attribute with the declared inputs of a module whose forward takes ``**kwargs``.
DECLARED = "forward_inputs"

#: Inputs that are derived from the features.
DERIVED = ("num_nodes", "batch")

_OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class ForwardSignature:
    """Signature of a module's forward.

    Attributes:
        kind: Name of the module's class, for messages.
        text: Signature, for messages.
        features: Parameter of the node features; None: the first of ``*args``.
        graph: Parameter of ``edge_index``; None: the second of ``*args``.
        first: Whether these two come first, in this order.
        names: Other inputs, and whether each is required.
        positional: Whether other inputs are passed by position, as to ``forward(*args)``.
        undeclared: Whether the module may take inputs that it does not name.
        open: Whether it takes any keyword.

    Example:
        >>> class Own(nn.Module):
        ...     def forward(self, x, pos, edge_index, edge_attr=None): return x
        >>> ForwardSignature.from_module(Own()).names
        {'pos': True, 'edge_attr': False}
    """

    kind: str
    text: str
    features: str | None
    graph: str | None
    first: bool
    names: Mapping[str, bool]
    positional: bool
    undeclared: bool
    open: bool

    @staticmethod
    def from_module(model: nn.Module) -> ForwardSignature:
        """Read the signature of a module's forward."""
        signature = _signature(model)
        kind = class_path(model).rpartition(".")[2]
        parameters = list(signature.parameters.values())
        named = [p for p in parameters if p.kind not in _OPEN]
        open_kinds = {p.kind for p in parameters if p.kind in _OPEN}
        names = [p.name for p in named]
        graph = "edge_index" if "edge_index" in names else next(iter(names[1:2]), None)
        others = [name for name in names if name != graph]
        features = "x" if "x" in others else next(iter(others), None)
        required = {
            p.name: p.default is Parameter.empty for p in named if p.name not in (features, graph)
        }
        declared = getattr(model, DECLARED, None) if open_kinds else None
        if declared is not None:
            required |= {str(name): True for name in declared if name not in (features, graph)}
        return ForwardSignature(
            kind,
            f"forward{signature}",
            features,
            graph,
            names[:2] == [features, graph] or (len(names) < 2 and bool(open_kinds)),
            required,
            open_kinds == {Parameter.VAR_POSITIONAL},
            bool(open_kinds) and declared is None,
            Parameter.VAR_KEYWORD in open_kinds,
        )

    def undeclared_error(self, name: str) -> InputError:
        """Return the error for a module that does not declare its inputs, such as this one."""
        return InputError(
            f"{self.text} of a {self.kind} does not name its inputs, and data have {name}, "
            f"expected a declaration: model.{DECLARED} = ['{name}'], or []"
        )

    def check(self) -> None:
        """Raise unless the forward takes features and a graph."""
        if not self.first and None in (self.features, self.graph):
            raise InputError(f"a {self.kind} has {self.text}, expected forward(x, edge_index)")

    def arguments(
        self, x: Tensor, edge_index: Any, named: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return positional and keyword arguments of a call; ``named`` are the other inputs.

        If the forward names them, ``num_nodes`` is that of the features, and ``batch`` is zero for
        a single graph.
        """
        inputs = dict(named)
        if "num_nodes" in self.names:
            inputs["num_nodes"] = x.size(0)
        if self.names.get("batch") and "batch" not in inputs:
            inputs["batch"] = x.new_zeros(x.size(0)).long()
        if self.positional:
            return (x, edge_index, *(inputs[name] for name in self.names)), {}
        if self.first:
            return (x, edge_index), inputs
        return (), {str(self.features): x, str(self.graph): edge_index, **inputs}


def _signature(model: nn.Module) -> inspect.Signature:
    if isinstance(model, Sequential):
        named = (Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in model.signature.param_dict)
        return inspect.Signature(list(named))
    if not isinstance(model, ScriptModule):
        return inspect.signature(model.forward)
    forward: Any = model.forward
    _, *arguments = forward.schema.arguments
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return inspect.Signature([
        Parameter(
            argument.name,
            kinds[argument.kwarg_only],
            default=None if argument.has_default_value() else Parameter.empty,
        )
        for argument in arguments
    ])  # fmt: skip


def check_callable(make: Callable[..., Any]) -> None:
    """Raise if a function that makes a module needs arguments other than ``data``.

    Example:
        >>> check_callable(nn.Linear)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: model is the class Linear, which needs in_features, out_features,
        expected a module, Linear(...), or a function without arguments, lambda: Linear(...)
    """
    needed = needed_arguments(make)
    if needed not in ([], ["data"]):
        kind = "class" if isinstance(make, type) else "function"
        name = getattr(make, "__name__", type(make).__name__)
        raise InputError(
            f"model is the {kind} {name}, which needs {', '.join(needed)}, expected a module, "
            f"{name}(...), or a function without arguments, lambda: {name}(...)"
        )


def needed_arguments(make: Callable[..., Any]) -> list[str]:
    """Return the names of the required arguments of a function."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # compiled code has no signature
        return []
    return [p.name for p in parameters if p.kind not in _OPEN and p.default is Parameter.empty]


def check_module(module: nn.Module) -> None:
    """Raise if a module cannot be trained as ``module(x, edge_index)``.

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
    signature = ForwardSignature.from_module(module)
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
    """Raise if a module is on the meta device, or its state has other values than tensors.

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
    """Raise if the state of a module has other values than tensors, as from ``get_extra_state``.

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


def _takes_dicts(module: nn.Module, by_place: Collection[str]) -> bool:
    """Return whether a module takes features and edges by type, or is a result of to_hetero."""
    if any(name.endswith("_dict") for name in by_place):
        return True
    if not isinstance(module, GraphModule):
        return False
    return any(getattr(node.target, "__name__", "") == "get_dict" for node in module.graph.nodes)
