"""Targets ``y`` of tasks: a class, several labels or numbers per row, or links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.tensors import as_integers, as_tensor, dtype_text, shape_text

# The last layer has weights for each class: a label such as a date is a mistake, not a class.
_MOST_CLASSES = 100_000


class Targets(ABC):
    """Checks of the ``y`` that a task takes."""

    #: Name of a row in errors.
    row_name: ClassVar[str] = "node"
    #: Content of ``label`` in a node table: ``classes``, ``numbers``, ``labels``; None: not read.
    column: ClassVar[str | None] = "classes"

    @abstractmethod
    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return labels in the type of the task, or raise."""

    @abstractmethod
    def known(self, y: Tensor) -> Tensor:
        """Return a mask of the rows with a target, bool ``[N]``."""

    @abstractmethod
    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise if the rows of a mask are not sufficient to train or evaluate.

        Args:
            y: Targets of the rows.
            part: Name of the mask.
            source: Name of the data in errors.
        """


class Classes(Targets):
    """One class per node: integers ``[N]``, -1 for no label.

    Example:
        >>> Classes().check(torch.tensor([[0], [2]]), 2)
        tensor([0, 2])
        >>> Classes().check(torch.tensor([0.5, 2.0]), 2)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: y is float32, expected integers (classes); use the task
        regression for numbers, multilabel for 0 and 1 of several labels
    """

    #: Hints at other tasks, for a ``y`` of other types or shapes.
    hint: ClassVar[str] = (
        " (classes); use the task regression for numbers, multilabel for 0 and 1 of several labels"
    )
    hint_of_several: ClassVar[str] = (
        " (a class); use the task multilabel for several labels, regression for several numbers"
    )

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return classes as int64 ``[N]``, or raise."""
        y = as_tensor(labels, "y", f"an integer label for each {self.row_name}", source)
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
        """Return a mask of the rows with a class."""
        return y >= 0

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise unless the training rows have two classes."""
        if part == "train_mask" and len(y.unique()) < 2:
            raise InputError(
                f"{source}: all training labels are {int(y[0])}, expected at least two classes"
            )


class ClassesOfGraphs(Classes):
    """One class per graph of a set."""

    row_name: ClassVar[str] = "graph"
    hint: ClassVar[str] = " (classes)"
    hint_of_several: ClassVar[str] = " (a class)"


class Labels(Targets):
    """Several labels per node: 0 and 1 ``[N, C]``, nan or -1 for unknown.

    Example:
        >>> Labels().check(torch.tensor([[0, 1], [-1, 1]]), 2)
        tensor([[0., 1.],
                [nan, 1.]])
    """

    column: ClassVar[str | None] = "labels"

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return labels as float32 ``[N, C]``, or raise."""
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
                f"{source}: y[{node}, {label}] is {y[node, label].item()}, expected 0 or 1, or nan "
                "or -1 for unknown"
            )
        unknown = values == -1
        return values.masked_fill(unknown, torch.nan) if unknown.any() else values

    def known(self, y: Tensor) -> Tensor:
        """Return a mask of the rows with a known label."""
        return ~y.isnan().all(dim=1)

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise unless a label is 1, and in training one is 0."""
        for value in (1, 0) if part == "train_mask" else (1,):
            if not (y == value).any():
                raise InputError(f"{source}: no label of {part} is {value}, expected at least one")


class Numbers(Targets):
    """Numbers per node: ``[N]`` or ``[N, D]``, nan for unknown.

    Example:
        >>> Numbers().check(torch.tensor([1, 2]), 2)
        tensor([1., 2.], dtype=torch.float64)
    """

    column: ClassVar[str | None] = "numbers"

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return numbers as float32 or float64 of the same shape, or raise."""
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
            index = values.isinf().nonzero()[0].tolist()
            where = ", ".join(map(str, index))
            raise InputError(
                f"{source}: y[{where}] is {values[tuple(index)].item()}, expected finite numbers, "
                "or nan for unknown"
            )
        return values

    def known(self, y: Tensor) -> Tensor:
        """Return a mask of the rows with a known number."""
        return ~y.view(y.size(0), -1).isnan().all(dim=1)

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        r"""Raise unless the numbers differ: :math:`R^2` compares with their mean."""
        columns = y.view(y.size(0), -1).t()
        for index, column in enumerate(columns):
            if len(column[~column.isnan()].unique()) < 2:
                which = "y" if len(columns) == 1 else f"y[:, {index}]"
                raise InputError(
                    f"{source}: {which} has fewer than two different numbers in {part}, expected "
                    "more: R2 compares with their mean"
                )


class Links(Targets):
    """Link labels of node pairs: 1 for an edge, else 0, ``[P]``.

    Example:
        >>> Links().check(torch.tensor([1, 0]), 2)
        tensor([[1.],
                [0.]])
    """

    row_name: ClassVar[str] = "link"
    column: ClassVar[str | None] = None

    def check(self, labels: Any, num_nodes: int, source: str = "data") -> Tensor:
        """Return link labels as float32 ``[P, 1]``, or raise."""
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
        """Return a mask of all rows."""
        return torch.ones_like(y[:, 0], dtype=torch.bool)

    def check_part(self, y: Tensor, part: str, source: str = "data") -> None:
        """Raise unless the mask has links of both labels."""
        for value in (1, 0):
            if not (y == value).any():
                raise InputError(f"{source}: no link of {part} is {value}, expected at least one")


#: Targets of node classification.
CLASSES = Classes()
#: Targets of graph classification.
GRAPH_CLASSES = ClassesOfGraphs()
