"""Arrays that may be larger than memory, in files that nobody sees."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import torch
from torch import Tensor


def scratch(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A matrix of zeros on the disk, mapped into memory: the system reads and writes its pages.

    Its file has no name, so it is gone with the tensor, or with the process, however that ends.
    ``TMPDIR`` says where it is.

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
        # A disk that is full is an error here, not a signal when a page is written.
        os.posix_fallocate(file.fileno(), 0, rows * columns * kind.itemsize)
        array = np.memmap(file, kind, "r+", shape=(rows, columns))
    return torch.from_numpy(array)
