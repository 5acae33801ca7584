"""Rules that shorten commands of the documentation, and the files that they need."""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

import numpy as np
from pyarrow import csv, parquet

import teddy
from teddy.sweep import Grid, Settings, run_sweep
from teddy.training import TrainConfig
from tools.check_docs.blocks import ROOT

#: Options and values by command that replace those on the page, or are added.
OPTIONS: dict[str, dict[str, str | None]] = {
    "find": {"--epochs": "2", "--hidden-channels": "8", "--seeds": "1"},
    "sweep": {
        "--epochs": "1", "--hidden-channels": "4", "--seeds": "1", "--levels": "0,1",
        "--jobs": "1",
    },
    "search": {"--epochs": "1", "--hidden-channels": "4", "--seeds": "3", "--max-level": "2",
        "--step": "2"},
    "tune": {
        "--epochs": "1", "--hidden-channels": "4", "--seeds": "1", "--trials": "1", "--jobs": "1",
    },
    "reproduce": {"--dry-run": None},
    "bench": {"--epochs": "3", "--models": "gcn"},
    "benchmarks.make_edges": {"--edges": "5000", "--nodes": "500"},
}  # fmt: skip
#: Words by command with which it computes little, so that it is not shortened.
CHEAP = {"sweep": {"--summary"}, "reproduce": {"--no-run", "--dry-run"}, "bench": {"my.ticket"}}
#: Small graphs for commands with many trainings and for data sets that are not bundled.
SMALL = {
    "citeseer": "my-graph/",
    "arxiv-surrogate": "my-graph/",
    "cora": "other-graph/",
    "pubmed": "my-graph/",
}
ALL_SMALL = ("sweep", "search", "tune")
#: Reasons why commands with a word are parsed only.
PARSED = {
    "push": "writes to the Hugging Face Hub",
    "serve": "runs until it is stopped",
    "hub:": "reads from the Hugging Face Hub",
    "wandb:": "needs an account",
    "--module": "takes a ticket of your own module",
}


def shortened(words: list[str]) -> list[str]:
    """Return the words after ``teddy`` or ``python -m``, shortened to a run of seconds.

    Example:
        >>> shortened(["find", "cora", "--seeds", "5", "--epochs", "90"])
        ['find', 'other-graph/', '--seeds', '1', '--epochs', '2', '--hidden-channels', '8']
    """
    name, *rest = words
    if name in OPTIONS and not CHEAP.get(name, set()) & set(rest):
        for option, value in OPTIONS[name].items():
            if option in rest and value is not None:
                rest[rest.index(option) + 1] = value
            elif option not in rest:
                rest += [option] if value is None else [option, value]
    if (
        any(".py:" in word for word in rest) and "--hidden-channels" in rest
    ):  # an option of our models
        place = rest.index("--hidden-channels")
        rest = rest[:place] + rest[place + 2 :]
    small = [w for w in SMALL if w != "citeseer" or name in ALL_SMALL]
    if name == "find" or name in ALL_SMALL:
        rest = [SMALL[word] if word in small else word for word in rest]
    return [name, *rest]


def reason_to_parse(words: list[str]) -> str | None:
    """Return the reason why a command is not run, or None.

    Example:
        >>> reason_to_parse(["predict", "hub:me/it"])
        'reads from the Hugging Face Hub'
    """
    for start, reason in PARSED.items():
        if any(word.startswith(start) for word in words):
            return reason
    return None


def prepare(folder: Path) -> None:
    """Write the files that the commands need: graphs, tickets, tables, a sweep."""
    for example in (Path("examples", "my-graph"), Path("examples", "my-library")):
        shutil.copytree(ROOT / example, folder / example)
    shutil.copy(ROOT / "examples" / "own_task.py", folder)
    random = np.random.default_rng(0)
    ends, values = random.integers(0, 40, (2, 200)), random.random(200)
    ends, once = np.unique(np.sort(ends, axis=0), axis=1, return_index=True)
    np.savez(folder / "ratings.npz", x=random.random((40, 3)), edge_index=ends,
             edge_weight=values[once])  # fmt: skip
    write_graph(folder / "my-graph", 0, 1400)
    write_graph(folder / "later", 0, 1410)
    write_graph(folder / "other-graph", 1, 1400)
    table = csv.read_csv(folder / "my-graph" / "edges.csv")
    parquet.write_table(table, folder / "edges.parquet")
    with chdir(folder):
        for graph, ticket in (("citeseer", "my.ticket"), ("my-graph/", "mine.ticket")):
            data = teddy.load_dataset(graph)
            teddy.find_ticket(data, "gcn", epochs=1, hidden_channels=4).save(ticket)
        grid = Grid(["my-graph/"], ["gcn"], ["teddy", "ugs"], levels=[0, 1], seeds=range(2))
        settings = Settings(TrainConfig(epochs=1), model_options={"hidden_channels": 4})
        run_sweep(grid, "runs/x", settings, jobs=1)


def write_graph(folder: Path, seed: int, nodes: int) -> None:
    """Write two tables of a random graph; with one seed, larger graphs contain smaller ones."""
    folder.mkdir()
    random = np.random.default_rng(seed)
    ends = random.integers(0, 1400, (2, 3000))
    features = random.random((1400, 3)).round(3)
    later = np.arange(1400, nodes)
    ends = np.concatenate([ends, [later, later - 1400]], axis=1)
    lines = ["source,target", *(f"{a},{b}" for a, b in ends.T)]
    (folder / "edges.csv").write_text("\n".join(lines) + "\n")
    parts = ("train", "val", "test")
    rows = ["id,label,split,a,b,c"]
    for node in range(nodes):
        a, b, c = features[node % 1400]
        rows.append(f"{node},{'xyz'[node % 3]},{parts[node // 3 % 3]},{a},{b},{c}")
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n")
