"""``teddy bench TICKET``: inference time of a ticket and of its dense model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

from teddy.registry import short_class

#: Label of a row of the table.
WORDS = {
    "dense": "dense",
    "sparse graph": "+ sparse graph",
    "sparse weights": "+ sparse weights, masked",
    "compiled": "+ compiled",
}


def bench_ticket(
    ticket: str,
    dataset: str | None,
    module: str | None,
    nodes: Path | None,
    data_dir: Path | None,
    json_: bool,
) -> None:
    """Time a forward pass of the dense model and of a ticket, by threads and devices."""
    import torch

    from teddy.cli.printing import print_table, print_text
    from teddy.cli.ticket_data import load_graph, load_ticket
    from teddy.ticket.file import read_ticket
    from teddy.ticket.speed import Pass, measure

    info = read_ticket(ticket).info
    graph = cache(partial(load_graph, Path(ticket), info, dataset, None, None, nodes, data_dir))
    loaded, data = load_ticket(ticket, module, graph), graph()
    max_threads, passes = torch.get_num_threads(), []
    try:
        for threads in sorted({1, max_threads}):
            torch.set_num_threads(threads)
            passes += measure(loaded, data)
    finally:
        torch.set_num_threads(max_threads)
    if torch.cuda.is_available():
        passes += measure(loaded, data.to("cuda"))
    scores = {"dense": info.dense.test, "ticket": info.ticket.test}
    if json_:
        result = {
            "ticket": ticket,
            "dataset": info.dataset,
            "model": _model(info.model),
            "metric": info.task["metric"],
            "test": scores,
            "torch": torch.__version__,
            "rows": [asdict(timed) for timed in passes],
        }
        typer.echo(json.dumps(result))
        return
    groups: dict[tuple[str, int], list[Pass]] = {}
    for timed in passes:
        groups.setdefault((timed.device, timed.threads), []).append(timed)
    for (device, threads), rows in groups.items():
        place = f"{threads} thread{'s' * (threads > 1)}" if device == "cpu" else device
        print_table(
            f"An inference pass of {_model(info.model)} on {info.dataset}, {place}",
            ("", "stored weights", "non-zero MACs", "fewer", "ms", "faster"),
            [_row(timed, rows[0]) for timed in rows],
        )
    metric = info.task["metric"]
    print_text(f"Test {metric} %: dense {scores['dense']:.2f}, ticket {scores['ticket']:.2f}.")


def _model(spec: Mapping[str, Any]) -> str:
    return str(spec.get("name") or short_class(spec["class"]))


def _row(timed: Any, dense: Any) -> tuple[Any, ...]:
    macs = fewer = "-"
    if timed.macs and dense.macs:
        macs = f"{timed.macs:,}" if dense.macs < 1e7 else f"{timed.macs / 1e6:,.1f}M"
        fewer = f"{dense.macs / timed.macs:.2f}x"
    faster = dense.milliseconds / timed.milliseconds
    return (
        WORDS[timed.way], f"{timed.weights:,}", macs, fewer, f"{timed.milliseconds:.2f}",
        f"{faster:.2f}x",
    )  # fmt: skip
