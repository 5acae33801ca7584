"""``teddy predict``: use a ticket."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

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
    """Predict the class of every node, as CSV."""
    if out is not None:
        check_writable(out)
    from teddy.ticket import Ticket
    from teddy.ticket.changed import node_ids
    from teddy.ticket.fingerprint import split_fingerprint
    from teddy.training import accuracy

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
    confidence, classes = loaded.logits(data).softmax(dim=-1).max(dim=-1)
    names = info.classes or [str(c) for c in range(info.graph["classes"])]
    rows = [
        (node, names[c], round(p, 4))
        for node, c, p in zip(node_ids(data), classes.tolist(), confidence.tolist(), strict=True)
    ]
    # On another split, nodes that the ticket learnt from would be counted as test nodes.
    same_split = split_fingerprint(data) == info.split_fingerprint
    test_nodes = data.test_mask.nonzero().flatten()
    test = accuracy(classes[test_nodes], data.y[test_nodes]) if same_split else None
    text = _json(ticket, test, rows) if json_ else _csv(rows)
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text.encode())
    place = "stdout" if out is None else str(out)
    score = "no accuracy, the split is another" if test is None else f"test accuracy {test:.2f}%"
    if test is not None and abs(test - info.ticket.test) > 0.5:
        score += f", recorded {info.ticket.test:.2f}%"
        score += ": are the features the same?" if changed is None else " before the change"
    print(f"{len(rows):,} nodes to {place}; {score}", file=sys.stderr)


def _json(ticket: Path, test: float | None, rows: list[tuple[Any, str, float]]) -> str:
    return json.dumps({"ticket": str(ticket), "test": test, "predictions": rows}) + "\n"


def _csv(rows: list[tuple[Any, str, float]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("node", "class", "confidence"), *rows])
    return text.getvalue()
