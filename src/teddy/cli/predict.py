"""``teddy predict``: use a ticket."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from teddy.cli.options import DataDir, Json, Nodes, Split
from teddy.errors import InputError


def predict(
    ticket: Annotated[Path, typer.Argument(help="A ticket file.")],
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="Its graph: a name, file or folder; default: the one it names.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the CSV here, not to stdout.", show_default=False)
    ] = None,
    json_: Json = False,
    split: Split = None,
    split_seed: Annotated[int, typer.Option(help="Seed of a split that is drawn.")] = 0,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Predict the class of every node, as CSV."""
    from teddy.data import DATASETS, load_dataset
    from teddy.ticket import Ticket
    from teddy.ticket.file import write_atomically
    from teddy.training import accuracy

    loaded = Ticket.load(ticket)
    info = loaded.info
    if dataset is None and info.dataset not in DATASETS:
        raise InputError(
            f"{ticket}: found on '{info.dataset}', expected its graph: teddy predict {ticket} PATH"
        )
    if split is None and info.split != "given":
        split = info.split
    data = load_dataset(
        dataset or info.dataset, split=split, seed=split_seed, data_dir=data_dir, nodes=nodes
    )
    confidence, classes = loaded.logits(data).softmax(dim=-1).max(dim=-1)
    names = info.classes or [str(c) for c in range(info.graph["classes"])]
    ids = data.get("node_ids") or range(data.num_nodes)
    rows = [
        (node, names[c], round(p, 4))
        for node, c, p in zip(ids, classes.tolist(), confidence.tolist(), strict=True)
    ]
    test = accuracy(classes, data.y, data.test_mask)
    if json_:
        typer.echo(json.dumps({"ticket": str(ticket), "test": test, "predictions": rows}))
        return
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("node", "class", "confidence"), *rows])
    if out is None:
        sys.stdout.write(text.getvalue())
        place = "stdout"
    else:
        write_atomically(out, text.getvalue().encode())
        place = str(out)
    print(f"{len(rows):,} nodes to {place}; test accuracy {test:.2f}%", file=sys.stderr)
