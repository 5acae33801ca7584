"""Tensors on disk: files with metadata and a checksum, packed masks, and mapped matrices."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from teddy.store.atomic import StrPath, write_atomically


@dataclass(frozen=True)
class Entry:
    """Tensors and their metadata."""

    tensors: dict[str, Tensor]
    metadata: dict[str, Any] = field(default_factory=dict)


def entry_bytes(entry: Entry) -> bytes:
    """Return the content of an entry's file; equal entries give equal bytes."""
    tensors = {key: tensor.detach().cpu().contiguous() for key, tensor in entry.tensors.items()}
    # One metadata key: safetensors doesn't keep the order of several.
    metadata = {**entry.metadata, "sha256": content_digest(entry.metadata, tensors)}
    content: bytes = to_safetensors(tensors, {"teddy": json.dumps(metadata, sort_keys=True)})
    return content


def write_entry(path: StrPath, entry: Entry) -> None:
    """Write an entry to a file, in full or not at all.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.safetensors"
        >>> write_entry(path, Entry({"x": torch.ones(1)}, {"epoch": 3}))
        >>> read_entry(path)
        Entry(tensors={'x': tensor([1.])}, metadata={'epoch': 3})
    """
    write_atomically(path, entry_bytes(entry))


def read_entry(path: StrPath) -> Entry | None:
    """Read an entry; None if the file is missing, damaged or of another kind."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata()
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        metadata = json.loads(header["teddy"])
        checksum = metadata.pop("sha256")
        intact = checksum == content_digest(metadata, tensors)
        return Entry(tensors, metadata) if intact else None
    except (OSError, RuntimeError, SafetensorError, KeyError, TypeError, AttributeError,
            ValueError):  # fmt: skip
        return None


def content_digest(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Return the sha256 of a header and tensors; their layout in memory does not matter."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def pack(mask: Tensor) -> Tensor:
    """Pack eight entries of a mask into a byte.

    Example:
        >>> pack(torch.tensor([True, False, True]))
        tensor([160], dtype=torch.uint8)
    """
    return torch.from_numpy(np.packbits(mask.cpu().numpy().reshape(-1)))


def unpack(packed: Tensor, count: int) -> Tensor:
    """Unpack ``count`` entries of a mask from its bytes.

    Example:
        >>> unpack(torch.tensor([160], dtype=torch.uint8), 3)
        tensor([ True, False,  True])
    """
    if packed.dtype != torch.uint8 or packed.numel() != (count + 7) // 8:
        raise ValueError(f"{packed.numel()} bytes for {count} bits")
    return torch.from_numpy(np.unpackbits(packed.numpy(), count=count).astype(bool))


def scratch(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return a matrix of zeros in a file in ``TMPDIR``, mapped into memory.

    The file has no name, so the system deletes it with the tensor or the process.

    Example:
        >>> matrix = scratch(2, 3)
        >>> matrix[0] = 1
        >>> matrix.sum()
        tensor(3.)
    """
    kind = torch.empty(0, dtype=dtype).numpy().dtype
    if rows * columns == 0:
        return torch.zeros(rows, columns, dtype=dtype)
    with tempfile.TemporaryFile(prefix="teddy-") as file:
        # On a full disk this raises an error; otherwise a later write would be a signal.
        os.posix_fallocate(file.fileno(), 0, rows * columns * kind.itemsize)
        array = np.memmap(file, kind, "r+", shape=(rows, columns))
    return torch.from_numpy(array)
