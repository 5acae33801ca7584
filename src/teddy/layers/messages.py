"""Linear messages: what a layer sends, read from the source of its ``message``."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from torch_geometric.nn import MessagePassing


@dataclass(frozen=True)
class LinearMessage:
    """The message of a layer, the row of its source or that times a number of the edge.

    Attributes:
        rows: Argument of ``propagate`` with the rows of nodes.
        weight: Argument with a number for each edge, and perhaps each head; None: no such.
        by_head: Whether a weight may have heads, as in ``alpha.unsqueeze(-1) * x_j``.
    """

    rows: str
    weight: str | None = None
    by_head: bool = False


@cache
def linear_message(message: Callable[..., Any]) -> LinearMessage | None:
    """Return what a message function computes; None: not a linear message, or not known.

    Args:
        message: Function ``message`` of a layer's class.

    Example:
        >>> from torch_geometric.nn import GATConv, GCNConv, GINConv, GINEConv
        >>> linear_message(GCNConv.message)
        LinearMessage(rows='x', weight='edge_weight', by_head=False)
        >>> linear_message(GATConv.message)
        LinearMessage(rows='x', weight='alpha', by_head=True)
        >>> linear_message(GINConv.message)
        LinearMessage(rows='x', weight=None, by_head=False)
        >>> linear_message(GINEConv.message)
    """
    if hasattr(message, "__wrapped__") or getattr(message, "__name__", "") != "message":
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(message)))
    except (OSError, TypeError, SyntaxError, IndentationError):
        return None
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    steps = [step for step in function.body if not _is_text(step)]
    names = [argument.arg for argument in function.args.args[1:]]
    if len(steps) != 1 or not isinstance(steps[0], ast.Return) or steps[0].value is None:
        return None
    found = _read(steps[0].value, names)
    # Other values of ends determine the number of nodes.
    ends = [name for name in names if name.endswith(("_i", "_j"))]
    return found if found is not None and ends == [f"{found.rows}_j"] else None


def _read(value: ast.expr, names: list[str]) -> LinearMessage | None:
    """Read ``x_j``, ``w.view(-1, 1) * x_j`` and ``x_j if w is None else w.view(-1, 1) * x_j``."""
    if isinstance(value, ast.IfExp):
        plain, product = _read(value.body, names), _read(value.orelse, names)
        same = plain and product and plain.weight is None and plain.rows == product.rows
        if same and product and ast.unparse(value.test) == f"{product.weight} is None":
            return product
        return None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        for weight, rows in ((value.left, value.right), (value.right, value.left)):
            (name, by_head), source = _weight_name(weight), _source_name(rows)
            if name in names and source and f"{source}_j" in names:
                return LinearMessage(source, name, by_head)
        return None
    source = _source_name(value)
    return LinearMessage(source) if source and f"{source}_j" in names else None


def _source_name(value: ast.expr) -> str | None:
    """Return ``x`` of ``x_j``."""
    found = isinstance(value, ast.Name) and value.id.endswith("_j")
    return value.id[:-2] if found and isinstance(value, ast.Name) else None


def _weight_name(value: ast.expr) -> tuple[str | None, bool]:
    """Return ``w`` of ``w.view(-1, 1)`` and the like, and whether it may have heads."""
    text = ast.unparse(value)
    for form in (".view(-1, 1)", ".unsqueeze(-1)", ".unsqueeze(1)", "[:, None]"):
        name = text.removesuffix(form)
        if name != text and name.isidentifier() and not name.endswith(("_i", "_j")):
            return name, form == ".unsqueeze(-1)"
    return None, False


def _is_text(step: ast.stmt) -> bool:
    return isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant)


#: Aggregations by the name of their class.
REDUCTIONS = {"SumAggregation": "sum", "MeanAggregation": "mean"}
# Methods of a layer that take part in the sum of messages.
_METHODS = (
    "message", "aggregate", "update", "message_and_aggregate", "explain_message", "_collect",
    "_lift", "__lift__", "__collect__",
)  # fmt: skip


def reason_against(layer: MessagePassing) -> str | None:
    """Return why a layer cannot run on the kernels; None: it can.

    Example:
        >>> from torch_geometric.nn import GCNConv, PNAConv, SAGEConv
        >>> reason_against(GCNConv(2, 2))
        >>> reason_against(SAGEConv(2, 2, aggr="max"))
        'its aggregation is MaxAggregation, not a sum or a mean'
    """
    kind: Any = type(layer)
    message: Callable[..., Any] = kind.message
    replaced = [name for name in _METHODS if name in vars(layer)]
    if replaced:
        return f"its {replaced[0]} was replaced"
    # PyG writes a function ``propagate`` for a class, or leaves that of its base class.
    if kind.propagate.__qualname__ not in ("propagate", "MessagePassing.propagate"):
        return "it has its own propagate"
    if linear_message(message) is None:
        return "its message is not a row of the source, or that times a number"
    if kind.aggregate is not MessagePassing.aggregate or kind.update is not MessagePassing.update:
        return "it has its own aggregate or update"
    aggregation = type(layer.aggr_module).__name__
    if aggregation not in REDUCTIONS:
        return f"its aggregation is {aggregation}, not a sum or a mean"
    if layer.node_dim not in (-2, 0):
        return f"its nodes are in dimension {layer.node_dim}"
    return None
