"""``teddy predict``: predictions of a ticket."""

from __future__ import annotations

import csv
import io
import json
import sys
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from teddy.cli.completion import complete
from teddy.cli.options import DataDir, Json, Load, Nodes, OwnModule, check_names, load_files, option
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
    changed: Annotated[
        str | None,
        option(
            "Data",
            "Pruning rule for a graph that has changed since training: scored, training (with "
            "--original) or none.",
            autocompletion=complete(["scored", "training", "none"]),
        ),
    ] = None,
    original: Annotated[
        str | None,
        option(
            "Data",
            "Graph that the ticket was found on: its edges are kept or removed as before, and "
            "new edges are kept.",
        ),
    ] = None,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
    module: OwnModule = None,
    out: Annotated[Path | None, option("Output", "File to write, in place of stdout.")] = None,
    json_: Json = False,
    load: Load = None,
) -> None:
    """Predict a class, labels or a number for every node, link of the split, or graph, as CSV.

    Examples:
        teddy predict my.ticket --out predictions.csv
        teddy predict my.ticket my-graph/ --json
        teddy predict my.ticket later/ --changed training --original my-graph/
    """
    if out is not None:
        check_writable(out)
    check_names(name for name in (dataset, original) if name is not None)
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
    result: dict[str, Any] = {"ticket": str(ticket), "test": test, "predictions": rows}
    if recognised is not None:
        result["recognised"] = recognised
    text = json.dumps(result) + "\n" if json_ else _csv([(*named, *columns), *rows])
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
        nodes_before, edges = loaded.info.graph["nodes"], loaded.info.graph["edges"]
        score += f"; recognised: {recognised['nodes']:,} of {nodes_before:,} nodes, "
        score += f"{recognised['edges']:,} of {edges:,} edges"
    print(f"{len(rows):,} {kind.name}s to {place}; {score}", file=sys.stderr)


def _csv(rows: list[tuple[Any, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
