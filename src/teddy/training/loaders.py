"""Base classes of loaders, which make mini-batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import islice
from typing import Any, ClassVar

from torch import nn
from torch_geometric.data import Data

from teddy.registry import read_option
from teddy.tasks.batches import Batch


class Loader(ABC):
    """Loader of mini-batches.

    Attributes:
        together: Number of batches whose gradients are summed in a step. Processes share them, so
            the steps are equal for any number of processes up to this.
    """

    together: int

    def batches(self, data: Data, network: nn.Module, every_row: bool) -> Iterable[Batch]:
        """Return the batches for a training; those of most loaders depend on the data only.

        Args:
            data: Training data.
            network: The network.
            every_row: Whether all rows are in the loss, as in distillation, or training rows only.
        """
        return self.load(data)

    @abstractmethod
    def load(self, data: Data) -> Iterable[Batch]:
        """Return the batches of training data, drawn again in each iteration."""


class NamedLoader(Loader):
    """Loader with a spec, ``name:option=value:...``; options are the fields of its dataclass.

    Example:
        >>> from teddy.training.partitions import Graphs
        >>> Graphs.parse(["batch=8"])
        Graphs(batch=8, together=1)
    """

    name: ClassVar[str]

    @classmethod
    def parse(cls, options: Iterable[str]) -> NamedLoader:
        """Read options, ``option=value`` each."""
        defaults: dict[str, Any] = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
        return cls(**dict(read_option(cls.name, defaults, option) for option in options))

    def __str__(self) -> str:
        names = (field.name for field in fields(self))  # type: ignore[arg-type]
        return ":".join([self.name, *(f"{name}={getattr(self, name)}" for name in names)])


def grouped(batches: Iterator[Batch], together: int) -> Iterator[list[Batch]]:
    """Yield the batches of each step.

    Example:
        >>> [len(step) for step in grouped(iter([None] * 5), 2)]
        [2, 2, 1]
    """
    while step := list(islice(batches, together)):
        yield step
