"""``teddy inspect``: content of a ticket, and its graph before and after pruning."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teddy.cli.options import DataDir, Json, Load, Nodes, check_names, load_files, option
from teddy.cli.ticket_data import (
    TicketDataset,
    TicketFile,
    TicketSplit,
    TicketSplitSeed,
    load_graph,
)
from teddy.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor
    from torch_geometric.data import Data

    from teddy.ticket.file import Content
    from teddy.ticket.inspection import Neighbourhood


#: Lines that are printed without ``--all``.
FIRST_LINES = 30


def inspect(
    ticket: TicketFile,
    dataset: TicketDataset = None,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
    node: Annotated[str | None, option("Output", "Node id, to print its neighbourhood.")] = None,
    hops: Annotated[int, option("Output", "Radius of the neighbourhood: 1 or 2.")] = 2,
    picture: Annotated[
        Path | None,
        option(
            "Output",
            "Picture of the neighbourhood before and after pruning: .png, .svg or .pdf.",
        ),
    ] = None,
    all_lines: Annotated[
        bool, option("Output", f"All lines, in place of the first {FIRST_LINES}.", "--all")
    ] = False,
    json_: Json = False,
    load: Load = None,
) -> None:
    """Show a ticket's content, and its graph before and after pruning.

    Examples:
        teddy inspect my.ticket
        teddy inspect my.ticket --all
        teddy inspect my.ticket citeseer --node 17 --picture node.svg
    """
    check_names([] if dataset is None else [dataset])
    from teddy.data import DATASETS
    from teddy.ticket.file import read_ticket
    from teddy.ticket.inspection import layer_counts, parameter_counts

    if hops not in (1, 2):
        raise InputError(f"hops is {hops}, expected 1 or 2")
    if picture is not None:
        from teddy.report.save import check_picture

        check_picture(picture)
        if node is None:
            raise InputError("--picture needs a node, expected --node ID")
    load_files(load)
    content = read_ticket(ticket)
    info = content.info
    # A bundled data set is read at no cost; any other may be a download.
    bundled = info.dataset in DATASETS and DATASETS[info.dataset].info.bundled
    requested = any(value is not None for value in (dataset, node, split, split_seed, nodes))
    graph: dict[str, Any] = {}
    if requested or bundled:
        try:
            data = load_graph(ticket, info, dataset, split, split_seed, nodes, data_dir)
            graph = _graph_metadata(content, data, node, hops, picture)
        except InputError:
            if requested:
                raise
    parameters = parameter_counts(content.parameters)
    metadata = {
        **info.to_dict(),
        "parameters": {name: asdict(count) for name, count in parameters.items()},
        "layers": {name: asdict(count) for name, count in layer_counts(parameters).items()},
        **graph,
    }
    if json_:
        typer.echo(json.dumps(metadata))
        return
    from teddy.cli.printing import limited_output
    from teddy.cli.ticket_tables import inspect_tables

    with limited_output(None if all_lines else FIRST_LINES):
        inspect_tables(ticket.name, info, metadata)
    if picture is not None:
        typer.echo(f"Picture: {picture}")


def _graph_metadata(
    content: Content, data: Any, node: str | None, hops: int, picture: Path | None
) -> dict[str, Any]:
    """Health of the graph before and after pruning, and the neighbourhood of a node."""
    from teddy.ticket.inspection import compare_graphs, find_node, neighbourhood, neighbours
    from teddy.ticket.view import TicketEdges

    # Only the edges are read: the network may be the user's own module.
    edges = TicketEdges(content.info, content.keep)
    graph, keep = edges.prune(data)
    ids = edges.kind.names(data)
    # Nodes of other tasks have no class, so there is no homophily and no colour.
    y = data.get("y") if edges.kind.has_node_classes() else None
    metadata: dict[str, Any] = {"left": asdict(compare_graphs(graph, keep, y, ids))}
    if node is not None:
        number = find_node(node, ids)
        around = neighbourhood(graph, keep, number, hops)
        names = [ids[number] for number in around.nodes]
        if picture is not None:
            _draw(around, content.info.dataset, data, y, names, hops, picture)
        kept, removed = ([ids[n] for n in some] for some in neighbours(graph, keep, number))
        metadata["neighbours"] = {"kept": kept, "removed": removed}
        metadata["neighbourhood"] = {**asdict(around), "nodes": names}
    return metadata


def _draw(
    around: Neighbourhood,
    dataset: str,
    data: Data,
    y: Tensor | None,
    names: list[int | str],
    hops: int,
    picture: Path,
) -> None:
    from teddy.report.draw_neighbourhood import draw_neighbourhood
    from teddy.report.save import save_figure

    labels, classes = [-1] * len(names), list[str]()
    if y is not None:
        classes = data.get("class_names") or [str(c) for c in range(int(y.max()) + 1)]
        labels = y[around.nodes].tolist()
    shown, total = len(around.nodes), len(around.nodes) + around.left_out
    title = f"{dataset}, node {names[0]}: "
    title += f"{total:,} nodes" if shown == total else f"{shown} of {total:,} nodes"
    title += f" within {hops} hop{'s' * (hops != 1)}"
    figure = draw_neighbourhood(around, names, labels, classes, title)
    save_figure(figure, picture)
