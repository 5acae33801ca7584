"""Targets ``y`` of a task: one class of each row, several labels, numbers, or links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.tensors import as_integers, as_tensor, dtype_text, shape_text

# The last layer has a weight per class: a label such as a year-month-day is a mistake, not a class.
_MOST_CLASSES = 100_000


class Targets(ABC):
    """Checks of the ``y`` that a task takes."""

    #: What a row of it belongs to.
    of: ClassVar[str] = "node"
    #: Column ``label`` of a node table: ``classes``, ``numbers`` or ``labels``; None: not read.
    column: ClassVar[str | None] = "classes"

    @abstractmethod
    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return labels in the type that the task computes with, or raise."""

    @abstractmethod
    def known(self, y: Tensor) -> Tensor:
        """Which nodes have a target, bool ``[N]``."""

    @abstractmethod
    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise if nothing can be learned from, or be measured on, the nodes of a mask.

        Args:
            y: Their targets.
            part: The mask's name.
            source: Where they came from, for the message.
        """


class Classes(Targets):
    """One class of each node: integers ``[N]``, -1 for no label.

    Example:
        >>> Classes().check(torch.tensor([[0], [2]]), 2)
        tensor([0, 2])
        >>> Classes().check(torch.tensor([0.5, 2.0]), 2)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: y is float32, expected integers (classes); numbers have the
        task regression, 0 and 1 for each of several labels the task multilabel
    """

    #: What else a ``y`` of other types or shapes might be.
    hint: ClassVar[str] = (
        " (classes); numbers have the task regression, 0 and 1 for each of several labels the task "
        "multilabel"
    )
    hint_of_several: ClassVar[str] = (
        " (a class); several labels have the task multilabel, several numbers regression"
    )

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return int64 ``[N]``."""
        y = as_tensor(labels, "y", f"an integer label for each {self.of}", source)
        if y.dim() == 2 and y.size(1) == 1:
            y = y.squeeze(1)
        if y.dim() != 1 or y.size(0) != num_nodes:
            several = y.dim() == 2 and y.size(0) == num_nodes
            hint = self.hint_of_several if several else ""
            raise InputError(f"{source}: y has shape {shape_text(y)}, expected [{num_nodes}]{hint}")
        y = as_integers(y, "y", source, self.hint)
        outside = (y < -1) | (y >= _MOST_CLASSES)
        if outside.any():
            node = int(outside.nonzero()[0])
            raise InputError(
                f"{source}: y[{node}] is {int(y[node])}, expected -1 (no label) or a class "
                f"from 0 to {_MOST_CLASSES - 1}"
            )
        return y

    def known(self, y: Tensor) -> Tensor:
        """Where there is a class."""
        return y >= 0

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise unless training sees two classes."""
        if part == "train_mask" and len(y.unique()) < 2:
            raise InputError(
                f"{source}: every training label is {int(y[0])}, expected at least two classes"
            )


class ClassesOfGraphs(Classes):
    """One class of each graph of a set."""

    of: ClassVar[str] = "graph"
    hint: ClassVar[str] = " (classes)"
    hint_of_several: ClassVar[str] = " (a class)"


class Labels(Targets):
    """Several labels of each node: 0 and 1 ``[N, C]``; nan, or -1, where it isn't known.

    Example:
        >>> Labels().check(torch.tensor([[0, 1], [-1, 1]]), 2)
        tensor([[0., 1.],
                [nan, 1.]])
    """

    column: ClassVar[str | None] = "labels"

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return float32 ``[N, C]``."""
        y = as_tensor(labels, "y", "0 and 1 of shape [N, labels]", source)
        if y.dim() != 2 or y.size(0) != num_nodes or y.size(1) == 0:
            raise InputError(
                f"{source}: y has shape {shape_text(y)}, expected [{num_nodes}, labels] of 0 and 1"
            )
        if y.is_complex():
            raise InputError(f"{source}: y is {dtype_text(y)}, expected 0 and 1")
        values = y.to(torch.float32)
        wrong = ~((values == 0) | (values == 1) | (values == -1) | values.isnan())
        if wrong.any():
            node, label = wrong.nonzero()[0].tolist()
            raise InputError(
                f"{source}: y[{node}, {label}] is {y[node, label].item()}, expected 0 or 1, nan or "
                "-1 where it isn't known"
            )
        unknown = values == -1
        return values.masked_fill(unknown, torch.nan) if unknown.any() else values

    def known(self, y: Tensor) -> Tensor:
        """Where a label is known."""
        return ~y.isnan().all(dim=1)

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise unless some label is 1, and in training some is 0."""
        for value in (1, 0) if part == "train_mask" else (1,):
            if not (y == value).any():
                raise InputError(f"{source}: no label of {part} is {value}, expected at least one")


class Numbers(Targets):
    """Numbers of each node: ``[N]`` or ``[N, D]``, nan where one isn't known.

    Example:
        >>> Numbers().check(torch.tensor([1, 2]), 2)
        tensor([1., 2.], dtype=torch.float64)
    """

    column: ClassVar[str | None] = "numbers"

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return float32, or float64, of the same shape."""
        y = as_tensor(labels, "y", "a number for each node", source)
        if y.dim() not in (1, 2) or y.size(0) != num_nodes or 0 in y.shape:
            raise InputError(
                f"{source}: y has shape {shape_text(y)}, expected [{num_nodes}] or "
                f"[{num_nodes}, numbers]"
            )
        if y.is_complex() or y.dtype == torch.bool:
            raise InputError(f"{source}: y is {dtype_text(y)}, expected numbers")
        values = y if y.dtype in (torch.float32, torch.float64) else y.double()
        if values.isinf().any():
            place = values.isinf().nonzero()[0].tolist()
            where = ", ".join(map(str, place))
            raise InputError(
                f"{source}: y[{where}] is {values[tuple(place)].item()}, expected finite numbers, "
                "or nan where one isn't known"
            )
        return values

    def known(self, y: Tensor) -> Tensor:
        """Where a number is known."""
        return ~y.view(y.size(0), -1).isnan().all(dim=1)

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        r"""Raise unless numbers differ: :math:`R^2` compares with their mean."""
        columns = y.view(y.size(0), -1).t()
        for place, column in enumerate(columns):
            if len(column[~column.isnan()].unique()) < 2:
                which = "y" if len(columns) == 1 else f"y[:, {place}]"
                raise InputError(
                    f"{source}: {which} has fewer than two different numbers in {part}, expected "
                    "more: R2 compares with their mean"
                )


