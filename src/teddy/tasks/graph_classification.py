"""Graph classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from teddy.data.targets import GRAPH_CLASSES, Targets
from teddy.settings import setting
from teddy.tasks.classification import Classification
from teddy.tasks.graphs import GraphKind
from teddy.tasks.heads import READOUTS
from teddy.tasks.kind import Kind


@dataclass(frozen=True, eq=False)
class GraphClassification(Classification):
    """Graph classification: a class of each graph, with loss and metric of node classification.

    Args:
        weight: Weights of classes in the loss.
        readout: Pooling of node outputs: ``mean``, ``sum`` or ``max``.

    Example:
        >>> GraphClassification().to_dict()
        {'name': 'graph-classification', 'metric': 'accuracy'}
    """

    name: ClassVar[str] = "graph-classification"
    kind: ClassVar[type[Kind]] = GraphKind
    targets: ClassVar[Targets] = GRAPH_CLASSES
    readout: str = setting("mean", "Readout of nodes' outputs: mean, sum or max.", choices=READOUTS)
