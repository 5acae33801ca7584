"""Mini-batches of nodes with their whole neighbourhoods, for exact gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.kernels.neighbourhood import begin, entries_of, expand
from teddy.kernels.pattern import edge_pattern, row_sums
from teddy.models import MODELS
from teddy.models.base import entry_weights
from teddy.models.inputs import input_levels, model_values
from teddy.models.layered import LayeredGNN
from teddy.models.module_call import copy_uncached
from teddy.sparsity import check_count
from teddy.tasks.batches import Batch, check_divisible, check_one_graph, subgraph
from teddy.training.adapters import ModuleAdapter
from teddy.training.loaders import NamedLoader
from teddy.training.reach import find_hops
from teddy.training.seeding import seeded


@dataclass(frozen=True)
class Neighbourhoods(NamedLoader):
    """Mini-batches of nodes, each with all that its outputs depend on.

    Nothing is sampled or cut: without dropout, outputs and gradients of a batch are those of a pass
    over the whole graph. In every epoch the nodes of the loss are dealt into batches at random,
    training nodes and others in equal shares, so that the gradient of a batch is in expectation
    that of all nodes, up to batches of one node more or less. If there are fewer training nodes
    than batches, some are in several. In a graph with hubs the neighbourhoods of a batch may be
    most of the graph; pruned graphs have smaller ones.

    Args:
        batch: Most nodes in a batch, without their neighbourhoods.
        hops: Hops of a neighbourhood. 0: the layers of a built-in model; for your own module they
            are found by comparing outputs with a pass over the whole graph.
        together: Number of batches in a step, whose gradients are summed; processes share them.

    Example:
        >>> str(Neighbourhoods(batch=128))
        'neighbourhoods:batch=128:hops=0:together=1'
    """

    name: ClassVar[str] = "neighbourhoods"

    batch: int = 512
    hops: int = 0
    together: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(getattr(self, field.name), field.name, 0 if field.name == "hops" else 1)

    def batches(self, data: Data, network: nn.Module, every_row: bool) -> Iterable[Batch]:
        """Return the batches for a network; rows that are not in the loss are in none."""
        graph = Neighbourhood(data)
        if type(network) in MODELS.values():
            assert isinstance(network, LayeredGNN)
            if 0 < self.hops < network.num_layers:
                raise InputError(
                    f"hops is {self.hops}, expected at least {network.num_layers}, the layers of "
                    "the model, or 0"
                )
            hops, with_degree = self.hops or network.num_layers, network.uses_source_degree
        else:
            check_no_batch_norm(network)
            hops, with_degree = graph.hops_of(network, self.hops or None), False
        return NeighbourhoodBatches(graph, self.batch, hops, every_row, with_degree)

    def load(self, data: Data) -> Iterable[Batch]:
        """Raise, since the batches depend on the network."""
        raise InputError("neighbourhoods depend on the network, expected batches(data, network)")


class NeighbourhoodBatches:
    """Batches of nodes with their neighbourhoods, drawn again in each iteration.

    Args:
        graph: The graph.
        batch: Most nodes in a batch.
        hops: Hops of a neighbourhood.
        every_row: Whether batches have all nodes, or training nodes only.
        with_degree: Whether batches have ``degree``, that of nodes in the whole graph.
    """

    def __init__(
        self,
        graph: Neighbourhood,
        batch: int,
        hops: int,
        every_row: bool = True,
        with_degree: bool = False,
    ) -> None:
        self.graph, self.hops, self.with_degree = graph, hops, with_degree
        trains = graph.data.train_mask.cpu()
        self.train = trains.nonzero().flatten()
        self.others = (~trains).nonzero().flatten() if every_row else self.train[:0]
        self.count = max(1, -(-(self.train.numel() + self.others.numel()) // batch))
        if 0 < self.train.numel() < self.count:  # each batch has one of them
            self.count = max(self.train.numel(), -(-self.others.numel() // max(1, batch - 1)))

    def __iter__(self) -> Iterator[Batch]:
        """Yield the batches. Each has as many training nodes as the others, and at least one."""
        train = _shuffled(self.train)
        if 0 < train.numel() < self.count:
            rounds = -(-self.count // train.numel())
            train = torch.cat([train, *(_shuffled(self.train) for _ in range(rounds - 1))])
            train = train[: self.count]
        parts = zip(
            train.tensor_split(self.count),
            _shuffled(self.others).tensor_split(self.count)[::-1],
            strict=True,
        )
        for part in parts:
            rows = torch.cat(part)
            yield Batch(rows, partial(self.graph.around, rows, self.hops, self.with_degree))


class Neighbourhood:
    """A graph whose messages are sorted by target, for the neighbourhoods of some nodes.

    Args:
        data: The graph.

    Example:
        >>> path = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> part = Neighbourhood(path).around(torch.tensor([3]), hops=2)
        >>> part.x.argmax(dim=1), part.edge_index
        (tensor([3, 2, 1]), tensor([[1, 2],
                [0, 1]]))
    """

    def __init__(self, data: Data) -> None:
        check_one_graph(data, "neighbourhoods", links=False)
        check_divisible(data)
        self.data, num_nodes = data, data.x.size(0)
        source, target = data.edge_index.cpu()
        self.columns = torch.argsort(target, stable=True)
        length = torch.bincount(target, minlength=num_nodes)
        start = length.cumsum(0) - length
        col = source[self.columns]
        self.rows = start.numpy(), length.numpy(), col.numpy(), np.empty(0)
        self._nodes = np.empty(num_nodes, np.int64)
        self._position = np.full(num_nodes, -1, np.int32)

    @cached_property
    def degree(self) -> Tensor:
        """Sum of the absolute weights of each node's messages, as built-in models see them."""
        edge_index, weight = self.data.edge_index.cpu(), self.data.get("edge_weight")
        pattern = edge_pattern(edge_index, self.data.x.size(0))
        if weight is None:
            return pattern.crow.diff()
        return row_sums(entry_weights(edge_index, weight.cpu(), pattern).abs(), pattern)

    def around(self, rows: Tensor, hops: int, with_degree: bool = False) -> Data:
        """Return the graph of some nodes and all within some hops, the nodes first.

        Args:
            rows: Different nodes, int64 ``[n]``.
            hops: Hops; messages to the nodes of the last one are left out.
            with_degree: Whether to add ``degree``, that of nodes in the whole graph.
        """
        with self._near(rows, hops) as (near, inner):
            entries, target = entries_of(self.rows, near[:inner])
            source = self._position[self.rows[2][entries]].astype(np.int64)
        number, edge_index = torch.from_numpy(near), torch.from_numpy(np.stack([source, target]))
        part = subgraph(self.data, number, edge_index, self.columns[torch.from_numpy(entries)])
        if with_degree:
            part.degree = self.degree[number]
            part.input_levels = {**input_levels(part), "degree": "nodes"}
        return part

    @contextmanager
    def _near(self, rows: Tensor, hops: int) -> Iterator[tuple[NDArray[Any], int]]:
        """Number the nodes within some hops; yield them, and how many are one hop nearer."""
        inner = count = begin(rows.numpy(), self._nodes, self._position)
        for _ in range(hops):
            inner, count = count, expand(self.rows, count, self._nodes, self._position)
        near = self._nodes[:count].copy()
        try:
            yield near, inner
        finally:
            self._position[near] = -1

    def hops_of(self, network: nn.Module, hops: int | None) -> int:
        """Return the hops that your own module looks, or raise if it reads the whole graph.

        Weights that are zero at the beginning hide what a module looks at, so that it is asked with
        random changes of them.
        """
        data, module = self.data, copy_uncached(network)
        whole = ModuleAdapter(module, data.x, data.edge_index, model_values(data))
        with torch.no_grad(), seeded(0, data.x.device):
            for parameter in module.parameters():
                if parameter.is_floating_point():
                    parameter.add_(torch.randn_like(parameter), alpha=0.1)
            outputs = whole.evaluation_outputs()

        def one_output(node: int, number: int) -> tuple[Tensor, bool]:
            row = torch.tensor([node])
            with self._near(row, number + 1) as (near, inner):
                ends = inner == near.size
            if inner == data.x.size(0):  # the whole graph
                return outputs[row].cpu(), ends
            part = self.around(row, number).to(data.x.device)
            adapter = ModuleAdapter(module, part.x, part.edge_index, model_values(part))
            return adapter.evaluation_outputs()[:1].cpu(), ends

        return find_hops(whole, self.rows[1], one_output, "use another loader", hops)[0]


def check_no_batch_norm(network: nn.Module) -> None:
    """Raise if a module normalises by the rows of a batch, which include neighbours.

    Example:
        >>> check_no_batch_norm(nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1)))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: neighbourhoods do not support BatchNorm1d, whose statistics would
        be those of the neighbours, too, expected LayerNorm, or the loader partitions
    """
    for module in network.modules():
        if isinstance(module, _BatchNorm | _InstanceNorm):
            raise InputError(
                f"neighbourhoods do not support {type(module).__name__}, whose statistics would be "
                "those of the neighbours, too, expected LayerNorm, or the loader partitions"
            )


def _shuffled(nodes: Tensor) -> Tensor:
    return nodes[torch.randperm(nodes.numel())]
