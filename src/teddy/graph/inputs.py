"""Inputs of a network other than ``x`` and ``edge_index``: of nodes, graphs and other types."""

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
    """Inputs of a model on a heterogeneous graph other than the features of the target type.

    Attributes:
        x_dict: Features of the other types.
        edge_index_dict: Messages of each relation, sorted by source, then target, each once.
        of_edges: ``edge_weight`` and ``edge_attr`` if the model takes them: values of the messages
            of each relation that has them.
        edge_of: Undirected edge of each message, numbered over all relations; the number of edges
            for a self-loop.
        target: The predicted node type.
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
        """Return the inputs of a graph, without the target.

        Args:
            features: Features of the other types.
            listed: Messages by relation.
            names: Names of the values of messages.
            num_edges: Number of undirected edges; None: ``edge_of`` is left empty.
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
        """Return the same inputs with edge weights multiplied by these.

        Args:
            weights: Weights ``[A]`` of the messages of each relation.

        Example:
            >>> writes = ("author", "writes", "paper")
            >>> index, double = torch.tensor([[0], [1]]), torch.tensor([2.0])
            >>> inputs = HeteroInputs({}, {writes: index}, {"edge_weight": {writes: double}})
            >>> inputs.weighted({writes: torch.tensor([0.25])}).of_edges["edge_weight"][writes]
            tensor([0.5000])
        """
        before = self.of_edges.get("edge_weight", {})
        product = {
            kind: weight * before[kind].to(weight) if kind in before else weight
            for kind, weight in weights.items()
        }
        return replace(self, of_edges={**self.of_edges, "edge_weight": product})

    def to(self, device: torch.device | str, non_blocking: bool = False) -> HeteroInputs:
        """Return the same inputs on a device; called by ``Data.to``.

        Example:
            >>> from torch_geometric.data import Data
            >>> inputs = HeteroInputs({"author": torch.ones(2, 1)}, {}, target="paper")
            >>> Data(edge_index=inputs).to("meta").edge_index.x_dict["author"].device
            device(type='meta')
        """

        def moved(tensors: dict[Any, Tensor]) -> dict[Any, Tensor]:
            return {k: v.to(device, non_blocking=non_blocking) for k, v in tensors.items()}

        values = {name: moved(tensors) for name, tensors in self.of_edges.items()}
        parts = (moved(self.x_dict), moved(self.edge_index_dict), values, moved(self.edge_of))
        return HeteroInputs(*parts, self.target)


@dataclass(frozen=True)
class ExtraInputs:
    """Extra inputs of a model by their names in its ``forward``.

    Attributes:
        nodes: Tensors ``[N, ...]``, such as ``pos``, which a subgraph slices.
        whole: Any other values, which are passed unchanged.

    Example:
        >>> extra = ExtraInputs({"pos": torch.tensor([[0.0], [1.0], [2.0]])}, {"scale": 3})
        >>> extra.induced(torch.tensor([True, False, True])).fields()
        {'pos': tensor([[0.],
                [2.]]), 'scale': 3}
    """

    nodes: Mapping[str, Tensor] = field(default_factory=dict)
    whole: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def from_data(data: Data, nodes: Iterable[str], whole: Iterable[str]) -> ExtraInputs:
        """Return the fields of a graph with these names."""
        size = data.x.size(0)
        return ExtraInputs(
            {name: check_node_values(name, data[name], size) for name in nodes},
            {name: data[name] for name in whole},
        )

    def to(self, device: torch.device) -> ExtraInputs:
        """Return the same values on a device."""
        both = ({n: _moved(v, device) for n, v in part.items()} for part in self._both())
        return ExtraInputs(*both)

    def names(self) -> dict[str, list[str]]:
        """Names of the values of nodes and of the graph, with the keys of a ticket's header."""
        both = zip(("node_inputs", "graph_inputs"), self._both(), strict=True)
        return {key: list(part) for key, part in both if part}

    def fields(self) -> dict[str, Any]:
        """All values by name."""
        return {**self.nodes, **self.whole}

    def tensors(self) -> list[Tensor]:
        """Values that are tensors or numbers, as tensors."""
        kinds = (Tensor, bool, int, float)
        return [torch.as_tensor(v) for v in self.fields().values() if isinstance(v, kinds)]

    def induced(self, nodes: Tensor) -> ExtraInputs:
        """Return the values for a subgraph induced by some nodes.

        Args:
            nodes: bool ``[N]``.

        Raises:
            InputError: if a value refers to pairs or indices of nodes.
        """
        if bool(nodes.all()):
            return self
        self.check_divisible(nodes.numel())
        chosen = {name: value[nodes.to(value.device)] for name, value in self.nodes.items()}
        return ExtraInputs(chosen, self.whole)

    def check_divisible(self, num_nodes: int) -> None:
        """Raise if a value refers to pairs or indices of nodes.

        Args:
            num_nodes: Number of nodes in the whole graph.
        """
        for name, value in self.fields().items():
            pairs = isinstance(value, Tensor) and value.shape[:2] == (num_nodes, num_nodes)
            if pairs or (name in self.whole and ("index" in name or "face" in name)):
                what = "pairs" if pairs else "indices"
                raise InputError(
                    f"{name} refers to {what} of nodes, which is not supported if training uses "
                    "part of the nodes"
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
    values = as_tensor(value, name, "a value for each node", source)
    if values.dim() == 0 or values.size(0) != num_nodes:
        raise InputError(
            f"{source}: {name} has shape {shape_text(values)}, expected [{num_nodes}, ...]"
        )
    finite = values.isfinite()
    if not finite.all():
        index = tuple((~finite).nonzero()[0].tolist())
        where, got = ", ".join(map(str, index)), values[index].item()
        raise InputError(f"{source}: {name}[{where}] is {got}, expected finite numbers")
    return values.detach()


def _moved(value: Any, device: torch.device) -> Any:
    return value.to(device) if isinstance(value, Tensor) else value
