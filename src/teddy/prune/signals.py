"""What a score may look at beside the graph: features, and what a dense model says of the nodes."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from teddy.data.checks import check_features
from teddy.errors import InputError
from teddy.tensors import as_integers, as_tensor, shape_text


@dataclass(frozen=True)
class Signals:
    """Of each node, whatever is known; a score says what it needs.

    Attributes:
        x: Features ``[N, F]``, dense or sparse.
        logits: Outputs of the dense model ``[N, C]``.
        alone: Outputs of the same model if no node gets a message: of the graph without edges.
        labels: int64 ``[N]``: classes of the training nodes, -1 for all others.

    Example:
        >>> Signals(x=torch.eye(2)).checked(2, "agreement", ("logits",))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the score agreement looks at logits, expected logits=...
    """

    x: Tensor | None = None
    logits: Tensor | None = None
    alone: Tensor | None = None
    labels: Tensor | None = None

    def checked(self, num_nodes: int, score: str, needs: tuple[str, ...]) -> Signals:
        """What a score needs, with a row for each node, or raise: sparse ``x`` as CSR."""
        found = {}
        for name in needs:
            value = getattr(self, name)
            if value is None:
                raise InputError(f"the score {score} looks at {name}, expected {name}=...")
            found[name] = _of_nodes(name, value, num_nodes)
        widths = [found[name].size(1) for name in ("logits", "alone") if name in found]
        if len(set(widths)) > 1:
            raise InputError(f"alone has {widths[1]} columns, expected {widths[0]}, as logits has")
        if widths and "labels" in found and (found["labels"] >= widths[0]).any():
            most = int(found["labels"].max())
            raise InputError(
                f"labels go up to {most}, expected classes of logits, below {widths[0]}"
            )
        return Signals(**found)

    def to(self, device: torch.device) -> Signals:
        """The same on a device."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Signals(**{n: None if v is None else v.to(device) for n, v in values.items()})


def _of_nodes(name: str, value: Tensor, num_nodes: int) -> Tensor:
    """A signal as scores take it, or raise unless it has a row for each node."""
    value = as_tensor(value, name, "a row for each node", "signals").detach()
    if value.dim() != (1 if name == "labels" else 2) or value.size(0) != num_nodes:
        raise InputError(
            f"{name} has shape {shape_text(value)}, expected a row for each of the {num_nodes} "
            "nodes"
        )
    if name == "labels":
        return as_integers(value, name, "signals")
    if name == "x" and num_nodes:
        return check_features(value, "signals")
    return value if value.layout == torch.strided else value.to_dense()
