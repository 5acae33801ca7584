"""``teddy export``: a ticket's network or edges for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from teddy.cli.options import DataDir, Load, Nodes, OwnModule, check_names, load_files
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
            help="File to write: .onnx or .pt2 (torch.export) for the network, .parquet for the "
            "kept edges."
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
    """Export a ticket's network as ONNX or for torch.export, or its edges as Parquet.

    Examples:
        teddy export my.ticket network.onnx
        teddy export my.ticket network.pt2
        teddy export my.ticket edges.parquet citeseer
    """
    check_names([] if dataset is None else [dataset])
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
        # data_dir is left out: an environment variable may have set it.
        graph_options = {
            "data set": dataset, "split": split, "split-seed": split_seed, "nodes": nodes
        }  # fmt: skip
        for name, value in graph_options.items():
            if value is not None:
                raise InputError(
                    f"{name} '{value}' has no effect on {out.name}, expected it only for .parquet"
                )
    loaded.export(out, data)
    inputs, output = signature(loaded)
    content = "kept edges" if data is not None else f"{output}({', '.join(inputs)})"
    typer.echo(f"{out}: {content}, {out.stat().st_size:,} bytes")
