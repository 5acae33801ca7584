"""Random baseline: edges in random order."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.score import Score, Signals


def random_order(edges: Edges, signals: Signals | None = None, seed: int = 0) -> Tensor:
    """Draw a uniform number for each edge, as DropEdge does once; the seed fixes the numbers.

    Example:
        >>> path = Edges(3, torch.tensor([[0, 1], [1, 2]]))
        >>> bool((random_order(path, seed=7) == random_order(path, seed=7)).all())
        True
    """
    draws = np.random.Generator(np.random.PCG64(seed)).random(edges.num_edges)
    return torch.from_numpy(draws).to(edges.pairs.device)


random = Score(random_order, draws=True, of_graph=False)
