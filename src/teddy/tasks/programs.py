"""Exported programs: their inputs, and the module to trace."""

from __future__ import annotations

import builtins
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn.aggr import base as pyg_aggregation
from torch_geometric.utils import _scatter as pyg_scatter

from teddy.errors import InputError
from teddy.graph.groups import EdgeType
from teddy.graph.inputs import HeteroInputs
from teddy.models import GNN
from teddy.models.hetero import call_hetero
from teddy.models.inputs import dense_input
from teddy.models.module_call import ModuleCall
from teddy.models.plain import Plain, plain_readout


class Program(ABC):
    """Inputs of an exported program, and the module to trace for a network.

    Args:
        found_with: Field ``graph`` of a ticket's header.
        header: Field of the header for its kind of problem.

    Attributes:
        sizes: Open dimension of each input, and the name of its size. Sizes with the same name
            are equal.
    """

    sizes: dict[str, tuple[int, str]]

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        self.header, self.features = header, found_with["features"]
        self.weighted = "edge_weight" in found_with.get("edge_inputs", [])

    @abstractmethod
    def traced(self, network: nn.Module) -> nn.Module:
        """Return the module to trace."""

    @abstractmethod
    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Return inputs by name: a graph of about this size, with varied features."""

    def arguments(self, values: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of a call, from a value for each input."""
        return tuple(values[name] for name in self.sizes)


class NodeProgram(Program):
    """Program of nodes: ``program(x, edge_index)``, or with ``edge_weight``."""

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        super().__init__(found_with, header)
        self.sizes = {"x": (0, "nodes"), "edge_index": (1, "edges")}
        if self.weighted:
            self.sizes["edge_weight"] = (0, "edges")

    def traced(self, network: nn.Module) -> nn.Module:
        """Return the module to trace."""
        network = _plain(network)
        return _Weighted(network) if self.weighted else network

    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Return an undirected path with varied features and weights."""
        steps = torch.arange(nodes - 1)
        pairs = torch.stack([steps, steps + 1])
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = _features(model, nodes, self.features)
        weights = torch.linspace(0.5, 2, edge_index.size(1), dtype=x.dtype)
        return {"x": x, "edge_index": edge_index, "edge_weight": weights}


class GraphProgram(NodeProgram):
    """Program of graphs: ``program(x, edge_index, batch)``, or with ``edge_weight``."""

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        super().__init__(found_with, header)
        sizes = {"x": (0, "nodes"), "edge_index": (1, "edges"), "batch": (0, "nodes")}
        self.sizes = {**sizes, **self.sizes}

    def traced(self, network: nn.Module) -> nn.Module:
        """Return the module to trace."""
        return _OfGraphs(_plain(network), self.header["readout"])

    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Return paths of two or three nodes, as a set of graphs."""
        found = super().example(model, nodes)
        batch = torch.arange(nodes) * (nodes // 2) // nodes
        within = batch[found["edge_index"][0]] == batch[found["edge_index"][1]]
        return {
            **found,
            "batch": batch,
            "edge_index": found["edge_index"][:, within],
            "edge_weight": found["edge_weight"][within],
        }


class HeteroProgram(Program):
    """Program of a dict with ``x_TYPE`` and ``edge_index_SOURCE__NAME__TARGET``."""

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        super().__init__(found_with, header)
        widths = {**header["features"], header["target"]: self.features}
        self.widths = dict(sorted(widths.items()))
        listed = chain.from_iterable(part["edge_types"] for part in header["relations"])
        self.relations: list[EdgeType] = sorted((a, b, c) for a, b, c in listed)
        names = [f"x_{name}" for name in self.widths]
        names += [f"edge_index_{'__'.join(kind)}" for kind in self.relations]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"two inputs would have the name '{name}', expected other type names"
                )
        sizes = [(0, f"nodes_{name}") for name in self.widths]
        sizes += [(1, f"edges_{'__'.join(kind)}") for kind in self.relations]
        self.sizes = dict(zip(names, sizes, strict=True))

    def traced(self, network: nn.Module) -> nn.Module:
        """Return the module to trace."""
        return _OfTypes(network, self.header["target"], list(self.widths), self.relations)

    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Return types and relations of different sizes."""
        count = {name: nodes + place for place, name in enumerate(self.widths)}
        fixed = {n: c for n, c in self.header["nodes"].items() if n not in count}
        values = [_features(model, count[name], width) for name, width in self.widths.items()]
        for place, (source, _, target) in enumerate(self.relations):
            steps = torch.arange(nodes + 2 * place)
            ends = (count | fixed)[source], (count | fixed)[target]
            values.append(torch.stack([steps % ends[0], (2 * steps + place) % ends[1]]))
        return dict(zip(self.sizes, values, strict=True))

    def arguments(self, values: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of a call, from a value for each input."""
        return ({name: values[name] for name in self.sizes},)


# PyG's modules are shared by all threads.
_PATCHED = threading.RLock()


@contextmanager
def open_number_of_graphs() -> Iterator[None]:
    """Let ``torch.export`` follow PyG's pooling for any number of graphs.

    PyG computes the number as ``int(batch.max()) + 1``, which tracing makes a constant;
    ``batch.max().item()`` remains open.
    """

    def number(value: Any) -> Any:
        return value.item() if isinstance(value, Tensor) else builtins.int(value)

    modules: tuple[Any, ...] = pyg_scatter, pyg_aggregation
    with _PATCHED:
        try:
            for module in modules:
                module.int = number
            yield
        finally:
            for module in modules:
                del module.int


class _Weighted(nn.Module):
    """Network that takes edge weights by name."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        logits: Tensor = self.network(x, edge_index, edge_weight=edge_weight)
        return logits


class _OfGraphs(nn.Module):
    """Network of nodes with a readout, or a module that pools nodes itself."""

    def __init__(self, network: nn.Module, readout: str | None) -> None:
        super().__init__()
        self.network, self.readout = network, readout

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_weight: Tensor | None = None
    ) -> Tensor:
        named = {} if edge_weight is None else {"edge_weight": edge_weight}
        if self.readout is None:
            logits: Tensor = ModuleCall(self.network)(x, edge_index, {"batch": batch, **named})
            return logits
        return plain_readout(self.readout, self.network(x, edge_index, **named), batch)


class _OfTypes(nn.Module):
    """Heterogeneous module with a named input for each node type and relation."""

    def __init__(
        self, network: nn.Module, target: str, types: list[str], relations: list[EdgeType]
    ) -> None:
        super().__init__()
        self.network, self.target, self.types, self.relations = network, target, types, relations

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        values = list(inputs.values())
        x_dict = dict(zip(self.types, values, strict=False))
        edges = dict(zip(self.relations, values[len(self.types) :], strict=True))
        x = x_dict.pop(self.target)
        return call_hetero(self.network, x, HeteroInputs(x_dict, edges, target=self.target))


def _plain(network: nn.Module) -> nn.Module:
    return Plain(network) if isinstance(network, GNN) else network


def _features(model: nn.Module, nodes: int, width: int) -> Tensor:
    return dense_input(model, torch.linspace(-1, 1, nodes * width).reshape(nodes, width))
