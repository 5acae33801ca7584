"""One file: safetensors with a JSON header. No pickle, written whole or not at all.

Tensors: ``edges`` holds a bit for each edge of the canonical order; of each parameter,
``weight/NAME/mask`` holds a bit for each entry and ``weight/NAME/values`` the entries that are not
zero; ``buffer/NAME`` holds whatever else the module's state has. The header, JSON under the
metadata key ``teddy``, holds the :class:`~teddy.ticket.info.TicketInfo`, the shapes, and a sha256
over everything.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from teddy.errors import InputError

FORMAT = 1


def write_ticket(
    path: str | os.PathLike[str],
    info: dict[str, Any],
    keep: Tensor,
    parameters: Mapping[str, Tensor],
    buffers: Mapping[str, Tensor],
) -> None:
    """Write a ticket file; on any failure a file that was there before is untouched."""
    tensors = {"edges": _pack(keep)}
    shapes = {}
    for name, tensor in parameters.items():
        tensor = tensor.detach().cpu()
        tensors[f"weight/{name}/mask"] = _pack(tensor != 0)
        tensors[f"weight/{name}/values"] = tensor[tensor != 0].contiguous()
        shapes[name] = list(tensor.shape)
    for name, tensor in buffers.items():
        tensors[f"buffer/{name}"] = tensor.detach().cpu().contiguous()
    header: dict[str, Any] = {"format": FORMAT, "info": info, "shapes": shapes}
    header["sha256"] = _digest(header, tensors)
    content = to_safetensors(tensors, metadata={"teddy": json.dumps(header, sort_keys=True)})
    write_atomically(path, content)


def read_ticket(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], Tensor, dict[str, Tensor], dict[str, Tensor]]:
    """Read and verify a ticket file: its info, kept edges, parameters and buffers."""
    name = os.fspath(path)
    if not Path(name).is_file():
        raise InputError(f"{name}: no such file, expected a ticket")
    try:
        with safe_open(name, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        header = json.loads(metadata["teddy"])
        version = header["format"]
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        reason = "; ".join(str(error).splitlines()) or type(error).__name__
        raise InputError(f"{name}: not a ticket file, or a damaged one ({reason})") from None
    if version != FORMAT:
        raise InputError(f"{name}: ticket format {version}, expected {FORMAT}")
    claimed = header.pop("sha256", None)
    if claimed != _digest(header, tensors):
        raise InputError(f"{name}: the checksum doesn't match, the file was changed or damaged")
    info, shapes = header["info"], header["shapes"]
    keep = _unpack(tensors["edges"], info["edges"]["total"])
    parameters = {
        key: _fill(tensors[f"weight/{key}/mask"], tensors[f"weight/{key}/values"], shape)
        for key, shape in shapes.items()
    }
    buffers = {
        key.removeprefix("buffer/"): tensor
        for key, tensor in tensors.items()
        if key.startswith("buffer/")
    }
    return info, keep, parameters, buffers


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that its name never stands for a part of it.

    Raises:
        InputError: if it can't be written; a file of that name stays as it was.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "note"
        >>> write_atomically(path, b"whole")
        >>> path.read_bytes()
        b'whole'
    """
    target = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except OSError as error:
        raise InputError(f"{target}: can't be written ({error.strerror})") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _digest(header: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _pack(mask: Tensor) -> Tensor:
    return torch.from_numpy(np.packbits(mask.cpu().numpy().reshape(-1)))


def _unpack(packed: Tensor, count: int) -> Tensor:
    return torch.from_numpy(np.unpackbits(packed.numpy(), count=count).astype(bool))


def _fill(mask: Tensor, values: Tensor, shape: list[int]) -> Tensor:
    full = values.new_zeros(int(np.prod(shape)))
    full[_unpack(mask, full.numel())] = values
    return full.view(shape)
