"""Random order: the random baseline."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from teddy.graph.edges import Edges


def random_order(graph: Edges, pairs: Tensor, seed: int = 0) -> Tensor:
    """Draw a uniform number per pair, as DropEdge does once; the same seed, the same numbers.

    Example:
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> bool((random_order(path, path.pairs, 7) == random_order(path, path.pairs, 7)).all())
        True
    """
    draws = np.random.Generator(np.random.PCG64(seed)).random(pairs.size(1))
    return torch.from_numpy(draws).to(pairs.device)
