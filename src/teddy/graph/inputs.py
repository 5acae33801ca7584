"""Inputs of a network beside features and edges: of nodes, of the graph, of other node types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.graph.groups import EdgeType
from teddy.graph.messages import Messages
from teddy.tensors import as_tensor, shape_text


@dataclass(frozen=True)
class HeteroInputs:
    """All that nodes of one type meet in a graph: what a model is given beside their features.

    Attributes:
        x_dict: The features of the other types.
        edge_index_dict: The arcs of each relation, sorted by source, then target, each once.
        of_edges: ``edge_weight`` and ``edge_attr``, where the model takes them: of each relation
            that has them, a value for each arc.
        edge_of: Undirected edge of each arc, counted over all relations; one past the last: none,
            since the arc is a self-loop.
        target: The type of the nodes.
    """

    x_dict: dict[str, Tensor]
    edge_index_dict: dict[EdgeType, Tensor]
    of_edges: dict[str, dict[EdgeType, Tensor]] = field(default_factory=dict)
    edge_of: dict[EdgeType, Tensor] = field(default_factory=dict)
    target: str = ""

    @staticmethod
    def from_messages(
        features: Mapping[str, Tensor],
        listed: Mapping[Any, Messages],
        names: Iterable[str],
        num_edges: int | None,
    ) -> HeteroInputs:
        """Return the surroundings in a graph, without the target.

        Args:
            features: Features of the other types.
            listed: Messages by relation.
            names: Names of the values of messages.
            num_edges: Number of undirected edges, which stands for self-loops in ``edge_of``; None:
                messages do not tell their edge.
        """
        of_edges: dict[str, dict[EdgeType, Tensor]] = {
            name: {kind: m.values[name] for kind, m in listed.items() if name in m.values}
            for name in names
        }
        pair = {}
        if num_edges is not None:
            pair = {kind: torch.where(m.pair < 0, num_edges, m.pair) for kind, m in listed.items()}
        index = {kind: m.index for kind, m in listed.items()}
        return HeteroInputs(dict(features), index, of_edges, pair)

    def weighted(self, weights: Mapping[EdgeType, Tensor]) -> HeteroInputs:
        """Return the same with these weights of arcs, times those that they have.

        Args:
            weights: For each relation ``[A]``.

        Example:
            >>> writes = ("author", "writes", "paper")
            >>> index, double = torch.tensor([[0], [1]]), torch.tensor([2.0])
            >>> around = HeteroInputs({}, {writes: index}, {"edge_weight": {writes: double}})
            >>> around.weighted({writes: torch.tensor([0.25])}).of_edges["edge_weight"][writes]
            tensor([0.5000])
        """
        own = self.of_edges.get("edge_weight", {})
        product = {
            kind: weight * own[kind].to(weight) if kind in own else weight
            for kind, weight in weights.items()
        }
        return replace(self, of_edges={**self.of_edges, "edge_weight": product})

    def to(self, device: torch.device | str, non_blocking: bool = False) -> HeteroInputs:
        """The same on a device; ``Data.to`` calls it so.

        Example:
            >>> from torch_geometric.data import Data
            >>> around = HeteroInputs({"author": torch.ones(2, 1)}, {}, target="paper")
            >>> Data(edge_index=around).to("meta").edge_index.x_dict["author"].device
            device(type='meta')
        """

        def moved(tensors: dict[Any, Tensor]) -> dict[Any, Tensor]:
            return {k: v.to(device, non_blocking=non_blocking) for k, v in tensors.items()}

        values = {name: moved(found) for name, found in self.of_edges.items()}
        parts = (moved(self.x_dict), moved(self.edge_index_dict), values, moved(self.edge_of))
        return HeteroInputs(*parts, self.target)


@dataclass(frozen=True)
class ExtraInputs:
    """Inputs of a model by the names in its forward.

    Attributes:
        nodes: Tensors ``[N, ...]``, such as ``pos``: they follow the nodes.
        whole: Anything else, which is passed as it is.

    Example:
        >>> beside = ExtraInputs({"pos": torch.tensor([[0.0], [1.0], [2.0]])}, {"scale": 3})
        >>> beside.induced(torch.tensor([True, False, True])).fields()
        {'pos': tensor([[0.],
                [2.]]), 'scale': 3}
    """

    nodes: Mapping[str, Tensor] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_data(data: Data, nodes: Iterable[str], whole: Iterable[str]) -> ExtraInputs:
        """Values of these names, which a graph must have."""
        size = data.x.size(0)
        return ExtraInputs(
            {name: check_node_values(name, data[name], size) for name in nodes},
            {name: data[name] for name in whole},
        )

    def to(self, device: torch.device) -> ExtraInputs:
        """The same values on a device."""
        return ExtraInputs(*({n: _moved(v, device) for n, v in of.items()} for of in self._both()))

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

    def induced(self, nodes: Tensor) -> ExtraInputs:
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
        return ExtraInputs(chosen, self.whole)

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
