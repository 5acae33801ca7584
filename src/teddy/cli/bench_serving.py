"""``teddy bench TICKET --serving``: latency of a ticket and of its dense model in a server."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer

#: Label of a row of the table.
LABELS = {
    "dense": "dense",
    "sparse graph": "sparse edges",
    "sparse weights": "sparse weights",
    "ticket": "both",
}


def bench_serving(
    ticket: str,
    dataset: str | None,
    module: str | None,
    nodes: Path | None,
    data_dir: Path | None,
    plot: Path | None,
    json_: bool,
) -> None:
    """Time queries about a few nodes, for one and for all threads."""
    import torch

    from teddy.cli.printing import print_table, print_text
    from teddy.cli.ticket_data import load_graph, load_ticket
    from teddy.ticket.file import read_ticket
    from teddy.ticket.serving_speed import Latency, measure_serving

    info = read_ticket(ticket).info
    graph = cache(partial(load_graph, Path(ticket), info, dataset, None, None, nodes, data_dir))
    loaded, data = load_ticket(ticket, module, graph), graph()
    max_threads = torch.get_num_threads()
    rows: list[Latency] = []
    try:
        for threads in sorted({1, max_threads}):
            torch.set_num_threads(threads)
            rows += measure_serving(loaded, data)
    finally:
        torch.set_num_threads(max_threads)
    if plot is not None:
        from teddy.report.draw_latency import latency_chart
        from teddy.report.save import save_picture

        single = [asdict(row) for row in rows if row.threads == 1]
        save_picture(latency_chart(single, LABELS), plot)
    scores = {"dense": info.dense.test, "ticket": info.ticket.test}
    if json_:
        result = {
            "ticket": ticket, "dataset": info.dataset, "metric": info.task["metric"],
            "test": scores, "torch": torch.__version__, "rows": [asdict(row) for row in rows],
        }  # fmt: skip
        typer.echo(json.dumps(result))
        return
    for threads in sorted({row.threads for row in rows}):
        for batch in sorted({row.batch for row in rows}):
            part = [row for row in rows if (row.threads, row.batch) == (threads, batch)]
            title = f"Queries about {batch:,} node{'s' * (batch > 1)} of {info.dataset}, "
            print_table(
                title + f"{threads} thread{'s' * (threads > 1)}",
                ("", "nodes", "edges", "p50 ms", "faster", "p99 ms", "faster", "MB"),
                [_row(row, part[0]) for row in part],
            )
    metric = info.task["metric"]
    print_text(f"Test {metric} %: dense {scores['dense']:.2f}, ticket {scores['ticket']:.2f}.")


def _row(row: Any, dense: Any) -> tuple[Any, ...]:
    return (
        LABELS[row.way], f"{row.nodes:,.0f}", f"{row.edges:,.0f}", f"{row.p50:.3f}",
        f"{dense.p50 / row.p50:.1f}x", f"{row.p99:.3f}", f"{dense.p99 / row.p99:.1f}x",
        f"{row.megabytes:.1f}",
    )  # fmt: skip
