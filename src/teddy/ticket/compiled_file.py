"""File of a compiled ticket: the small network, the prepared graph and the features.

It is safetensors with a JSON header and a checksum, see :mod:`teddy.store.tensors`; no pickle.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from teddy.data.features import SPARSE_BELOW
from teddy.errors import InputError
from teddy.graph.inputs import HeteroInputs
from teddy.kernels.layer import SparseWeight, replace_weight
from teddy.kernels.pattern import Pattern
from teddy.kernels.sparse import SparseMatrix
from teddy.models import GNN, MODELS, build_model
from teddy.models.compact import fit_sizes
from teddy.models.identity import class_path, plain_name
from teddy.models.nagphormer import Hops
from teddy.models.specformer import Filter
from teddy.registry import short_class
from teddy.store.atomic import StrPath
from teddy.store.tensors import Entry, read_entry, write_entry
from teddy.tasks.heads import Head, head_from
from teddy.ticket.info import with_current_options
from teddy.ticket.state import STRUCTURE, module_for, same_settings, warn_of_settings

KIND = "compiled ticket"
#: Format of nodes and links, and of graphs and heterogeneous graphs, which came later.
FORMATS = (1, 2)

# Forms of a prepared graph other than a sparse matrix.
_STRUCTURES: dict[str, Callable[..., Any]] = {
    "Hops": Hops,
    "Filter": Filter,
    "Surroundings": HeteroInputs,
}
# Indices are stored in four bytes where they fit.
_SMALL = 1 << 31


@dataclass(frozen=True)
class Parts:
    """Content of a compiled ticket.

    Attributes:
        model: Small network.
        shape: Shape of the features that it takes, ``[N, F]``.
        x: Prepared features; dense for your own module.
        graph: Prepared pruned graph; ``edge_index`` for your own module.
        of_edges: Edge values that your own module takes.
        kept: Feature columns that the network uses; None: all.
        order: Index of each expected column; None: the same order.
        head: Map from the network's outputs to the logits.
        target: Predicted node type of a heterogeneous graph.
        macs: Multiply-accumulates of each layer.
        recorded: Digest of your own module's settings.
    """

    model: nn.Module
    shape: torch.Size
    x: Any
    graph: Any
    of_edges: dict[str, Tensor]
    kept: Tensor | None
    order: Tensor | None
    head: nn.Module
    target: str | None
    macs: list[int] | None
    recorded: dict[str, Any]


def write_compiled(path: StrPath, parts: Parts) -> None:
    """Write a compiled ticket atomically."""
    tensors: dict[str, Tensor] = {}
    model, head = parts.model, parts.head
    fields = head.fields() if isinstance(head, Head) else {}
    if type(head_from(fields)) is not type(head):
        raise InputError(
            f"a compiled file cannot store your own head ({type(head).__name__}), expected "
            "ticket.save(path), and ticket.compile(data) after loading"
        )
    second = (
        "graph_of_node" in fields or parts.target is not None or "graph_of_node" in parts.of_edges
    )
    header: dict[str, Any] = {
        "kind": KIND,
        "format": FORMATS[second],
        "model": _spec(model) | parts.recorded,
        "shape": list(parts.shape),
        "macs": parts.macs,
        "state": {n: _pack(t, f"state/{n}", tensors) for n, t in model.state_dict().items()},
        "sparse_weights": {
            f"{name}.{index}": _pack(weight.rows, f"sparse/{name}.{index}", tensors)
            for name in getattr(model, "PRODUCTS", ())
            for index, weight in enumerate(getattr(model, name))
            if isinstance(weight, SparseWeight)
        },
        "of_edges": {n: _pack(t, f"edges/{n}", tensors) for n, t in parts.of_edges.items()},
    }
    x = parts.x
    if isinstance(x, Tensor) and not isinstance(model, GNN) and _is_sparse(x):
        header["dense"], x = True, SparseMatrix.from_tensor(x)
    for name, value in (("x", x), *((n, getattr(parts, n)) for n in _OTHERS)):
        header[name] = _pack(value, name, tensors)
    for name, value in ({"pairs": None} | fields).items():
        header[name] = value if isinstance(value, str) else _pack(value, name, tensors)
    if parts.target is not None:
        header["target"] = parts.target
    write_entry(path, Entry(tensors, header))


_OTHERS = ("graph", "kept", "order")
_OF_HEADS = ("pairs", "readout", "graph_of_node")


def read_compiled(
    path: StrPath,
    model: nn.Module | Callable[[], nn.Module] | None = None,
    device: str | torch.device = "cpu",
) -> Parts:
    """Read a compiled ticket and verify its checksum.

    Args:
        path: The file.
        model: Your own module, or a function that makes one; not needed for built-in models.
        device: Device of the passes.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file, expected a compiled ticket")
    entry = read_entry(path)
    if entry is None or entry.metadata.get("kind") != KIND:
        raise InputError(
            f"{path}: not a compiled ticket, or damaged, expected a file of CompiledTicket.save"
        )
    header = entry.metadata
    if header.get("format") not in FORMATS:
        known = " or ".join(map(str, FORMATS))
        raise InputError(f"{path}: format {header.get('format')!r}, expected {known}")
    # Copied to where torch allocates: in unaligned memory sums are rounded in another way.
    tensors = {name: tensor.clone().to(device) for name, tensor in entry.tensors.items()}
    try:
        network = _network(path, header, tensors, model)
        x = _unpack(header["x"], tensors)
        if header.get("dense"):
            x = _dense(x)
        of_edges = {name: _unpack(spec, tensors) for name, spec in header["of_edges"].items()}
        others = {name: _unpack(header[name], tensors) for name in _OTHERS}
        shape = torch.Size(header["shape"])
        fields = (name for name in _OF_HEADS if name in header)
        head = head_from(
            {n: h if isinstance(h := header[n], str) else _unpack(h, tensors) for n in fields}
        )
        recorded = {name: value for name, value in header["model"].items() if name in STRUCTURE}
        return Parts(
            network, shape, x, of_edges=of_edges, head=head,
            target=header.get("target"), macs=header["macs"], recorded=recorded, **others,
        )  # fmt: skip
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: the weights do not fit the model ({reason})") from None


