"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from teddy.errors import InputError

Dataset = Annotated[
    str,
    typer.Argument(help="A name (see `teddy datasets`), or a graph's file or folder."),
]
Nodes = Annotated[
    Path | None,
    typer.Option("--nodes", help="Node table, where DATASET is an edge list.", show_default=False),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="TEDDY_DATA",
        help="Folder with raw data sets in PyG's layout, instead of a download.",
        show_default=False,
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="public, random, or shares such as 20/40/40; of several splits that the data has, a "
        "number (default: the seed's); default: the split the data has.",
        show_default=False,
    ),
]
TaskName = Annotated[
    str,
    typer.Option(
        "--task",
        help="What nodes have: classification (a class), multilabel (0 and 1 for each label) or "
        "regression (numbers); or link-prediction (edges are held out, by --split 85/5/10), "
        "or graph-classification (a class of each graph of a set).",
    ),
]
Directed = Annotated[
    bool, typer.Option("--directed", help="Messages run along edges as they are listed only.")
]
Load = Annotated[
    list[Path] | None,
    typer.Option(
        "--load",
        help="A Python file that registers methods or edge scores of your own; may be repeated.",
        show_default=False,
    ),
]
OwnModule = Annotated[
    str | None,
    typer.Option(
        "--module",
        metavar="FILE.py:NAME",
        help="Of a ticket of a module of your own: the module, or a class or function that makes "
        "one without arguments, in a Python file.",
        show_default=False,
    ),
]
Tuned = Annotated[
    bool,
    typer.Option("--tuned", help="Lambda that was tuned for the paper's data sets and models."),
]
# Names in braces are defaults of models and methods: teddy.cli.defaults.
Hidden = Annotated[
    int | None,
    typer.Option(help="Hidden units, of each head in gat and unimp: {hidden}.", show_default=False),
]
Layers = Annotated[int | None, typer.Option(help="Layers: {layers}.", show_default=False)]
Heads = Annotated[int | None, typer.Option(help="Heads: {heads}.", show_default=False)]
DropoutShare = Annotated[float | None, typer.Option(help="Dropout: {dropout}.", show_default=False)]
Epochs = Annotated[int, typer.Option(help="Epochs of each training.")]
LearningRate = Annotated[
    float | None,
    typer.Option(help="Learning rate: {lr}.", show_default=False),
]
WeightDecay = Annotated[
    float | None,
    typer.Option(help="L2 penalty: {weight_decay}.", show_default=False),
]
WeightScope = Annotated[
    str | None,
    typer.Option(
        "--weight-scope",
        help="Weights that are compared: global (all, the paper's), matrix or balanced (each "
        "matrix by itself); default: global for built-in models.",
        show_default=False,
    ),
]
WeightExclude = Annotated[
    list[str] | None,
    typer.Option(
        "--weight-exclude",
        help="Parameters that stay dense, by a pattern of their name or by a module class: "
        "'*.bias', Embedding; may be repeated.",
        show_default=False,
    ),
]
WeightSchedule = Annotated[
    str | None,
    typer.Option(
        "--weight-schedule",
        help="constant, or linear or cubic: the weight sparsity rises; default: constant.",
        show_default=False,
    ),
]
WeightRamp = Annotated[
    float | None,
    typer.Option(
        "--weight-ramp",
        help="Share of the epochs after which a rising weight sparsity is full: 0.5.",
        show_default=False,
    ),
]
Temperature = Annotated[float, typer.Option(help="Of the distillation.")]
Divergence = Annotated[
    str, typer.Option(help="dense-sparse (published code) or sparse-dense (paper's text).")
]
Patience = Annotated[
    int | None, typer.Option(help="Early stopping, in epochs.", show_default=False)
]
SplitSeed = Annotated[int, typer.Option(help="Seed of a split that is drawn.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1, ...")]
Report = Annotated[
    Path | None,
    typer.Option("--report", help="Write an HTML page of the results here.", show_default=False),
]
Inductive = Annotated[
    bool,
    typer.Option(
        "--inductive",
        help="Training sees the training nodes and the edges between them only, as with "
        "--split 20/40/40; how the grown graph is pruned is the method's option: "
        "teddy:inference=training.",
    ),
]
LoaderWord = Annotated[
    str | None,
    typer.Option(
        "--loader",
        help="Train on batches of the graph's partitions, as partitions:parts=32:batch=4; "
        "torchrun's processes share them.",
        show_default=False,
    ),
]
EvaluateEvery = Annotated[
    int | None,
    typer.Option(help="Epochs from one validation to the next: 1.", show_default=False),
]
CheckpointFolder = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        help="Keep in this folder how far it is; the same command goes on from there.",
        show_default=False,
    ),
]
CheckpointSeconds = Annotated[
    float, typer.Option(help="From one writing of a checkpoint to the next.")
]
Track = Annotated[
    list[str] | None,
    typer.Option(
        "--track",
        help="Follow it with tensorboard:FOLDER, mlflow[:EXPERIMENT] or wandb[:PROJECT]; may be "
        "repeated.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def words(text: str) -> list[str]:
    """What stands between commas.

    Example:
        >>> words("gcn, gin,")
        ['gcn', 'gin']
    """
    return [word.strip() for word in text.split(",") if word.strip()]


def report_tuned(datasets: Iterable[str], models: Iterable[str]) -> None:
    """Say for which data sets and models there is nothing tuned."""
    from teddy.sweep.tuned import tuned_settings

    for dataset, model in product(datasets, models):
        if not tuned_settings(dataset, model):
            print(f"teddy: nothing tuned for {model} on {dataset}; the default", file=sys.stderr)


def check_report(page: Path | None) -> None:
    """Raise before the work if a page is wanted that can't be made."""
    if page is not None and find_spec("plotly") is None:
        raise InputError("a report needs plotly: pip install 'teddy-glt[report]'")
