"""What a ticket says about itself: the JSON header of its file."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

#: The task of a ticket that doesn't say.
CLASSIFICATION = {"name": "classification", "metric": "accuracy"}

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
    """Accuracies in percent at the best validation epoch, and the test accuracy at the last.

    Of a task that isn't classification, its metric. The epoch is None for a given teacher.
    """

    test: float
    val: float
    best_epoch: int | None
    last_test: float


@dataclass(frozen=True)
class Count:
    """How many there are, and how many stay.

    Example:
        >>> Count(total=8, kept=2).sparsity
        0.75
    """

    total: int
    kept: int

    @property
    def sparsity(self) -> float:
        """Share that is removed; 0 where there is none."""
        return 1 - self.kept / self.total if self.total else 0.0


@dataclass(frozen=True)
class Macs:
    """Multiply-accumulates of one forward pass per layer; None where they can't be counted."""

    dense: list[int] | None
    ticket: list[int] | None


@dataclass(frozen=True)
class TicketInfo:
    """Everything about a ticket but its tensors.

    Attributes:
        method: How it was found.
        dataset: Name of the graph.
        split: Name of the split; of several that came with the data, its number.
        split_seed: Seed of a split that was drawn.
        split_fingerprint: sha256 of the masks.
        seed: Of the initial weights, dropout and whatever the method draws.
        model: ``name``, channels and options of a built-in model, or ``class`` of another module;
            and the numbers of ``frozen`` and ``unused`` parameters, which ``weights`` leaves out.
        graph: Numbers of nodes, edges, features and classes (or outputs), the ``fingerprint`` of
            the edges and that of the kept ones (``kept_fingerprint``), whether they are
            ``directed``, whether the model is given the ``self_loops`` that are listed, and what
            else of edges it takes (``edge_inputs``); of a module also values of nodes and of the
            graph (``node_inputs``, ``graph_inputs``); where ``x`` are integers that a module looks
            up, its dimensions (``integer_x``).
        graph_sparsity: Share of edges that was asked to go.
        weight_sparsity: Share of weights that was asked to go.
        edges: Undirected edges.
        weights: Trainable parameters that the output depends on.
        dense: Accuracy of the dense model.
        ticket: Accuracy of the ticket.
        macs: Multiply-accumulates of both.
        config: Settings of the training and the method.
        classes: Names of the classes, where they have any.
        features: Names of the features, where they have any.
        inductive: Of a ticket that was found on the graph of its training nodes: how a grown graph
            is pruned (``inference``, ``score``), and of the one that it was tested on the
            ``nodes``, ``edges`` and fingerprints, as of ``graph``; None: it belongs to the graph
            that it was found on.
        score: The edge score that chose the edges; None: they were chosen in another way.
        weighted: Whether its degrees were weighted.
        transferred: Of a ticket for a graph that has changed since: by which rule
            (``inference``), and the ``dataset`` and ``graph`` that it was found on, which split,
            accuracies and multiply-accumulates are of; by the rule ``training`` also how many
            ``nodes`` and ``edges`` were there before (``recognised``).
        hetero: Of a ticket for a ``HeteroData``: its ``target``, the ``scope`` of scores and
            budgets, ``nodes`` and ``features`` of each type, and of the ``relations`` the
            ``edge_types`` that are one and their edges, ``total`` and ``kept``.
        graphs: Of a ticket that classifies graphs: their ``count`` and ``borders`` (a fingerprint),
            the ``budget`` of edges, the ``readout`` (None: the module's own), of the three
            ``parts`` of the split the graphs and their edges, ``total`` and ``kept``, and the rule
            ``inference`` for other graphs, unless it is ``scored``.
        links: Of a ticket that predicts links: what makes a logit of two nodes' outputs
            (``decoder``), and the second metric, ``hits``, at rank ``hits_at``, of the dense model
            and the ticket on validation and test links.
        own: Fields of your own kind of problem, by its key.
        task: ``name`` and ``metric``, and what is needed to predict; classes by default.
        versions: Of the software that found it.
    """

    method: str
    dataset: str
    split: str
    split_seed: int | None
    split_fingerprint: str
    seed: int
    model: dict[str, Any]
    graph: dict[str, Any]
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
    inductive: dict[str, Any] | None = None
    score: str | None = None
    weighted: bool = False
    transferred: dict[str, Any] | None = None
    hetero: dict[str, Any] | None = None
    graphs: dict[str, Any] | None = None
    links: dict[str, Any] | None = None
    own: dict[str, Any] | None = None
    task: dict[str, Any] = field(default_factory=lambda: dict(CLASSIFICATION))
    versions: dict[str, str] = field(default_factory=lambda: software_versions())

    @property
    def second_metric(self) -> dict[str, Any] | None:
        """Values of another metric than the task's, such as hits@k; None where there is none."""
        return self.links if self.links is not None and "hits" in self.links else None

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers."""
        plain = asdict(self)
        return plain if self.own is not None else {k: v for k, v in plain.items() if k != "own"}

    @staticmethod
    def from_dict(plain: dict[str, Any]) -> TicketInfo:
        """Rebuild from :meth:`to_dict`; what an earlier version didn't write has its default."""
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
    """Another metric than the task's, such as hits@50, on test rows; the mean of several tickets.

    Attributes:
        name: Its name.
        dense: Value of the dense model, in percent.
        ticket: Value of the ticket.
    """

    name: str
    dense: float
    ticket: float


def second_metric(infos: Sequence[TicketInfo]) -> SecondMetric | None:
    """The second metric of some tickets of one task; None where it has none.

    Args:
        infos: Their headers.
    """
    found = [info.second_metric for info in infos if info.second_metric is not None]
    if not found:
        return None
    dense, ticket = (
        sum(own["hits"][whose]["test"] for own in found) / len(found)
        for whose in ("dense", "ticket")
    )
    return SecondMetric(f"hits@{found[0]['hits_at']}", dense, ticket)


def software_versions() -> dict[str, str]:
    """Versions of what computes a ticket.

    Example:
        >>> sorted(software_versions())
        ['numpy', 'python', 'teddy-glt', 'torch', 'torch-geometric']
    """
    found = {"python": platform.python_version()}
    for package in ("teddy-glt", "torch", "torch-geometric", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