def _spec(model: nn.Module) -> dict[str, Any]:
    for name in MODELS:
        if type(model) is MODELS[name]:
            sizes = {"in_channels": model.in_channels, "out_channels": model.out_channels}
            return {"name": name, **sizes, "options": model.options}
    return {"class": class_path(model)}


def _network(
    path: StrPath,
    header: dict[str, Any],
    tensors: dict[str, Tensor],
    model: nn.Module | Callable[[], nn.Module] | None,
) -> nn.Module:
    """Return the small network with the stored tensors."""
    spec = with_current_options(header["model"])
    if model is None and "name" not in spec:
        raise InputError(
            f"{path}: its model is your own module ({short_class(str(spec.get('class')))}), "
            "expected that module: CompiledTicket.load(path, model=...)"
        )
    if model is not None:
        try:
            full = module_for(spec, model)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
    if "name" in spec:
        with torch.device("meta"):  # no weights are drawn: all are in the file
            full = build_model(
                spec["name"], spec["in_channels"], spec["out_channels"], **spec["options"]
            )
    full.eval()  # in training, a weight with a spectral norm changes each time it is read
    network = copy.deepcopy(full)
    parameters = {name for name, _ in network.named_parameters(remove_duplicate=False)}
    names = {plain_name(name): name for name in network.state_dict()}
    state = {names.get(plain_name(name), name): spec for name, spec in header["state"].items()}
    stored, expected = {*state, *header["sparse_weights"]}, {*network.state_dict()}
    if stored != expected:
        name = min(stored ^ expected)
        raise ValueError(f"'{name}' is in {'the file' if name in stored else 'the model'} only")
    one: dict[Any, Tensor] = {}  # what has several names in a module stays one
    before = network.state_dict(keep_vars=True)
    for name, packed in state.items():
        value = _unpack(packed, tensors)
        if name in parameters:
            value = nn.Parameter(value, requires_grad=False)
        path_to, _, leaf = name.rpartition(".")
        setattr(network.get_submodule(path_to), leaf, one.setdefault(id(before[name]), value))
    for name, packed in header["sparse_weights"].items():
        path_to, _, leaf = name.rpartition(".")
        weight = SparseWeight(_dense(_unpack(packed, tensors)))
        replace_weight(network.get_submodule(path_to), int(leaf), weight)
    fit_sizes(full, network)
    if not same_settings(spec, full):
        warn_of_settings(path, network)
    return network.requires_grad_(False)


