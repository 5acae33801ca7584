"""``teddy predict``: use a ticket."""

from __future__ import annotations

import csv
import io
import json
import sys
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from teddy.cli.options import DataDir, Json, Load, Nodes, OwnModule, load_files
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
    load: Load = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Predict the class, labels or numbers of every node, link of the split, or graph, as CSV."""
    if out is not None:
        check_writable(out)
    load_files(load)
    from teddy.tasks import kind_from
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
    kind, logits = loaded.kind, loaded.logits(data)
    (named, names), (columns, values) = (
        kind.row_names(data), kind.task.prediction_columns(logits, info.classes)
    )  # fmt: skip
    rows = [(*name, *value) for name, value in zip(names, values, strict=True)]
    unjudged, test = kind_from(loaded.task, info).untested_reason(data, logits.size(1)), None
    if not unjudged:
        judged, y = kind.test_rows(data)
        test = kind.task.score(logits[judged], y[judged])
    transferred = loaded.info.transferred
    recognised = transferred.get("recognised") if changed and transferred is not None else None
    facts: dict[str, Any] = {"ticket": str(ticket), "test": test, "predictions": rows}
    if recognised is not None:
        facts["recognised"] = recognised
    text = json.dumps(facts) + "\n" if json_ else _csv([(*named, *columns), *rows])
    if out is None:
        sys.stdout.write(text)
    else:
        write_atomically(out, text.encode())
    place = "stdout" if out is None else str(out)
    metric = kind.task.metric
    score = f"no {metric}, {unjudged}" if test is None else f"test {metric} {test:.2f}%"
    if test is not None and abs(test - info.ticket.test) > 0.5:
        score += f", recorded {info.ticket.test:.2f}%"
        score += ": are the features the same?" if changed is None else " before the change"
    if recognised is not None:
        known, edges = loaded.info.graph["nodes"], loaded.info.graph["edges"]
        score += f"; there before: {recognised['nodes']:,} of {known:,} nodes, "
        score += f"{recognised['edges']:,} of {edges:,} edges"
    print(f"{len(rows):,} {kind.name}s to {place}; {score}", file=sys.stderr)


def _csv(rows: list[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