class Links(Targets):
    """Whether there is a link, of each pair of nodes: 0 or 1 ``[P]``.

    Example:
        >>> Links().check(torch.tensor([1, 0]), 2)
        tensor([[1.],
                [0.]])
    """

    of: ClassVar[str] = "link"
    column: ClassVar[str | None] = None

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return float32 ``[P, 1]``."""
        y = as_tensor(labels, "edge_label", "0 or 1 for each link", source)
        if y.dim() != 1 or y.size(0) != num_nodes:
            raise InputError(
                f"{source}: edge_label has shape {shape_text(y)}, expected [{num_nodes}], one for "
                "each column of edge_label_index"
            )
        wrong = ~((y == 0) | (y == 1))
        if wrong.any():
            link = int(wrong.nonzero()[0])
            raise InputError(
                f"{source}: edge_label[{link}] is {y[link].item()}, expected 1 (an edge) or 0"
            )
        return y.to(torch.float32).unsqueeze(1)

    def known(self, y: Tensor) -> Tensor:
        """All."""
        return torch.ones_like(y[:, 0], dtype=torch.bool)

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise unless there are both, to be told from each other."""
        for value in (1, 0):
            if not (y == value).any():
                raise InputError(f"{source}: no link of {part} is {value}, expected at least one")


#: Targets of node classification.
CLASSES = Classes()
#: Targets of graph classification.
GRAPH_CLASSES = ClassesOfGraphs()