def _is_sparse(x: Tensor) -> bool:
    return x.dim() == 2 and int(torch.count_nonzero(x)) < SPARSE_BELOW * x.numel()


def _dense(matrix: SparseMatrix) -> Tensor:
    pattern = matrix.pattern
    dense = matrix.values.new_zeros(pattern.shape)
    dense[pattern.row, pattern.col] = matrix.values
    return dense


def _pack(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    """Return plain data from which ``_unpack`` rebuilds a value; its tensors go to the file."""
    if value is None:
        return None
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, Tensor):
        # The order in memory stays: with another, sums are rounded in another way.
        turned = value.dim() == 2 and not value.is_contiguous() and value.t().is_contiguous()
        stored = (value.t() if turned else value).detach().cpu().clone().contiguous()
        long = stored.dtype == torch.long
        if long and stored.dim() > 0 and (not stored.numel() or int(stored.abs().max()) < _SMALL):
            stored = stored.int()
        tensors[name] = stored
        return {"tensor": name, "turned": turned, "long": long}
    if isinstance(value, SparseMatrix):
        pattern = value.pattern
        parts = {"crow": pattern.crow, "col": pattern.col, "values": value.values}
        packed = {part: _pack(tensor, f"{name}/{part}", tensors) for part, tensor in parts.items()}
        origin = _pack(pattern.origin, f"{name}/origin", tensors)
        return {
            "sparse": packed,
            "shape": list(pattern.shape),
            "unit": value.unit,
            "origin": origin,
        }
    if isinstance(value, dict):  # by node type or relation, the names of which are in the header
        return {"items": [
            [key, _pack(part, f"{name}/{number}", tensors)]
            for number, (key, part) in enumerate(value.items())
        ]}  # fmt: skip
    assert is_dataclass(value)
    kind = next(name for name, made in _STRUCTURES.items() if made is type(value))
    return {"kind": kind, "fields": {
        f.name: _pack(getattr(value, f.name), f"{name}/{f.name}", tensors) for f in fields(value)
    }}  # fmt: skip


def _unpack(packed: Any, tensors: dict[str, Tensor]) -> Any:
    if packed is None:
        return None
    if "text" in packed:
        return packed["text"]
    if "tensor" in packed:
        tensor = tensors[packed["tensor"]]
        tensor = tensor.long() if packed["long"] else tensor
        return tensor.t() if packed["turned"] else tensor
    if "sparse" in packed:
        parts = {name: _unpack(part, tensors) for name, part in packed["sparse"].items()}
        rows, columns = packed["shape"]
        origin = _unpack(packed["origin"], tensors)
        pattern = Pattern(parts["crow"], parts["col"], (rows, columns), origin)
        return SparseMatrix(pattern, parts["values"], packed["unit"])
    if "items" in packed:
        items = ((tuple(k) if isinstance(k, list) else k, part) for k, part in packed["items"])
        return {key: _unpack(part, tensors) for key, part in items}
    values = {name: _unpack(value, tensors) for name, value in packed["fields"].items()}
    return _STRUCTURES[packed["kind"]](**values)
