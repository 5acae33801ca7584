"""A ticket and its graph, for commands that take them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from teddy import names
from teddy.cli.completion import complete
from teddy.cli.options import option
from teddy.errors import InputError
from teddy.store.atomic import StrPath

if TYPE_CHECKING:
    from torch import nn
    from torch_geometric.data import Data, HeteroData

    from teddy.ticket import Ticket

TicketFile = Annotated[Path, Argument(help="Ticket file, or hub:owner/name.")]
TicketDataset = Annotated[
    str | None,
    Argument(
        help="Graph: a name, file or folder; default: the ticket's own.",
        autocompletion=complete(names.DATASETS),
    ),
]
TicketSplit = Annotated[
    str | None, option("Data", "Split of the nodes, as in `teddy find`; default: the ticket's.")
]
TicketSplitSeed = Annotated[
    int | None, option("Data", "Seed of a drawn split; default: the ticket's.")
]


def load_ticket(
    path: StrPath, module: str | None, graph: Callable[[], Any] | None = None
) -> Ticket:
    """Load a ticket, perhaps with the user's own module, ``FILE.py:NAME``.

    Args:
        path: The ticket.
        module: The module, or a class or function that makes one, perhaps from ``data``.
        graph: Function that loads the data for a module that needs them.
    """
    from teddy.ticket import Ticket

    return Ticket.load(path, None if module is None else _own_module(module, graph))


def _own_module(place: str, graph: Callable[[], Any] | None) -> nn.Module:
    from torch import nn

    from teddy.methods.plugin import load_object
    from teddy.models.own_module import needed_arguments

    module = load_object(place)
    if callable(module) and not isinstance(module, nn.Module):
        needs_data = graph is not None and needed_arguments(module) == ["data"]
        arguments = [graph()] if needs_data and graph is not None else []
        try:
            module = module(*arguments)
        except Exception as error:
            data_text = " or from data" if graph is not None else ""
            raise InputError(
                f"{place}: calling it failed ({type(error).__name__}: {error}), expected a module, "
                f"or a class or function that makes one without arguments{data_text}"
            ) from None
    if not isinstance(module, nn.Module):
        raise InputError(f"{place} is of type {type(module).__name__}, expected a torch.nn.Module")
    return module


def load_graph(
    ticket: Path,
    info: Any,
    dataset: str | None,
    split: str | None,
    split_seed: int | None,
    nodes: Path | None,
    data_dir: Path | None,
) -> Data | HeteroData:
    """Load a graph for a ticket, by default the ticket's own.

    Labels may be missing, and are numbered as in the ticket. A requested split must exist or be
    drawn; the ticket's own is drawn where possible.
    """
    from teddy.tasks import load_for_ticket

    dataset = _dataset(ticket, info, dataset)
    return load_for_ticket(dataset, info, split, split_seed, nodes, data_dir)


def _dataset(ticket: Path, info: Any, dataset: str | None) -> str:
    if dataset is None and info.dataset not in names.DATASETS:
        raise InputError(
            f"{ticket}: found on '{info.dataset}', expected its graph: a name, file or folder "
            "after the ticket"
        )
    return dataset or str(info.dataset)
