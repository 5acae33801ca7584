"""``teddy inspect``: say what a ticket is, and what it leaves of its graph."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from teddy.cli.options import DataDir, Json, Load, Nodes, load_files
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


def inspect(
    ticket: TicketFile,
    dataset: TicketDataset = None,
    node: Annotated[str | None, Option(help="Id of a node to look at.")] = None,
    picture: Annotated[
        Path | None,
        Option(help="Draw the node's neighbourhood, before and after: .png, .svg or .pdf."),
    ] = None,
    hops: Annotated[int, Option(help="How far the neighbourhood goes, 1 or 2.")] = 2,
    load: Load = None,
    json_: Json = False,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
) -> None:
    """Show what a ticket file holds, and what is left of its graph."""
    from teddy.data import DATASETS
    from teddy.ticket.file import read_ticket
    from teddy.ticket.inspection import layer_counts, parameter_counts

    if hops not in (1, 2):
        raise InputError(f"hops is {hops}, expected 1 or 2")
    if picture is not None:
        from teddy.report.save import check_picture

        check_picture(picture)
        if node is None:
            raise InputError(f"picture is '{picture}', expected --node ID, too")
    load_files(load)
    content = read_ticket(ticket)
    info = content.info
    # A set that comes with the package is at hand; any other may be a download.
    at_hand = info.dataset in DATASETS and DATASETS[info.dataset].info.bundled
    asked = any(option is not None for option in (dataset, node, split, split_seed, nodes))
    graph: dict[str, Any] = {}
    if asked or at_hand:
        try:
            data = load_graph(ticket, info, dataset, split, split_seed, nodes, data_dir)
            graph = _graph_facts(content, data, node, hops, picture)
        except InputError:
            if asked:
                raise
    parameters = parameter_counts(content.parameters)
    facts = {
        **info.to_dict(),
        "parameters": {name: asdict(count) for name, count in parameters.items()},
        "layers": {name: asdict(count) for name, count in layer_counts(parameters).items()},
        **graph,
    }
    if json_:
        typer.echo(json.dumps(facts))
        return
    from teddy.cli.ticket_tables import inspect_tables

    inspect_tables(ticket.name, info, facts)
    if picture is not None:
        typer.echo(f"Picture: {picture}")


def _graph_facts(
    content: Content, data: Any, node: str | None, hops: int, picture: Path | None
) -> dict[str, Any]:
    """What is left of the graph and, if a node is asked for, of its neighbourhood."""
    from teddy.ticket.inspection import compare_graphs, find_node, neighbourhood, neighbours
    from teddy.ticket.view import TicketEdges

    # Not the ticket: its network might be a module of the user's own.
    edges = TicketEdges(content.info, content.keep)
    graph, keep = edges.prune(data)
    ids = edges.kind.names(data)
    # Of other tasks nodes have no class: nothing to say of homophily, nor to colour them by.
    y = data.get("y") if edges.kind.has_node_classes() else None
    facts: dict[str, Any] = {"left": asdict(compare_graphs(graph, keep, y, ids))}
    if node is not None:
        number = find_node(node, ids)
        around = neighbourhood(graph, keep, number, hops)
        names = [ids[number] for number in around.nodes]
        if picture is not None:
            _draw(around, content.info.dataset, data, y, names, hops, picture)
        kept, removed = ([ids[n] for n in some] for some in neighbours(graph, keep, number))
        facts["neighbours"] = {"kept": kept, "removed": removed}
        facts["neighbourhood"] = {**asdict(around), "nodes": names}
    return facts


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

    own, classes = [-1] * len(names), list[str]()
    if y is not None:
        classes = data.get("class_names") or [str(c) for c in range(int(y.max()) + 1)]
        own = y[around.nodes].tolist()
    shown, total = len(around.nodes), len(around.nodes) + around.left_out
    title = f"{dataset}, node {names[0]}: "
    title += f"{total:,} nodes" if shown == total else f"{shown} of {total:,} nodes"
    title += f" within {hops} hop{'s' * (hops != 1)}"
    figure = draw_neighbourhood(around, names, own, classes, title)
    save_figure(figure, picture)
