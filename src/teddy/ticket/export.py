"""Tickets for other programs: ONNX, ``torch.export``, Parquet.

The network becomes a program of plain tensor operations that needs nothing of this library,
``logits = program(x, edge_index)``: ``x`` float ``[N, F]``, dense; ``edge_index`` int64
``[2, E]``, both directions of each kept edge (of a directed ticket those that there are), each
once, as :meth:`teddy.ticket.Ticket.edge_index` gives them. A ticket that was found with weights of
edges has ``edge_weight`` float ``[E]`` as a third input, as :meth:`teddy.ticket.Ticket.fields`
gives it. Of a regression the outputs are what ``predict`` gives, numbers in the scale of its
targets; of a ticket that predicts links they are ``[N, D]`` of nodes, and the inner product of two
is the logit of a link. Numbers of nodes and edges are open: the same file serves other graphs.
Dead hidden units are removed; other weights that are zero are stored as such.
"""

from __future__ import annotations

import copy
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from teddy.atomic import StrPath, check_writable, write_atomically
from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.compact import compact
from teddy.models.compact_module import NotSmallerError, compact_module
from teddy.models.plain import Plain
from teddy.ticket.edge_table import kept_edges, parquet
from teddy.ticket.features import input_names
from teddy.ticket.graphs import refuse_graphs
from teddy.ticket.hetero import refuse_hetero
from teddy.training.forward import dense_input

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from teddy.ticket.info import TicketInfo
    from teddy.ticket.ticket import Ticket

#: Sums into the same place are in ONNX since opset 16, the highest of them since 18.
OPSET = 18


def export_ticket(ticket: Ticket, path: StrPath, data: Data | None = None) -> None:
    """Write a ticket for other programs, by the ending of the file.

    Args:
        ticket: The ticket.
        path: ``.onnx``; ``.pt2``, for ``torch.export.load``; ``.parquet``, the table of
            :func:`~teddy.ticket.edge_table.kept_edges`.
        data: The ticket's graph, for ``.parquet``.

    Raises:
        InputError: if there is no such export, or the network can't be exported; nothing is
            written then.
    """
    refuse_hetero(ticket.info)
    refuse_graphs(ticket.info)
    kind = check_kind(path)
    if (kind == ".parquet") != (data is not None):
        came, expected = ("a graph", "none") if data is not None else ("no graph", "the ticket's")
        raise InputError(f"{path}: {came} came with it, expected {expected} for {kind}")
    check_writable(path)
    if data is not None:
        write_atomically(path, parquet(kept_edges(ticket, data)))
        return
    inputs, output = signature(ticket.info)
    for name in inputs:
        if name not in ("x", "edge_index", "edge_weight"):
            raise InputError(
                f"{path}: the ticket was found with {name}, expected one without for {kind}"
            )
    program = exported_program(
        ticket.model,
        ticket.info.graph["features"],
        "edge_weight" in inputs,
        ticket.task.predict if output == "predictions" else None,
    )
    content = _onnx(program, inputs, output) if kind == ".onnx" else _pt2(program)
    write_atomically(path, content)


def signature(info: TicketInfo) -> tuple[list[str], str]:
    """What the program of a ticket takes, and what it gives.

    Logits; of a regression, whose logits are in a scale of the training's own, predictions; where
    links are predicted, the outputs of nodes, whose inner products are logits.
    """
    inputs = ["x", "edge_index", *input_names(info)]
    own = {"regression": "predictions", "link-prediction": "outputs"}
    return inputs, own.get(info.task["name"], "logits")


def check_kind(path: StrPath) -> str:
    """Return the ending of a file that a ticket can be exported to, or raise.

    Example:
        >>> check_kind("a.pt")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: a.pt: ends in '.pt', expected .onnx, .pt2 or .parquet
    """
    kind = Path(path).suffix.lower()
    if kind not in (".onnx", ".pt2", ".parquet"):
        raise InputError(f"{path}: ends in '{kind}', expected .onnx, .pt2 or .parquet")
    if kind == ".onnx":
        for package in ("onnx", "onnxscript"):
            if find_spec(package) is None:
                raise InputError(f"ONNX needs {package}: pip install 'teddy-glt[export]'")
    return kind


class _Program(nn.Module):
    """A network that takes weights of edges by name, and something to do with its logits."""

    def __init__(self, network: nn.Module, finish: Callable[[Tensor], Tensor] | None) -> None:
        super().__init__()
        self.network, self.finish = network, finish

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        named = {} if edge_weight is None else {"edge_weight": edge_weight}
        logits: Tensor = self.network(x, edge_index, **named)
        return logits if self.finish is None else self.finish(logits)


