"""Metadata of a ticket: the JSON header of its file."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from teddy.ticket.header import (
    GraphInfo,
    GraphSetInfo,
    HeteroInfo,
    InductiveInfo,
    LinkInfo,
    ModelInfo,
    TaskInfo,
    TransferInfo,
)

#: Task of a header without one.
CLASSIFICATION: TaskInfo = {"name": "classification", "metric": "accuracy"}

#: Options of models under the names that earlier versions wrote.
_EARLIER_NAMES = {"hidden": "hidden_channels", "layers": "num_layers"}


def with_current_options(model: dict[str, Any]) -> dict[str, Any]:
    """Return a header's entries about the model, with today's names of its options.

    Example:
        >>> with_current_options({"name": "gcn", "options": {"hidden": 8}})
        {'name': 'gcn', 'options': {'hidden_channels': 8}}
    """
    if "options" not in model:
        return model
    options = {_EARLIER_NAMES.get(name, name): v for name, v in model["options"].items()}
    return {**model, "options": options}


@dataclass(frozen=True)
class Accuracy:
    """Values of the task's metric, such as accuracy, in percent.

    Attributes:
        test: Test metric at the best validation epoch.
        val: Validation metric at that epoch.
        best_epoch: That epoch; None for a given teacher.
        last_test: Test metric at the last epoch.
    """

    test: float
    val: float
    best_epoch: int | None
    last_test: float


@dataclass(frozen=True)
class Count:
    """Number of edges or weights before (``total``) and after pruning (``kept``).

    Example:
        >>> Count(total=8, kept=2).sparsity
        0.75
    """

    total: int
    kept: int

    @property
    def sparsity(self) -> float:
        """Removed share; 0 where there is nothing."""
        return 1 - self.kept / self.total if self.total else 0.0


@dataclass(frozen=True)
class Macs:
    """Multiply-accumulates of one forward pass per layer; None where they can't be counted."""

    dense: list[int] | None
    ticket: list[int] | None


@dataclass(frozen=True)
class TicketInfo:
    """Metadata of a ticket: everything but its tensors.

    Attributes:
        method: Name of the method that found it.
        dataset: Name of the data set.
        split: Name of the split, or its number if the data have several.
        split_seed: Seed of a drawn split.
        split_fingerprint: sha256 of the masks.
        seed: Seed of initial weights, dropout and all that the method draws.
        model: Architecture of the network.
        graph: Sizes and fingerprints of the graph, and the inputs that the network takes.
        graph_sparsity: Requested share of removed edges.
        weight_sparsity: Requested share of removed weights.
        edges: Number of undirected edges.
        weights: Number of trainable parameters that the output depends on.
        dense: Accuracy of the dense model.
        ticket: Accuracy of the ticket.
        macs: Multiply-accumulates of both.
        config: Settings of the training and the method.
        classes: Names of the classes, where they have any.
        features: Names of the features, where they have any.
        inductive: Pruning of grown graphs by an inductive ticket; None: transductive.
        score: Edge score that chose the edges; None: they were chosen in another way.
        weighted: Whether its degrees were weighted.
        transferred: Origin of a ticket that was transferred to a changed graph.
        hetero: Types and relations of a ``HeteroData``.
        graphs: Set of graphs of a graph-classification ticket.
        links: Decoder and second metric of a link-prediction ticket.
        own: Fields of your own kind of problem, by its key.
        task: Name and metric of the task, and all that predictions need.
        versions: Versions of the software that found it.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> info = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8).info
        >>> info.edges, info.graph["nodes"], info.task["metric"]
        (Count(total=4552, kept=1638), 3327, 'accuracy')
    """

    method: str
    dataset: str
    split: str
    split_seed: int | None
    split_fingerprint: str
    seed: int
    model: ModelInfo
    graph: GraphInfo
    graph_sparsity: float
    weight_sparsity: float
    edges: Count
    weights: Count
    dense: Accuracy
    ticket: Accuracy
    macs: Macs
    config: dict[str, Any]
    classes: list[str] | None = None
    features: list[str] | None = None
    inductive: InductiveInfo | None = None
    score: str | None = None
    weighted: bool = False
    transferred: TransferInfo | None = None
    hetero: HeteroInfo | None = None
    graphs: GraphSetInfo | None = None
    links: LinkInfo | None = None
    own: dict[str, Any] | None = None
    task: TaskInfo = field(default_factory=CLASSIFICATION.copy)
    versions: dict[str, str] = field(default_factory=lambda: software_versions())

    @property
    def second_metric(self) -> LinkInfo | None:
        """Values of another metric than the task's, such as hits@k; None where there is none."""
        return self.links if self.links is not None and "hits" in self.links else None

    def to_dict(self) -> dict[str, Any]:
        """Return the header as plain dictionaries, lists and numbers."""
        plain = asdict(self)
        return plain if self.own is not None else {k: v for k, v in plain.items() if k != "own"}

    @staticmethod
    def from_dict(plain: dict[str, Any]) -> TicketInfo:
        """Rebuild from :meth:`to_dict`; missing fields of earlier versions have defaults."""
        parts: dict[str, Any] = {
            "edges": Count,
            "weights": Count,
            "dense": Accuracy,
            "ticket": Accuracy,
            "macs": Macs,
        }
        known = {f.name: plain[f.name] for f in fields(TicketInfo) if f.name in plain}
        known["model"] = with_current_options(known["model"])
        return TicketInfo(**{k: parts[k](**v) if k in parts else v for k, v in known.items()})


@dataclass(frozen=True)
class SecondMetric:
    """Mean of another metric than the task's, such as hits@50, on the test rows of tickets.

    Attributes:
        name: Its name.
        dense: Value of the dense model, in percent.
        ticket: Value of the ticket.
    """

    name: str
    dense: float
    ticket: float


def second_metric(infos: Sequence[TicketInfo]) -> SecondMetric | None:
    """Return the mean second metric of tickets of one task; None where it has none.

    Args:
        infos: Headers of the tickets.
    """
    metrics = [info.second_metric for info in infos if info.second_metric is not None]
    if not metrics:
        return None
    dense, ticket = (
        sum(metric["hits"][model]["test"] for metric in metrics) / len(metrics)
        for model in ("dense", "ticket")
    )
    return SecondMetric(f"hits@{metrics[0]['hits_at']}", dense, ticket)


def software_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute a ticket.

    Example:
        >>> sorted(software_versions())
        ['numpy', 'python', 'teddy-glt', 'torch', 'torch-geometric']
    """
    versions = {"python": platform.python_version()}
    for package in ("teddy-glt", "torch", "torch-geometric", "numpy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "unknown"
    return versions
