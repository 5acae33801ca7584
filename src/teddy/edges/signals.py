"""What a score may look at beside the graph: features, and what a dense model says of the nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from teddy.errors import InputError


@dataclass(frozen=True)
class Signals:
    """Of each node, whatever is known; a score says what it needs.

    Attributes:
        x: Features ``[N, F]``, dense or sparse.
        logits: Outputs of the dense model ``[N, C]``.
        alone: Outputs of the same model if no node gets a message: of the graph without edges.
        labels: int64 ``[N]``: classes of the training nodes, -1 for all others.

    Example:
        >>> Signals(x=torch.eye(2)).check(2, "agreement", ("logits",))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the score agreement looks at logits, expected logits=...
    """

    x: Tensor | None = None
    logits: Tensor | None = None
    alone: Tensor | None = None
    labels: Tensor | None = None

    def check(self, num_nodes: int, score: str, needs: tuple[str, ...]) -> None:
        """Raise unless what a score needs is there, with a row for each node."""
        for name in needs:
            value = getattr(self, name)
            if value is None:
                raise InputError(f"the score {score} looks at {name}, expected {name}=...")
            if value.dim() != (1 if name == "labels" else 2) or value.size(0) != num_nodes:
                raise InputError(
                    f"{name} has shape {list(value.shape)}, expected a row for each of the "
                    f"{num_nodes} nodes"
                )

    def to(self, device: torch.device) -> Signals:
        """The same on a device."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Signals(**{n: None if v is None else v.to(device) for n, v in values.items()})
