"""The graph of a ticket, for commands that take one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teddy.errors import InputError

if TYPE_CHECKING:
    from torch_geometric.data import Data

TicketFile = Annotated[Path, typer.Argument(help="A ticket file, or hub:owner/name.")]
TicketDataset = Annotated[
    str | None,
    typer.Argument(
        help="Its graph: a name, file or folder; default: the one it names.", show_default=False
    ),
]
TicketSplit = Annotated[
    str | None,
    typer.Option("--split", help="As of teddy find; default: the ticket's.", show_default=False),
]
TicketSplitSeed = Annotated[
    int | None,
    typer.Option(
        "--split-seed",
        help="Seed of a split that is drawn; default: the ticket's.",
        show_default=False,
    ),
]


def load_graph(
    ticket: Path,
    info: Any,
    dataset: str | None,
    split: str | None,
    split_seed: int | None,
    nodes: Path | None,
    data_dir: Path | None,
) -> Data:
    """Load a graph for a ticket, by default the one that it names, with the ticket's split."""
    from teddy.data import DATASETS, load_dataset

    if dataset is None and info.dataset not in DATASETS:
        raise InputError(
            f"{ticket}: found on '{info.dataset}', expected its graph: a name, file or folder "
            "after the ticket"
        )
    if split is None and info.split != "given":
        split = info.split
        split_seed = info.split_seed if split_seed is None else split_seed
    return load_dataset(
        dataset or info.dataset, split=split, seed=split_seed or 0, data_dir=data_dir, nodes=nodes
    )
