"""Edge weights under a name that nothing looks at."""

from __future__ import annotations

import logging
from functools import cache

from torch import Tensor
from torch_geometric.data import Data

logger = logging.getLogger(__name__)


def warn_of_weight(data: Data, source: str = "data") -> None:
    """Log a warning, once, if edges have a ``weight`` and no ``edge_weight``.

    ``torch_geometric.utils.from_networkx`` calls weights of edges so.

    Args:
        data: A graph.
        source: Where it came from, for the message.

    Example:
        >>> import torch
        >>> edges = torch.tensor([[0, 1], [1, 0]])
        >>> warn_of_weight(Data(edge_index=edges, weight=torch.tensor([2.0, 2.0])), "graph.pt")
    """
    weight, edges = data.get("weight"), data.get("edge_index")
    if "edge_weight" in data or not isinstance(weight, Tensor) or not isinstance(edges, Tensor):
        return
    if edges.dim() == 2 and weight.numel() == edges.size(1) == weight.size(0):
        _warn("data.weight" if source == "data" else f"{source}: weight")


@cache
def _warn(name: str) -> None:
    logger.warning("%s is not used; rename it to edge_weight to weigh edges, or delete it", name)
