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
    from teddy.tasks import load_for_ticket

    dataset = _dataset(ticket, info, dataset)
    return load_for_ticket(dataset, info, split, split_seed, nodes, data_dir)


def _dataset(ticket: Path, info: Any, dataset: str | None) -> str:
    from teddy.data import DATASETS

    if dataset is None and info.dataset not in DATASETS:
        raise InputError(
            f"{ticket}: found on '{info.dataset}', expected its graph: a name, file or folder "
            "after the ticket"
        )
    return dataset or str(info.dataset)
