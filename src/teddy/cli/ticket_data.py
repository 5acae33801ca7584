"""A ticket and its graph, for commands that take them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from teddy.errors import InputError
from teddy.store.atomic import StrPath

if TYPE_CHECKING:
    from torch import nn
    from torch_geometric.data import Data, HeteroData

    from teddy.ticket import Ticket

TicketFile = Annotated[Path, Argument(help="A ticket file, or hub:owner/name.")]
TicketDataset = Annotated[
    str | None, Argument(help="Its graph: a name, file or folder; default: the one it names.")
]
TicketSplit = Annotated[str | None, Option(help="As of teddy find; default: the ticket's.")]
TicketSplitSeed = Annotated[
    int | None, Option(help="Seed of a split that is drawn; default: the ticket's.")
]


def load_ticket(
    path: StrPath, module: str | None, graph: Callable[[], Any] | None = None
) -> Ticket:
    """Load a ticket, of the user's own module with ``FILE.py:NAME``.

    Args:
        path: The ticket.
        module: The module, or a class or function that makes one, perhaps from ``data``.
        graph: Loads the data, where a function needs them.
    """
    from teddy.ticket import Ticket

    return Ticket.load(path, None if module is None else _own_module(module, graph))


def _own_module(place: str, graph: Callable[[], Any] | None) -> nn.Module:
    from torch import nn

    from teddy.methods.plugin import load_object
    from teddy.models.own_module import needed_arguments

    found = load_object(place)
    if callable(found) and not isinstance(found, nn.Module):
        needs_data = graph is not None and needed_arguments(found) == ["data"]
        given = [graph()] if needs_data and graph is not None else []
        try:
            found = found(*given)
        except Exception as error:
            of_data = " or of data" if graph is not None else ""
            raise InputError(
                f"{place}: calling it failed ({type(error).__name__}: {error}), expected a module, "
                f"or a class or function that makes one without arguments{of_data}"
            ) from None
    if not isinstance(found, nn.Module):
        raise InputError(f"{place}: is of type {type(found).__name__}, expected a torch.nn.Module")
    return found


def load_graph(
    ticket: Path,
    info: Any,
    dataset: str | None,
    split: str | None,
    split_seed: int | None,
    nodes: Path | None,
    data_dir: Path | None,
) -> Data | HeteroData:
    """Load a graph for a ticket, by default the one that it names.

    Labels may be missing, and have the ticket's numbers. A split that is asked for must be there,
    or be drawn; the ticket's own is drawn if it can be.
    """
    from teddy.data import load_to_predict
    from teddy.data.hetero import target_nodes, with_target_nodes
    from teddy.data.links import with_links
    from teddy.ticket.links import linked

    names: list[str] = []
    if "classes" in info.graph:
        names = info.classes or [str(number) for number in range(info.graph["classes"])]
    dataset = _dataset(ticket, info, dataset)
    hetero = info.hetero or {}
    target = hetero.get("target")
    directed = (hetero or info.graph).get("directed", False)
    data = load_to_predict(
        dataset, classes=names, data_dir=data_dir, nodes=nodes, task=info.task["name"],
        directed=directed, target=target,
        self_loops=info.graph.get("self_loops", False),
        integers="integer_x" in info.graph,
    )  # fmt: skip
    if info.links is not None:
        if split is not None or split_seed is not None:
            own = None if info.split_seed is None else info.split
            return with_links(data, split or own, split_seed or 0, dataset)
        return linked(info, data, labelled=False, source=dataset)
    if target is not None:
        found = _with_split(target_nodes(data, target), info, split, split_seed, dataset)
        return with_target_nodes(data, target, found)
    return _with_split(data, info, split, split_seed, dataset)


def _with_split(
    data: Data, info: Any, split: str | None, split_seed: int | None, dataset: str
) -> Data:
    """A graph with the masks of a split that is asked for, or of the ticket's if it can be."""
    from teddy.data import split_nodes
    from teddy.data.checks import MASKS
    from teddy.data.splits import split_number

    asked = split is not None
    if not asked:
        split, split_seed = info.split, info.split_seed if split_seed is None else split_seed
    if split in ("public", "given") or split_number(split) is not None:
        return _came(data, str(split), asked, dataset)
    try:
        if data.get("y") is None:
            raise InputError(f"{dataset}: no labels, expected some to draw the split '{split}'")
        masks = split_nodes(data.y, str(split), split_seed or 0)
    except InputError:
        if asked:
            raise
        return data
    for key, mask in zip(MASKS, masks, strict=True):
        data[key] = mask
    return data


def _came(data: Data, split: str, asked: bool, dataset: str) -> Data:
    """A graph with the masks of a split that came with it, or without any."""
    from teddy.data.checks import MASKS
    from teddy.data.splits import CHOICES, one_split, same_split, split_number

    if MASKS[0] not in data:
        if asked:
            raise InputError(f"{dataset}: no split came with it, pass split as {CHOICES}")
        return data
    if asked and split_number(split) is not None:
        return one_split(data, split, source=dataset)
    try:
        return same_split(data, split, dataset)
    except InputError:
        if asked:
            raise
        for key in MASKS:  # of other splits than the ticket's
            del data[key]
        return data


def _dataset(ticket: Path, info: Any, dataset: str | None) -> str:
    from teddy.data import DATASETS

    if dataset is None and info.dataset not in DATASETS:
        raise InputError(
            f"{ticket}: found on '{info.dataset}', expected its graph: a name, file or folder "
            "after the ticket"
        )
    return dataset or str(info.dataset)
