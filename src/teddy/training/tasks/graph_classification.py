"""One class of each graph of a set."""

from __future__ import annotations

from typing import ClassVar

from teddy.training.tasks.classification import Classification


class GraphClassification(Classification):
    """Learn a class as :class:`Classification` does, of graphs: a row of ``y`` and logits each.

    Example:
        >>> GraphClassification().facts()
        {'name': 'graph-classification', 'metric': 'accuracy'}
    """

    name: ClassVar[str] = "graph-classification"
