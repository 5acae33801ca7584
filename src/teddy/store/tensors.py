"""Tensors and plain facts in one file: safetensors, no pickle, with a checksum over all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from teddy.store.atomic import StrPath, write_atomically


@dataclass(frozen=True)
class Entry:
    """Tensors and plain numbers that belong together."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any] = field(default_factory=dict)


def write_entry(path: StrPath, entry: Entry) -> None:
    """Write a file, whole or not at all, whose bytes depend on the entry alone.

    The checksum is among the facts, so that there is one metadata key: of several safetensors
    doesn't keep the order.

    Example:
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.safetensors"
        >>> write_entry(path, Entry({"x": torch.ones(1)}, {"epoch": 3}))
        >>> read_entry(path)
        Entry(tensors={'x': tensor([1.])}, facts={'epoch': 3})
    """
    tensors = {key: tensor.detach().cpu().contiguous() for key, tensor in entry.tensors.items()}
    facts = {**entry.facts, "sha256": content_digest(entry.facts, tensors)}
    text = json.dumps(facts, sort_keys=True)
    write_atomically(path, to_safetensors(tensors, {"teddy": text}))


def read_entry(path: StrPath) -> Entry | None:
    """Read a file; None if there is none, it is another kind of file, or it is damaged.

    Example:
        >>> read_entry("no-such-file") is None
        True
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        facts = json.loads(metadata["teddy"])
        claimed = facts.pop("sha256")
        return Entry(tensors, facts) if claimed == content_digest(facts, tensors) else None
    except (OSError, SafetensorError, KeyError, TypeError, AttributeError, ValueError,
            RecursionError):  # fmt: skip
        return None


def content_digest(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Return the sha256 of a header and tensors, however they are stored.

    Example:
        >>> len(content_digest({"seed": 0}, {"edges": torch.ones(2)}))
        64
    """
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