def exported_program(
    model: nn.Module,
    features: int,
    weighted: bool = False,
    finish: Callable[[Tensor], Tensor] | None = None,
) -> ExportedProgram:
    """Trace a network for any number of nodes and edges.

    Models of ours are traced in their plain form, other modules where ``torch.export`` can follow
    them; both without dead hidden units.

    Args:
        model: The network; it stays as it is.
        features: Of a node.
        weighted: Whether ``edge_weight`` is an input.
        finish: From the logits to what the program is to give; None: the logits.

    Example:
        >>> from teddy.models import build_model
        >>> program = exported_program(build_model("gcn", 3, 2, hidden=4), 3)
        >>> program.module()(torch.ones(7, 3), torch.empty(2, 0, dtype=torch.long)).shape
        torch.Size([7, 2])
    """
    from torch.export import Dim, export

    model = copy.deepcopy(model).cpu().eval()
    whole = _program(model, weighted, finish)
    edges = Dim("edges", min=0)
    open_sizes = ({0: Dim("nodes", min=1)}, {1: edges}, {0: edges})[: 3 if weighted else 2]
    try:
        with _quiet(), torch.no_grad():
            example = _example(model, features, 5, weighted)
            other = _example(model, features, 7, weighted)
            small = _compact(model, lambda network: network(*other))
            program = export(_program(small, weighted, finish), example, dynamic_shapes=open_sizes)
            difference = (program.module()(*other) - whole(*other)).abs().max()
    except Exception as error:  # whatever a module of the user's own, or the tracing of it, raises
        reason = shorten(" ".join(str(error).split()), 160, placeholder=" ...")
        raise InputError(
            f"a {type(model).__name__} can't be exported, expected one that torch.export takes "
            f"with any number of nodes and edges ({type(error).__name__}: {reason})"
        ) from error
    if not difference <= 1e-4:
        raise InputError(
            f"the exported {type(model).__name__} is off by {float(difference):.1e} on another "
            "graph, expected one that computes each graph afresh"
        )
    return program


def _program(
    model: nn.Module, weighted: bool, finish: Callable[[Tensor], Tensor] | None
) -> nn.Module:
    """The network in the form that is traced."""
    network = Plain(model) if isinstance(model, GNN) else model
    return _Program(network, finish) if weighted or finish is not None else network


def _compact(model: nn.Module, run: Callable[[nn.Module], Tensor]) -> nn.Module:
    """The network without dead hidden units; your own as it is where that can't be had."""
    if isinstance(model, GNN):
        return compact(model, units_only=True)[0]
    try:
        return compact_module(model, run)
    except NotSmallerError:
        return model


def _example(model: nn.Module, features: int, nodes: int, weighted: bool) -> tuple[Tensor, ...]:
    """A path of some nodes, both directions, and features and weights that aren't all alike."""
    steps = torch.arange(nodes - 1)
    pairs = torch.stack([steps, steps + 1])
    x = torch.linspace(-1, 1, nodes * features).reshape(nodes, features)
    x, edge_index = dense_input(model, x), torch.cat([pairs, pairs.flip(0)], dim=1)
    weights = torch.linspace(0.5, 2, edge_index.size(1), dtype=x.dtype)
    return (x, edge_index, weights) if weighted else (x, edge_index)


def _pt2(program: ExportedProgram) -> bytes:
    buffer = io.BytesIO()
    with _quiet():
        torch.export.save(program, buffer)
    return buffer.getvalue()


def _onnx(program: ExportedProgram, inputs: list[str], output: str) -> bytes:
    names: dict[str, Any] = {"input_names": inputs, "output_names": [output]}
    try:
        with _quiet():
            made = torch.onnx.export(
                program, (), dynamo=True, verbose=False, opset_version=OPSET, **names
            )
    except Exception as error:  # an operation that ONNX doesn't have, of a module of the user's
        reason = shorten(" ".join(str(error.__cause__ or error).split()), 160, placeholder=" ...")
        raise InputError(f"the network can't be written as ONNX ({reason})") from error
    assert made is not None
    _name_sizes(made.model.graph)
    content: bytes = made.model_proto.SerializeToString()
    return content


def _name_sizes(graph: Any) -> None:
    """Call the open sizes what they are, not s77."""
    x, edge_index, *_ = graph.inputs
    names = {str(x.shape[0]): "nodes", str(edge_index.shape[1]): "edges"}
    for value in [*graph.inputs, *(output for node in graph for output in node.outputs)]:
        for axis, size in enumerate(value.shape or ()):
            if not isinstance(size, int):
                text = str(size)
                for old, new in names.items():
                    text = text.replace(old, new)
                value.shape[axis] = text


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporters say about themselves."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
