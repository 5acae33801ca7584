"""``teddy export``: a ticket for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from teddy.cli.options import DataDir, Load, Nodes, OwnModule, load_files
from teddy.cli.ticket_data import (
    TicketDataset,
    TicketFile,
    TicketSplit,
    TicketSplitSeed,
    load_graph,
    load_ticket,
)
from teddy.errors import InputError


def export(
    ticket: TicketFile,
    out: Annotated[
        Path,
        Argument(
            help="File to write: .onnx or .pt2 (torch.export), the network; "
            ".parquet, the kept edges."
        ),
    ],
    dataset: TicketDataset = None,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    module: OwnModule = None,
    load: Load = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Write a ticket's network as ONNX or for torch.export, or its edges as Parquet."""
    from teddy.store.atomic import check_writable
    from teddy.ticket.export import check_kind, signature
    from teddy.ticket.file import read_ticket

    load_files(load)
    kind = check_kind(out)
    check_writable(out)
    info = read_ticket(ticket).info

    def graph() -> Any:
        return load_graph(ticket, info, dataset, split, split_seed, nodes, data_dir)

    loaded, data = load_ticket(ticket, module, graph), None
    if kind == ".parquet":
        data = graph()
    elif not loaded.kind.modules_take_data:
        # Not data_dir, which an environment variable may have set.
        of_graph = {
            "data set": dataset, "split": split, "split-seed": split_seed, "nodes": nodes
        }  # fmt: skip
        for what, value in of_graph.items():
            if value is not None:
                raise InputError(
                    f"{what} '{value}' came with {out.name}, expected it for .parquet only"
                )
    loaded.export(out, data)
    inputs, output = signature(loaded)
    what = "kept edges" if data is not None else f"{output}({', '.join(inputs)})"
    typer.echo(f"{out}: {what}, {out.stat().st_size:,} bytes")
