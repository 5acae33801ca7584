"""Export of tickets: ONNX, ``torch.export`` and Parquet.

The network becomes a program of plain tensor operations that runs without this library,
``logits = program(x, edge_index)``. ``x`` is float ``[N, F]``, dense. ``edge_index`` is int64
``[2, E]``, the kept messages, each once, from :meth:`teddy.ticket.Ticket.edge_index`. A ticket that
was found with edge weights has ``edge_weight`` float ``[E]`` as third input, from
:meth:`teddy.ticket.Ticket.fields`. A regression program returns predictions in the scale of its
targets. A link-prediction program returns outputs ``[N, D]`` of nodes: the inner product of two is
the logit of a link. Numbers of nodes and edges are open, so that one file serves other graphs.
Dead hidden units are removed; other zero weights are stored.

A graph-classification program is ``logits = program(x, edge_index, batch)``, ``[G, C]``, with
``batch`` int64 ``[N]``, the graph of each node, as in a PyG ``Batch``. A ``HeteroData`` program has
an input for each node type with features, such as ``x_paper``, and for each relation, such as
``edge_index_author__writes__paper``; ``torch.export`` takes them in one dict of these names.
"""

from __future__ import annotations

import copy
import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.models import GNN
from teddy.models.compact import NotSmallerError, compact, compact_module
from teddy.store.atomic import StrPath, check_writable, write_atomically
from teddy.tasks.programs import Program, open_number_of_graphs
from teddy.ticket.edge_table import kept_edges, parquet
from teddy.ticket.features import input_names

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from teddy.ticket.ticket import DataLike, Ticket
    from teddy.ticket.view import TicketEdges

#: Sums into the same place are in ONNX since opset 16, the highest of them since 18.
OPSET = 18


def export_ticket(ticket: Ticket, path: StrPath, data: DataLike | None = None) -> None:
    """Export a ticket in the format of the file's ending.

    Args:
        ticket: The ticket.
        path: ``.onnx``; ``.pt2``, for ``torch.export.load``; ``.parquet``, the table of
            :func:`~teddy.ticket.edge_table.kept_edges`.
        data: Graph or graphs of the ticket, for ``.parquet``.

    Raises:
        InputError: if the ticket can't be exported; nothing is written then.
    """
    kind = check_kind(path)
    if (kind == ".parquet") != (data is not None):
        expected = "no data" if data is not None else "the ticket's data"
        raise InputError(f"{path}: cannot export to {kind}, expected {expected} with it")
    check_writable(path)
    if data is not None:
        write_atomically(path, parquet(kept_edges(ticket, data)))
        return
    form, (_, output) = ticket.kind.program(), signature(ticket)
    for name in input_names(ticket.info):
        if name not in form.sizes:
            raise InputError(
                f"{path}: the ticket was found with {name}, expected a ticket without it for {kind}"
            )
    finish = ticket.task.predict if output == "predictions" else None
    program = exported_program(ticket.model, form, finish)
    content = _onnx(program, form, output) if kind == ".onnx" else _pt2(program)
    write_atomically(path, content)


def signature(ticket: TicketEdges) -> tuple[list[str], str]:
    """Return the names of a program's inputs, and of its output.

    The output is ``logits``; ``predictions`` of a regression; ``outputs`` of nodes, whose inner
    products are logits, for link prediction.
    """
    kind = ticket.kind
    return list(kind.program().sizes), kind.exported or ticket.task.exported


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


class _Finished(nn.Module):
    """Module with a function of its logits."""

    def __init__(self, module: nn.Module, finish: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.module, self.finish = module, finish

    def forward(
        self, x: Any, edge_index: Tensor | None = None, edge_weight: Tensor | None = None
    ) -> Tensor:
        inputs = (value for value in (x, edge_index, edge_weight) if value is not None)
        return self.finish(self.module(*inputs))


def exported_program(
    model: nn.Module, form: Program, finish: Callable[[Tensor], Tensor] | None = None
) -> ExportedProgram:
    """Trace a network for any number of nodes, edges and graphs.

    Built-in models are traced in plain tensor operations, other modules as they are, all without
    dead hidden units.

    Args:
        model: Network, which is not changed.
        form: Inputs of the program.
        finish: Map from the logits to the output; None: the logits.
    """
    from torch.export import Dim, export

    model = copy.deepcopy(model).cpu().eval()
    whole = _finished(form.traced(model), finish)
    symbols = {
        label: Dim(f"size{place}", min=int(axis == 0))
        for place, (axis, label) in enumerate(dict.fromkeys(form.sizes.values()))
    }
    shapes = {name: {axis: symbols[label]} for name, (axis, label) in form.sizes.items()}
    try:
        with _quiet(), torch.no_grad(), open_number_of_graphs():
            example, other = (form.arguments(form.example(model, size)) for size in (5, 7))
            small = _compact(model, lambda network: form.traced(network)(*other))
            module = _finished(form.traced(small), finish)
            program = export(module, example, dynamic_shapes=form.arguments(shapes))
            difference = (program.module()(*other) - whole(*other)).abs().max()
    except Exception as error:  # any error of your own module, or of tracing it
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


def _finished(module: nn.Module, finish: Callable[[Tensor], Tensor] | None) -> nn.Module:
    return module if finish is None else _Finished(module, finish)


def _compact(model: nn.Module, run: Callable[[nn.Module], Tensor]) -> nn.Module:
    """Return the network without dead hidden units, or unchanged if they can't be removed."""
    if isinstance(model, GNN):
        return compact(model, units_only=True)[0]
    try:
        return compact_module(model, run)
    except NotSmallerError:
        return model


def _pt2(program: ExportedProgram) -> bytes:
    buffer = io.BytesIO()
    with _quiet():
        torch.export.save(program, buffer)
    return buffer.getvalue()


def _onnx(program: ExportedProgram, form: Program, output: str) -> bytes:
    names: dict[str, Any] = {"input_names": list(form.sizes), "output_names": [output]}
    try:
        with _quiet():
            made = torch.onnx.export(
                program, (), dynamo=True, verbose=False, opset_version=OPSET, **names
            )
    except Exception as error:  # an operation of your own module that ONNX lacks
        reason = shorten(" ".join(str(error.__cause__ or error).split()), 160, placeholder=" ...")
        raise InputError(
            f"the network cannot be written as ONNX ({reason}), expected other operations, or .pt2"
        ) from error
    assert made is not None
    _name_sizes(made.model.graph, form)
    content: bytes = made.model_proto.SerializeToString()
    return content


def _name_sizes(graph: Any, form: Program) -> None:
    """Give the open sizes readable names in place of s77."""
    known = zip(graph.inputs, form.sizes.values(), strict=True)
    names = {str(value.shape[axis]): label for value, (axis, label) in known}
    rows = graph.outputs[0].shape[0]
    if not isinstance(rows, int):
        names.setdefault(str(rows), "graphs")  # not a size of an input
    old = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    for value in [*graph.inputs, *(output for node in graph for output in node.outputs)]:
        for axis, size in enumerate(value.shape or ()):
            if not isinstance(size, int):
                value.shape[axis] = old.sub(lambda found: names[found[0]], str(size))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings and logs of the exporters."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
