"""Ticket file: safetensors with a JSON header, without pickle, written atomically.

Tensors: ``edges`` holds a bit for each edge of the canonical order; of each parameter,
``weight/NAME/mask`` holds a bit for each entry and ``weight/NAME/values`` the entries that are not
zero; ``buffer/NAME`` holds the rest of the module's state. The header, JSON under the
metadata key ``teddy``, holds the :class:`~teddy.ticket.info.TicketInfo`, the shapes, and a sha256
over everything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from teddy.errors import InputError
from teddy.store.atomic import StrPath, write_atomically
from teddy.store.tensors import content_digest, pack, unpack
from teddy.ticket.hub import is_on_hub, local_file
from teddy.ticket.info import TicketInfo

FORMAT = 1


@dataclass
class Content:
    """Content of a ticket file.

    Attributes:
        info: Metadata.
        keep: Mask of the kept edges, bool ``[M]``.
        parameters: Sparse weights, with their zeros.
        buffers: Rest of the module's state.
    """

    info: TicketInfo
    keep: Tensor
    parameters: Mapping[str, Tensor]
    buffers: Mapping[str, Tensor]


def write_ticket(path: StrPath, content: Content) -> None:
    """Write a ticket file; on failure an existing file is untouched."""
    tensors = {"edges": pack(content.keep)}
    shapes = {}
    for name, parameter in content.parameters.items():
        tensor = parameter.detach().cpu()
        tensors[f"weight/{name}/mask"] = pack(tensor != 0)
        tensors[f"weight/{name}/values"] = tensor[tensor != 0].contiguous()
        shapes[name] = list(tensor.shape)
    for name, buffer in content.buffers.items():
        tensors[f"buffer/{name}"] = buffer.detach().cpu().clone().contiguous()
    header: dict[str, Any] = {"format": FORMAT, "info": content.info.to_dict(), "shapes": shapes}
    header["sha256"] = content_digest(header, tensors)
    text = json.dumps(header, sort_keys=True)
    write_atomically(path, to_safetensors(tensors, metadata={"teddy": text}))


def is_ticket(path: StrPath) -> bool:
    """Return whether a path is a ticket: by its name, or by the first bytes of the file.

    Example:
        >>> is_ticket("no-such-file.ticket")
        False
    """
    if is_on_hub(path):
        return True
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        # The length of a JSON header in eight bytes, then the header.
        return path.suffix == ".ticket" or file.read(9)[8:] == b"{"


def read_ticket(path: StrPath) -> Content:
    """Read and verify a ticket file; ``hub:owner/name`` is downloaded first."""
    local = local_file(path)
    if not local.is_file():
        raise InputError(f"{path}: no such file, expected a ticket")
    try:
        with safe_open(str(local), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        header = json.loads(metadata["teddy"])
        version, claimed = header["format"], header.pop("sha256", None)
    except (SafetensorError, KeyError, TypeError, AttributeError, ValueError, OSError,
            RecursionError) as error:  # fmt: skip
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: not a ticket file, or a damaged one ({reason})") from None
    if version != FORMAT:
        raise InputError(f"{path}: ticket format {version!r}, expected {FORMAT}")
    if claimed != content_digest(header, tensors):
        raise InputError(f"{path}: the checksum does not match, the file was changed or damaged")
    try:
        return _content(header, tensors)
    except (KeyError, TypeError, AttributeError, ValueError, RuntimeError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: the header does not fit the tensors ({reason})") from None


def _content(header: dict[str, Any], tensors: dict[str, Tensor]) -> Content:
    info = TicketInfo.from_dict(header["info"])
    keep = unpack(tensors["edges"], info.edges.total)
    if int(keep.sum()) != info.edges.kept:
        raise ValueError(f"{int(keep.sum())} edges kept, {info.edges.kept} expected")
    parameters = {
        name: _fill(tensors[f"weight/{name}/mask"], tensors[f"weight/{name}/values"], shape)
        for name, shape in header["shapes"].items()
    }
    buffers = {
        name.removeprefix("buffer/"): tensor
        for name, tensor in tensors.items()
        if name.startswith("buffer/")
    }
    return Content(info, keep, parameters, buffers)


def _fill(mask: Tensor, values: Tensor, shape: list[int]) -> Tensor:
    kept = unpack(mask, math.prod(shape))
    full = values.new_zeros(kept.numel())
    full[kept] = values
    return full.view(shape)
