"""``find_over_seeds``: one search with several seeds."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch_geometric.data import Data, HeteroData

from teddy.errors import InputError
from teddy.graph import GraphHealth, graph_health
from teddy.methods import find_ticket
from teddy.methods.resume import SearchFolder, folder_of
from teddy.sparsity import nearest_level
from teddy.store.atomic import StrPath
from teddy.sweep.grid import Cell
from teddy.sweep.resolution import HeldOut, tested_on
from teddy.sweep.row import ticket_row
from teddy.sweep.statistics import Difference, paired_difference, spread
from teddy.ticket import Accuracy, LinkInfo, Ticket


@dataclass
class Study:
    """Tickets of several seeds for one graph, model and sparsity level.

    Each seed has its own dense model, so differences are paired.

    Attributes:
        tickets: A ticket for each seed.
        tested: Size of the test set.
        health: Health of the graph ``before`` pruning and ``after``, by the best ticket; relations
            of a heterogeneous graph together.
        seconds: Wall-clock time.
    """

    tickets: list[Ticket]
    tested: HeldOut
    health: dict[str, GraphHealth]
    seconds: float

    @property
    def test_rows(self) -> int:
        """Number of nodes, links or graphs that the tickets were tested on."""
        return self.tested.rows

    @property
    def best(self) -> Ticket:
        """Ticket of highest validation metric, the first of equals."""
        return max(self.tickets, key=lambda ticket: ticket.info.ticket.val)

    @property
    def difference(self) -> Difference:
        """Test metric, ticket minus dense, paired over seeds."""
        infos = [ticket.info for ticket in self.tickets]
        return paired_difference(
            [info.ticket.test for info in infos],
            [info.dense.test for info in infos],
            test_rows=self.tested.rows,
            resolution=self.tested.resolution,
        )

    def rows(self, data: Any, method: str | None = None) -> list[dict[str, Any]]:
        """Rows of the tickets, as in the table of a sweep.

        Args:
            data: The graph, or graphs, that the tickets were found on.
            method: The method with its options; by default its name.
        """
        rows = []
        for ticket in self.tickets:
            info = ticket.info
            model = str(info.model.get("name", info.model.get("class")))
            level = nearest_level(max(info.graph_sparsity, info.weight_sparsity))
            cell = Cell(info.dataset, model, method or info.method, info.seed, level)
            rows.append(ticket_row(cell, ticket, data, self.tested))
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``teddy find --json`` prints it."""
        infos = [ticket.info for ticket in self.tickets]
        best = self.best.info
        macs = best.macs
        return {
            "dataset": best.dataset,
            "split": ", ".join(dict.fromkeys(info.split for info in infos)),
            "model": best.model.get("name", best.model.get("class")),
            "method": best.method,
            "scores": [info.score for info in infos],
            "task": best.task["name"],
            "metric": best.task["metric"],
            "directed": best.graph["directed"],
            "graph_sparsity": best.graph_sparsity,
            "weight_sparsity": best.weight_sparsity,
            "distill": best.config["distill"],
            "epochs": best.config["epochs"],
            "seeds": [info.seed for info in infos],
            "test_rows": self.test_rows,
            "edges": asdict(best.edges),
            "inductive": best.inductive,
            "weights": asdict(best.weights),
            "macs": {
                "dense": None if macs.dense is None else sum(macs.dense),
                "ticket": None if macs.ticket is None else sum(macs.ticket),
                "layers": asdict(macs),
            },
            "dense": _metrics([info.dense for info in infos]),
            "ticket": _metrics([info.ticket for info in infos]),
            **_hits([info.second_metric for info in infos]),
            "difference": asdict(self.difference),
            "verdict": self.difference.verdict,
            "health": {when: asdict(health) for when, health in self.health.items()},
            "seconds": {
                **{
                    name: sum(ticket.seconds.get(name, 0.0) for ticket in self.tickets)
                    for name in ("dense", "search", "sparse")
                },
                "total": self.seconds,
            },
        }


def find_over_seeds(
    data: Data | HeteroData,
    *,
    seeds: Sequence[int],
    progress: Callable[[int, str, Any, float], None] | bool | None = None,
    checkpoint: StrPath | SearchFolder | None = None,
    **settings: Any,
) -> Study:
    """Find a ticket for each seed, and compare it with the dense model of the same seed.

    Each seed takes two trainings: one of the dense model and one of the sparse ticket.

    Args:
        data: The graph.
        seeds: The seeds.
        progress: Called with seed, phase, epoch and the finished share of the seed; True: a
            progress bar for each seed.
        checkpoint: Folder with a subfolder of checkpoints for each seed, to resume from.
        settings: Arguments of :func:`teddy.find_ticket`, except for ``seed``.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> study = teddy.find_over_seeds(
        ...     data, seeds=range(3), model="gcn", epochs=2, hidden_channels=8)
        >>> len(study.tickets), study.best.info.edges
        (3, Count(total=4552, kept=1638))
        >>> study.difference.seeds, study.test_rows
        (3, 1000)
    """
    if not seeds:
        raise InputError("got no seeds, expected at least one")
    started = time.perf_counter()
    tickets = []
    for seed in seeds:

        def report(phase: str, epoch: Any, done: float, seed: int = seed) -> None:
            if callable(progress):
                progress(seed, phase, epoch, done)

        folder = None if checkpoint is None else folder_of(checkpoint).within(f"seed-{seed}")
        shown = report if callable(progress) else progress
        settings = {**settings, "progress": shown, "checkpoint": folder}
        tickets.append(find_ticket(data, seed=seed, **settings))
    study = Study(tickets, tested_on(tickets[0].info, data), {}, 0.0)
    _, edges, keep = study.best.chosen(data)
    graph, keep = edges.simple(keep)
    y = data.y if study.best.kind.has_node_classes() else None
    for when, edges in (("before", graph), ("after", graph.subset(keep))):
        study.health[when] = graph_health(edges, y=y)
    study.seconds = time.perf_counter() - started
    return study


def _hits(links: Sequence[LinkInfo | None]) -> dict[str, Any]:
    """Second metric of link prediction: hits@k of each seed."""
    known = [metric for metric in links if metric is not None]
    if not known:
        return {}
    hits = {
        model: {part: [metric["hits"][model][part] for metric in known] for part in ("test", "val")}
        for model in ("dense", "ticket")
    }
    return {"hits": {"at": known[0]["hits_at"], **hits}}


def _metrics(results: list[Accuracy]) -> dict[str, Any]:
    test = [result.test for result in results]
    return {
        "test": test,
        "val": [result.val for result in results],
        "best_epoch": [result.best_epoch for result in results],
        "last_test": [result.last_test for result in results],
        "test_mean": sum(test) / len(test),
        "test_std": spread(test),
    }
