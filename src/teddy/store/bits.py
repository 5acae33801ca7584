"""Masks as bits."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


def pack(mask: Tensor) -> Tensor:
    """Put eight entries of a mask into a byte.

    Example:
        >>> pack(torch.tensor([True, False, True]))
        tensor([160], dtype=torch.uint8)
    """
    return torch.from_numpy(np.packbits(mask.cpu().numpy().reshape(-1)))


def unpack(packed: Tensor, count: int) -> Tensor:
    """Return ``count`` entries of a mask from its bytes.

    Example:
        >>> unpack(torch.tensor([160], dtype=torch.uint8), 3)
        tensor([ True, False,  True])
    """
    if packed.dtype != torch.uint8 or packed.numel() != (count + 7) // 8:
        raise ValueError(f"{packed.numel()} bytes for {count} bits")
    return torch.from_numpy(np.unpackbits(packed.numpy(), count=count).astype(bool))
