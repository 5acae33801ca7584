"""Programs: inputs of an exported network, and the module that is traced."""

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
    """Inputs of a program, and the module that is traced for a network.

    Args:
        found_with: Field ``graph`` of a ticket's header.
        header: Field of the header that is its kind's alone.

    Attributes:
        sizes: The inputs by name: the dimension that is open, and the name of its size. Inputs
            whose sizes have the same name are of one length.
    """

    sizes: dict[str, tuple[int, str]]

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        self.header, self.features = header, found_with["features"]
        self.weighted = "edge_weight" in found_with.get("edge_inputs", [])

    @abstractmethod
    def traced(self, network: nn.Module) -> nn.Module:
        """The module that is traced."""

    @abstractmethod
    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Inputs by name: a graph of about so many nodes, with features that aren't all alike."""

    def arguments(self, values: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call, from a value for each input."""
        return tuple(values[name] for name in self.sizes)


class NodeProgram(Program):
    """``program(x, edge_index, edge_weight)``, of nodes; weights where there are any."""

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        super().__init__(found_with, header)
        self.sizes = {"x": (0, "nodes"), "edge_index": (1, "edges")}
        if self.weighted:
            self.sizes["edge_weight"] = (0, "edges")

    def traced(self, network: nn.Module) -> nn.Module:
        """The module that is traced."""
        network = _plain(network)
        return _Weighted(network) if self.weighted else network

    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """A path, both directions, and features and weights that aren't all alike."""
        steps = torch.arange(nodes - 1)
        pairs = torch.stack([steps, steps + 1])
        edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        x = _features(model, nodes, self.features)
        weights = torch.linspace(0.5, 2, edge_index.size(1), dtype=x.dtype)
        return {"x": x, "edge_index": edge_index, "edge_weight": weights}


class GraphProgram(NodeProgram):
    """``program(x, edge_index, batch, edge_weight)``, of graphs."""

    def __init__(self, found_with: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        super().__init__(found_with, header)
        sizes = {"x": (0, "nodes"), "edge_index": (1, "edges"), "batch": (0, "nodes")}
        self.sizes = {**sizes, **self.sizes}

    def traced(self, network: nn.Module) -> nn.Module:
        """The module that is traced."""
        return _OfGraphs(_plain(network), self.header["readout"])

    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Paths of two or three nodes, so that there are about half as many graphs as nodes."""
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
    """``program(inputs)``, of a dict: ``x_TYPE``, and ``edge_index_SOURCE__NAME__TARGET``."""

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
                raise InputError(f"two inputs would be called '{name}', expected other type names")
        sizes = [(0, f"nodes_{name}") for name in self.widths]
        sizes += [(1, f"edges_{'__'.join(kind)}") for kind in self.relations]
        self.sizes = dict(zip(names, sizes, strict=True))

    def traced(self, network: nn.Module) -> nn.Module:
        """The module that is traced."""
        return _OfTypes(network, self.header["target"], list(self.widths), self.relations)

    def example(self, model: nn.Module, nodes: int) -> dict[str, Tensor]:
        """Types and relations of different sizes; nodes without features as in the graph."""
        count = {name: nodes + place for place, name in enumerate(self.widths)}
        fixed = {n: c for n, c in self.header["nodes"].items() if n not in count}
        values = [_features(model, count[name], width) for name, width in self.widths.items()]
        for place, (source, _, target) in enumerate(self.relations):
            steps = torch.arange(nodes + 2 * place)
            ends = (count | fixed)[source], (count | fixed)[target]
            values.append(torch.stack([steps % ends[0], (2 * steps + place) % ends[1]]))
        return dict(zip(self.sizes, values, strict=True))

    def arguments(self, values: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call, from a value for each input."""
        return ({name: values[name] for name in self.sizes},)


# PyG's modules are those of the whole process.
_PATCHED = threading.RLock()


@contextmanager
def open_number_of_graphs() -> Iterator[None]:
    """Let ``torch.export`` follow PyG's pooling for any number of graphs.

    PyG computes the number as ``int(batch.max()) + 1``, which fixes it while a module is traced;
    ``batch.max().item()`` doesn't.
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
    """A network that takes weights of edges by name."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        logits: Tensor = self.network(x, edge_index, edge_weight=edge_weight)
        return logits


class _OfGraphs(nn.Module):
    """A network of nodes and a readout, or a module that reads out itself."""

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
    """A module of node types and relations, whose inputs have a name each."""

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
