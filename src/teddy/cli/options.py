"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from teddy.errors import InputError
from teddy.settings import ENTRIES

Dataset = Annotated[
    str, Argument(help="A name (see `teddy datasets`), or a graph's file or folder.")
]
ModelName = Annotated[
    str,
    Option(
        help="gcn, gat, gin, sage, unimp, nagphormer or specformer; options after colons, as in "
        "nagphormer:hops=3. Or FILE.py:NAME: your own module, or a function that makes one."
    ),
]
Nodes = Annotated[Path | None, Option(help=ENTRIES["nodes"].help)]
DataDir = Annotated[Path | None, Option(envvar="TEDDY_DATA", help=ENTRIES["data_dir"].help)]
Load = Annotated[
    list[Path] | None,
    Option(help="A Python file that registers your own methods, scores or tasks; may be repeated."),
]
OwnModule = Annotated[
    str | None,
    Option(
        metavar="FILE.py:NAME",
        help="Your own module, for a ticket of it: the module, or a class or function that makes "
        "one, without arguments or from data, in a Python file.",
    ),
]
Report = Annotated[Path | None, Option(help="Write an HTML page of the results here.")]
CheckpointFolder = Annotated[
    Path | None,
    Option(help="Keep in this folder how far it is; the same command goes on from there."),
]
CheckpointSeconds = Annotated[float, Option(help="From one writing of a checkpoint to the next.")]
Track = Annotated[
    list[str] | None,
    Option(
        help="Follow it with tensorboard:FOLDER, mlflow[:EXPERIMENT] or wandb[:PROJECT]; may be "
        "repeated."
    ),
]
Json = Annotated[bool, Option("--json", help="Print one JSON object.")]


def words(text: str) -> list[str]:
    """What stands between commas.

    Example:
        >>> words("gcn, gin,")
        ['gcn', 'gin']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def load_files(load: Iterable[Path] | None) -> None:
    """Run the Python files of ``--load``."""
    from teddy.methods.plugin import load_file

    for path in load or []:
        load_file(path)


def report_tuned(datasets: Iterable[str], models: Iterable[str]) -> None:
    """Say for which data sets and models there is nothing tuned."""
    from teddy.methods.make_problem import tuned_settings

    for dataset, model in product(datasets, models):
        if not tuned_settings(dataset, model):
            print(f"teddy: nothing tuned for {model} on {dataset}; the default", file=sys.stderr)


def check_report(page: Path | None) -> None:
    """Raise before the work if a page is wanted that can't be made."""
    if page is not None and find_spec("plotly") is None:
        raise InputError("a report needs plotly: pip install 'teddy-glt[report]'")
