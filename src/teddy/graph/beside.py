"""Values of nodes and of the whole graph that a model takes beside features and edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.tensors import as_tensor, shape_text


@dataclass(frozen=True)
class Beside:
    """Inputs of a model by the names in its forward.

    Attributes:
        nodes: Tensors ``[N, ...]``, such as ``pos``: they follow the nodes.
        whole: Anything else, which is passed as it is.

    Example:
        >>> beside = Beside({"pos": torch.tensor([[0.0], [1.0], [2.0]])}, {"scale": 3})
        >>> beside.induced(torch.tensor([True, False, True])).fields()
        {'pos': tensor([[0.],
                [2.]]), 'scale': 3}
    """

    nodes: Mapping[str, Tensor] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of_data(data: Data, nodes: Iterable[str], whole: Iterable[str]) -> Beside:
        """Values of these names, which a graph must have."""
        size = data.x.size(0)
        return Beside(
            {name: check_node_values(name, data[name], size) for name in nodes},
            {name: data[name] for name in whole},
        )

    def to(self, device: torch.device) -> Beside:
        """The same values on a device."""
        return Beside(*({n: _moved(v, device) for n, v in of.items()} for of in self._both()))

    def names(self) -> dict[str, list[str]]:
        """Names of values of nodes and of the whole graph, as a ticket's header has them."""
        both = zip(("node_inputs", "graph_inputs"), self._both(), strict=True)
        return {key: list(of) for key, of in both if of}

    def fields(self) -> dict[str, Any]:
        """All values by name."""
        return {**self.nodes, **self.whole}

    def tensors(self) -> list[Tensor]:
        """All values that are tensors or numbers, as tensors."""
        kinds = (Tensor, bool, int, float)
        return [torch.as_tensor(v) for v in self.fields().values() if isinstance(v, kinds)]

    def induced(self, nodes: Tensor) -> Beside:
        """Values of some nodes, which are numbered anew.

        Args:
            nodes: bool ``[N]``.

        Raises:
            InputError: if a value is about pairs or numbers of nodes.
        """
        if bool(nodes.all()):
            return self
        self.check_divisible(nodes.numel())
        chosen = {name: value[nodes.to(value.device)] for name, value in self.nodes.items()}
        return Beside(chosen, self.whole)

    def check_divisible(self, num_nodes: int) -> None:
        """Raise if a value is about pairs or numbers of nodes.

        Args:
            num_nodes: All nodes.
        """
        for name, value in self.fields().items():
            pairs = isinstance(value, Tensor) and value.shape[:2] == (num_nodes, num_nodes)
            if pairs or (name in self.whole and ("index" in name or "face" in name)):
                what = "pairs" if pairs else "numbers"
                raise InputError(
                    f"{name} is of {what} of nodes, expected none where training sees a part of "
                    "the nodes"
                )

    def _both(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return self.nodes, self.whole


def check_node_values(name: str, value: object, num_nodes: int, source: str = "data") -> Tensor:
    """Return values of nodes ``[N, ...]``, or raise.

    Example:
        >>> check_node_values("pos", torch.ones(2, 3), 4)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: pos has shape [2, 3], expected [4, ...]
    """
    found = as_tensor(value, name, "a value for each node", source)
    if found.dim() == 0 or found.size(0) != num_nodes:
        raise InputError(
            f"{source}: {name} has shape {shape_text(found)}, expected [{num_nodes}, ...]"
        )
    finite = found.isfinite()
    if not finite.all():
        place = tuple((~finite).nonzero()[0].tolist())
        where, got = ", ".join(map(str, place)), found[place].item()
        raise InputError(f"{source}: {name}[{where}] is {got}, expected finite numbers")
    return found.detach()


def _moved(value: Any, device: torch.device) -> Any:
    return value.to(device) if isinstance(value, Tensor) else value
