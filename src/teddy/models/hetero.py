"""Call of a heterogeneous module, and checks of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from teddy.errors import InputError
from teddy.graph.inputs import HeteroInputs
from teddy.models.base import GNN
from teddy.models.edge_inputs import EDGE_INPUTS
from teddy.models.own_module import ForwardSignature


def call_hetero(
    module: nn.Module, x: Tensor, around: HeteroInputs, run: Callable[..., Any] | None = None
) -> Tensor:
    """Return the logits ``[N, C]`` of the target nodes, by ``module(x_dict, edge_index_dict)``.

    Args:
        module: Result of ``torch_geometric.nn.to_hetero``, or your own; it returns logits by node
            type, or those of the target. A forward that names ``edge_weight`` or ``edge_attr``,
            or either with ``_dict``, gets those of each relation.
        x: Features of the target nodes.
        around: All other inputs, and the type of the nodes.
        run: Called in place of the module, such as the module with other weights.
    """
    features = {**around.x_dict, around.target: x}
    x_dict = {name: _own_type(features[name], x) for name in sorted(features)}
    named = {
        name_in_forward(module, name) or name: {k: _own_type(v, x) for k, v in of.items()}
        for name, of in around.of_edges.items()
    }
    try:
        found: Any = (run or module)(x_dict, dict(around.edge_index_dict), **named)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            f"a {type(module).__name__} fails on x_dict and edge_index_dict "
            f"({type(error).__name__}: {reason}), expected a module for a HeteroData, such as "
            "to_hetero's"
        ) from error
    if isinstance(found, Mapping):
        if around.target not in found:
            known = ", ".join(map(str, found)) or "none"
            raise InputError(
                f"the model returned logits of {known}, expected '{around.target}' among them"
            )
        found = found[around.target]
    logits: Tensor = found
    return logits


def check_takes_types(module: nn.Module) -> None:
    """Raise for a built-in model, which supports one node type.

    Example:
        >>> from teddy.models import GCN
        >>> check_takes_types(GCN(1, 2))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: model is a GCN, which supports one node type, expected a module ...
    """
    if isinstance(module, GNN):
        raise InputError(
            f"model is a {type(module).__name__}, which supports one node type, expected a "
            "module with forward(x_dict, edge_index_dict) for a HeteroData, such as to_hetero's"
        )


def name_in_forward(module: nn.Module, name: str) -> str | None:
    """Return the name of edge weights or attributes in a module's forward; None: it takes none.

    Example:
        >>> class Own(nn.Module):
        ...     def forward(self, x_dict, edge_index_dict, edge_attr_dict): return x_dict
        >>> name_in_forward(Own(), "edge_attr"), name_in_forward(Own(), "edge_weight")
        ('edge_attr_dict', None)
    """
    named = ForwardSignature.from_module(module).names
    return next((n for n in (name, f"{name}_dict") if n in named), None)


def check_weighs_relations(module: nn.Module) -> None:
    """Raise unless a module takes edge weights by relation, to learn edge masks.

    Example:
        >>> class Own(nn.Module):
        ...     def forward(self, x_dict, edge_index_dict): return x_dict
        >>> check_weighs_relations(Own())
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a Own does not take edge_weight, expected forward(x_dict,
        edge_index_dict, edge_weight_dict) to learn edge masks
    """
    if name_in_forward(module, "edge_weight") is None:
        raise InputError(
            f"a {type(module).__name__} does not take edge_weight, expected forward(x_dict, "
            "edge_index_dict, edge_weight_dict) to learn edge masks"
        )


def hetero_edge_inputs(
    module: nn.Module, present: Iterable[str], fields: Iterable[str] = ()
) -> list[str]:
    """Return the edge values that a module takes, or raise.

    Args:
        module: The module.
        present: Present values of :data:`~teddy.models.edge_inputs.EDGE_INPUTS`.
        fields: Names of all values of the data.

    Raises:
        InputError: if the module does not take the weights of edges, if it requires or names
            other values, or if its inputs are unknown.
    """
    present, fields, signature = list(present), set(fields), ForwardSignature.from_module(module)
    if signature.undeclared and present:
        raise signature.undeclared_error(present[0])
    for name, required in signature.names.items():
        if {name, name.removesuffix("_dict")} & (fields - {*present}):
            raise InputError(
                f"a {signature.kind} takes {name}, which a HeteroData does not support, expected "
                "forward(x_dict, edge_index_dict) with edge_weight_dict or edge_attr_dict at most"
            )
        if required and name.removesuffix("_dict") not in present:
            raise InputError(f"a {signature.kind} needs {name}, expected data with it")
    if "edge_weight" in present and name_in_forward(module, "edge_weight") is None:
        raise InputError(
            f"a {type(module).__name__} does not take edge_weight, expected forward(x_dict, "
            "edge_index_dict, edge_weight_dict), or data without edge_weight"
        )
    return [n for n in EDGE_INPUTS if n in present and name_in_forward(module, n) is not None]


def _own_type(value: Tensor, x: Tensor) -> Tensor:
    same = value.is_floating_point() and x.is_floating_point()
    return value.to(x) if same else value.to(x.device)
