"""Names of all built-in entries, without an import of torch.

Completion reads them, and the command line checks names before it imports other modules. A test
compares them with the registries.
"""

from __future__ import annotations

import os
from pathlib import Path

#: Data sets, see :data:`teddy.data.DATASETS`.
DATASETS = (
    "citeseer", "pubmed", "solubility", "cora", "computers", "photo", "cs", "physics",
    "roman-empire", "amazon-ratings", "minesweeper", "tolokers", "questions",
    "chameleon-filtered", "squirrel-filtered", "arxiv", "arxiv-surrogate", "reddit",
)  # fmt: skip
#: Models, see :data:`teddy.models.MODELS`.
MODELS = ("gcn", "gat", "gin", "sage", "unimp", "nagphormer", "specformer")
#: Edge scores, see :data:`teddy.prune.SCORES`.
SCORES = (
    "teddy", "degree-high", "degree-low", "two-hop", "random", "k-neighbor", "local-degree",
    "forest-fire", "resistance", "gain", "serving", "agreement", "k-agreement", "cosine",
    "label-propagation",
)  # fmt: skip
#: Edge scores of tables, see :mod:`teddy.scale.scores`.
TABLE_SCORES = ("teddy", "degree-high", "degree-low", "two-hop", "resistance", "random")
#: Methods, see :data:`teddy.methods.METHODS`; every edge score is one.
METHODS = ("auto", *SCORES, "ugs", "wd-glt")
#: Tasks, see :data:`teddy.tasks.TASKS`.
TASKS = ("classification", "multilabel", "regression", "link-prediction", "graph-classification")
#: Trackers, see :data:`teddy.tracking.TRACKERS`.
TRACKERS = ("mlflow", "tensorboard", "wandb")


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Expand a leading ``~``, unless there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def is_path(dataset: str | os.PathLike[str]) -> bool:
    """Return True for a data set that is a path, not a name.

    Example:
        >>> is_path("Cora"), is_path("citeser"), is_path("graph.npz")
        (False, False, True)
    """
    if not isinstance(dataset, str):
        return True
    if not dataset or dataset.lower() in DATASETS:
        return False
    path = expand_home(dataset)
    return os.sep in dataset or bool(path.suffix) or path.exists()


def is_in_file(model: str) -> bool:
    """Return True for a model of the form ``FILE.py:NAME``.

    Example:
        >>> is_in_file("net.py:Net"), is_in_file("gat:heads=4")
        (True, False)
    """
    return model.rpartition(":")[0].endswith(".py")
