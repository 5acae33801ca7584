"""``teddy inspect``: say what a ticket is."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from teddy.cli.options import Json


def inspect(
    ticket: Annotated[Path, typer.Argument(help="A ticket file.")],
    json_: Json = False,
) -> None:
    """Show what a ticket file holds."""
    from teddy.cli.tables import describe_split, edge_rows, print_table
    from teddy.ticket.file import read_ticket

    content = read_ticket(ticket)
    info = content.info
    left = {
        name: {"total": p.numel(), "kept": int((p != 0).sum())}
        for name, p in content.parameters.items()
    }
    if json_:
        typer.echo(json.dumps({**info.to_dict(), "parameters": left}))
        return
    model = info.model.get("name") or info.model["class"]
    print_table(
        f"{ticket.name}: {info.method} on {info.dataset} "
        f"({describe_split(info.split, info.inductive)}), {model}, seed {info.seed}",
        ("", "dense", "ticket"),
        [
            *(row for row, _ in edge_rows(asdict(info.edges), info.inductive)),
            ("weights", f"{info.weights.total:,}", f"{info.weights.kept:,}"),
            (f"test {info.task['metric']} %", f"{info.dense.test:.2f}", f"{info.ticket.test:.2f}"),
            ("  best epoch", info.dense.best_epoch, info.ticket.best_epoch),
            ("  at the last epoch", f"{info.dense.last_test:.2f}", f"{info.ticket.last_test:.2f}"),
        ],
    )
    print_table(
        "Parameters",
        ("", "entries", "left", "share"),
        [
            (name, f"{n['total']:,}", f"{n['kept']:,}", f"{n['kept'] / max(n['total'], 1):.1%}")
            for name, n in left.items()
        ],
    )
    graph = {**info.graph, "fingerprint": info.graph["fingerprint"][:16]}
    print_table("Graph", ("", ""), graph.items())
    asked = {"graph_sparsity": info.graph_sparsity, "weight_sparsity": info.weight_sparsity}
    settings = {**info.config, **info.model.get("options", {}), **asked}
    print_table("Settings", ("", ""), sorted(settings.items()))
    print_table("Versions", ("", ""), sorted(info.versions.items()))
