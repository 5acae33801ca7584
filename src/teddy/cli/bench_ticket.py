"""``teddy bench TICKET``: what does it save at inference?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

#: What a row of the table is, by its way.
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
    """Time a pass of the dense model and of a ticket, by threads and devices."""
    import torch

    from teddy.cli.printing import print_table, print_text
    from teddy.cli.ticket_data import load_graph, load_ticket
    from teddy.ticket.file import read_ticket
    from teddy.ticket.speed import Pass, measure

    info = read_ticket(ticket).info
    graph = cache(partial(load_graph, Path(ticket), info, dataset, None, None, nodes, data_dir))
    loaded, data = load_ticket(ticket, module, graph), graph()
    most, passes = torch.get_num_threads(), []
    try:
        for threads in sorted({1, most}):
            torch.set_num_threads(threads)
            passes += measure(loaded, data)
    finally:
        torch.set_num_threads(most)
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
            "rows": [asdict(found) for found in passes],
        }
        typer.echo(json.dumps(result))
        return
    groups: dict[tuple[str, int], list[Pass]] = {}
    for found in passes:
        groups.setdefault((found.device, found.threads), []).append(found)
    for (device, threads), rows in groups.items():
        place = f"{threads} thread{'s' * (threads > 1)}" if device == "cpu" else device
        print_table(
            f"An inference pass of {_model(info.model)} on {info.dataset}, {place}",
            ("", "stored weights", "non-zero MACs", "fewer", "ms", "faster"),
            [_row(found, rows[0]) for found in rows],
        )
    metric = info.task["metric"]
    print_text(f"Test {metric} %: dense {scores['dense']:.2f}, ticket {scores['ticket']:.2f}.")


def _model(spec: Mapping[str, Any]) -> str:
    return str(spec.get("name") or spec["class"])


def _row(found: Any, dense: Any) -> tuple[Any, ...]:
    macs = fewer = "-"
    if found.macs and dense.macs:
        macs = f"{found.macs:,}" if dense.macs < 1e7 else f"{found.macs / 1e6:,.1f}M"
        fewer = f"{dense.macs / found.macs:.2f}x"
    faster = dense.milliseconds / found.milliseconds
    return (
        WORDS[found.way], f"{found.weights:,}", macs, fewer, f"{found.milliseconds:.2f}",
        f"{faster:.2f}x",
    )  # fmt: skip
