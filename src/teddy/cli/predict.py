"""``teddy predict``: use a ticket."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from teddy.cli.options import DataDir, Json, Nodes, OwnModule
from teddy.cli.ticket_data import (
    TicketDataset,
    TicketFile,
    TicketSplit,
    TicketSplitSeed,
    load_graph,
    load_ticket,
)
from teddy.errors import InputError
from teddy.store.atomic import check_writable, write_atomically

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from teddy.ticket import TicketInfo
    from teddy.training import Task


def predict(
    ticket: TicketFile,
    dataset: TicketDataset = None,
    out: Annotated[Path | None, Option(help="Write here, not to stdout.")] = None,
    json_: Json = False,
    changed: Annotated[
        str | None,
        Option(
            help="The graph isn't the one that the ticket was found on; which edges stay: scored, "
            "training (with --original) or none."
        ),
    ] = None,
    original: Annotated[
        str | None,
        Option(help="The graph that it was found on: edges of it keep their fate, new ones stay."),
    ] = None,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    module: OwnModule = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Predict the class, labels or numbers of every node, link of the split, or graph, as CSV."""
    if out is not None:
        check_writable(out)
    from teddy.data.hetero import target_nodes
    from teddy.data.targets import TARGETS
    from teddy.ticket.changed import node_ids
    from teddy.ticket.file import read_ticket

    info = read_ticket(ticket).info
    graph = cache(partial(load_graph, ticket, info, dataset, split, split_seed, nodes, data_dir))
    loaded = load_ticket(ticket, module, graph)
    if original is not None and changed != "training":
        raise InputError(f"original is '{original}', expected only with --changed training")
    data = graph()
    if changed is not None:
        before = None
        if original is not None:
            before = load_graph(ticket, info, original, split, split_seed, None, data_dir)
        loaded = loaded.transfer(data, changed, before)
    task, logits = loaded.task, loaded.logits(data)
    if info.hetero is not None:
        data = target_nodes(data, info.hetero["target"])
    ids = node_ids(data) if info.graphs is None else range(logits.size(0))
    if info.links is None:
        heading, predictions = _predictions(task, logits, info.classes)
        rows = [(node, *row) for node, row in zip(ids, predictions, strict=True)]
    else:
        heading, rows = _links(data, task, logits, ids)
    unjudged, test = _why_unjudged(info, task, data, logits.size(1)), None
    if not unjudged:
        judged, y = data.test_mask, data.y if info.links is None else data.edge_label.view(-1, 1)
        test = task.score(logits[judged], task.encode(y)[judged])
    recognised = (loaded.info.transferred or {}).get("recognised") if changed else None
    facts = {"ticket": str(ticket), "test": test, "predictions": rows}
    if recognised is not None:
        facts["recognised"] = recognised
    text = json.dumps(facts) + "\n" if json_ else _csv([heading, *rows])
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text.encode())
    place = "stdout" if out is None else str(out)
    metric = task.metric
    score = f"no {metric}, {unjudged}" if test is None else f"test {metric} {test:.2f}%"
    if test is not None and abs(test - info.ticket.test) > 0.5:
        score += f", recorded {info.ticket.test:.2f}%"
        score += ": are the features the same?" if changed is None else " before the change"
    if recognised is not None:
        known, edges = loaded.info.graph["nodes"], loaded.info.graph["edges"]
        score += f"; there before: {recognised['nodes']:,} of {known:,} nodes, "
        score += f"{recognised['edges']:,} of {edges:,} edges"
    what = TARGETS[task.name].of
    print(f"{len(rows):,} {what}s to {place}; {score}", file=sys.stderr)


def _why_unjudged(info: TicketInfo, task: Task, data: Data, outputs: int) -> str:
    """Why the ticket's test nodes can't be judged here; empty if they can."""
    from teddy.data.checks import MASKS
    from teddy.data.links import LINKS
    from teddy.data.targets import TARGETS
    from teddy.ticket.fingerprint import split_fingerprint
    from teddy.ticket.graphs import found_on
    from teddy.training.tasks import Classification

    if task.name == LINKS:
        if any(key not in data for key in ("edge_label", *MASKS)):
            return "there are no labels or no split"
        own = split_fingerprint(data, links=True) == info.split_fingerprint
        return "" if own else "the split is another"
    if data.get("y") is None:
        return "there are no labels"
    if not isinstance(task, Classification) and data.y.view(len(data.y), -1).size(1) != outputs:
        return "y has other columns"
    if any(key not in data for key in MASKS):
        return "there is no split"
    # On another split, what the ticket has learnt from would be counted as test nodes or graphs.
    if split_fingerprint(data) != info.split_fingerprint:
        return "the split is another"
    if info.graphs is not None and not found_on(info, data):
        return "the graphs are others"
    targets = TARGETS[task.name]
    known = targets.known(data.y)
    return "" if known[data.test_mask].all() else f"test {targets.of}s have no label"


def _predictions(
    task: Task, logits: Tensor, classes: list[str] | None
) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
    """Names of columns, and a row for each node: a class and how sure, or labels, or numbers."""
    from teddy.data.targets import TARGETS
    from teddy.training.tasks import Classification

    predicted = task.predict(logits).tolist()
    if isinstance(task, Classification):
        names = classes or [str(c) for c in range(logits.size(1))]
        confidence = logits.softmax(dim=-1).amax(dim=-1).tolist()
        rows = ((names[c], round(p, 4)) for c, p in zip(predicted, confidence, strict=True))
        return (TARGETS[task.name].of, "class", "confidence"), rows
    rows = (tuple(row) if isinstance(row, list) else (row,) for row in predicted)
    word = "label" if task.name == "multilabel" else "value"
    several = isinstance(predicted[0], list)
    columns = [f"{word} {c}" for c in range(logits.size(1))] if several else [word]
    return ("node", *columns), rows


def _links(
    data: Data, task: Task, logits: Tensor, ids: Sequence[int | str]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Names of columns, and a row for each link: its ends, whether it is one, and how likely."""
    ends = ([ids[node] for node in end] for end in data.edge_label_index.tolist())
    chances = [round(p, 4) for p in logits.sigmoid().flatten().tolist()]
    rows = zip(*ends, task.predict(logits).tolist(), chances, strict=True)
    return ("source", "target", "link", "probability"), list(rows)


def _csv(rows: list[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
