"""``teddy predict``: use a ticket."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teddy.atomic import check_writable, write_atomically
from teddy.cli.options import DataDir, Json, Nodes
from teddy.cli.ticket_data import (
    TicketDataset,
    TicketFile,
    TicketSplit,
    TicketSplitSeed,
    load_graph,
)
from teddy.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from teddy.training import Task


def predict(
    ticket: TicketFile,
    dataset: TicketDataset = None,
    out: Annotated[
        Path | None, typer.Option(help="Write here, not to stdout.", show_default=False)
    ] = None,
    json_: Json = False,
    changed: Annotated[
        str | None,
        typer.Option(
            help="The graph isn't the one that the ticket was found on; which edges stay: scored, "
            "training (with --original) or none.",
            show_default=False,
        ),
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            help="The graph that it was found on: edges of it keep their fate, new ones stay.",
            show_default=False,
        ),
    ] = None,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Predict the class, labels or numbers of every node, as CSV."""
    if out is not None:
        check_writable(out)
    from teddy.ticket import Ticket
    from teddy.ticket.changed import node_ids
    from teddy.ticket.fingerprint import split_fingerprint

    loaded = Ticket.load(ticket)
    info = loaded.info
    if original is not None and changed != "training":
        raise InputError(f"original is '{original}', expected only with --changed training")
    data = load_graph(ticket, info, dataset, split, split_seed, nodes, data_dir)
    if data.get("class_names") != info.classes:
        raise InputError(
            f"the ticket knows the classes {info.classes}, got {data.get('class_names')}"
        )
    if changed is not None:
        before = None
        if original is not None:
            before = load_graph(ticket, info, original, split, split_seed, None, data_dir)
        loaded = loaded.transfer(data, changed, before)
    task, logits = loaded.task, loaded.logits(data)
    heading, predictions = _predictions(task, logits, info.classes)
    rows = [(node, *row) for node, row in zip(node_ids(data), predictions, strict=True)]
    # On another split, nodes that the ticket learnt from would be counted as test nodes.
    same_split = split_fingerprint(data) == info.split_fingerprint
    judged, y = data.test_mask, task.encode(data.y)
    test = task.score(logits[judged], y[judged]) if same_split else None
    text = _json(ticket, test, rows) if json_ else _csv([heading, *rows])
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text.encode())
    place = "stdout" if out is None else str(out)
    metric = task.metric
    score = f"no {metric}, the split is another" if test is None else f"test {metric} {test:.2f}%"
    if test is not None and abs(test - info.ticket.test) > 0.5:
        score += f", recorded {info.ticket.test:.2f}%"
        score += ": are the features the same?" if changed is None else " before the change"
    print(f"{len(rows):,} nodes to {place}; {score}", file=sys.stderr)


def _predictions(
    task: Task, logits: Tensor, classes: list[str] | None
) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
    """Names of columns, and a row for each node: a class and how sure, or labels, or numbers."""
    predicted = task.predict(logits).tolist()
    if task.name == "classification":
        names = classes or [str(c) for c in range(logits.size(1))]
        confidence = logits.softmax(dim=-1).amax(dim=-1).tolist()
        rows = ((names[c], round(p, 4)) for c, p in zip(predicted, confidence, strict=True))
        return ("node", "class", "confidence"), rows
    rows = (tuple(row) if isinstance(row, list) else (row,) for row in predicted)
    word = "label" if task.name == "multilabel" else "value"
    several = isinstance(predicted[0], list)
    columns = [f"{word} {c}" for c in range(logits.size(1))] if several else [word]
    return ("node", *columns), rows


def _json(ticket: Path, test: float | None, rows: list[tuple[Any, ...]]) -> str:
    return json.dumps({"ticket": str(ticket), "test": test, "predictions": rows}) + "\n"


def _csv(rows: list[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
