"""Every setting, through every entry point, reaches the training with the value asked for."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import HeteroData

import teddy
import teddy.methods.problem as problem_module
from cli.command import refused, run_here, save_npz
from conftest import small_graph
from hetero_graphs import library
from teddy.methods.make_problem import load_data, tuned_settings
from teddy.methods.plugin import read_model
from teddy.methods.spec import COMMON
from teddy.settings import ENTRIES, MODEL_ENTRIES, Settings, WeightBudget, declared_settings
from teddy.sparsity import schedule_sparsity
from teddy.training import train

pytest.importorskip("optuna")
pytest.importorskip("pymetis")

LEVEL = 20
BASE = {"epochs": 3, "hidden_channels": 8, "split": "30/30/40"}


@dataclass(frozen=True)
class Case:
    """Another value of a setting.

    Attributes:
        value: The value.
        changes: What it changes of a training: values by key, or the keys.
        base: Settings of both trainings.
        data: Name of the data set's file.
        model: The model.
    """

    value: Any
    changes: dict[str, Any] | set[str]
    base: dict[str, Any] = field(default_factory=lambda: BASE)
    data: str = "graph.npz"
    model: str = "gcn"


def same(name: str, value: Any, **more: Any) -> Case:
    """A value that is seen under the setting's own name."""
    return Case(value, {name: value}, **more)


INDUCTIVE = {**BASE, "inductive": True}
HETERO = {"epochs": 3, "target": "paper"}
STRENGTH = tuned_settings("citeseer", "gcn").get("distill")

CASES: dict[str, Case] = {
    **{name: same(name, value) for name, value in {
        "epochs": 2, "lr": 0.02, "weight_decay": 0.1, "distill": 3.0, "temperature": 2.0,
        "divergence": "sparse-dense", "patience": 1, "distill_nodes": "training",
        "evaluate_every": 2, "weight_scope": "matrix", "weight_exclude": ("weights.0",),
        "weight_schedule": "cubic", "threads": 3, "hidden_channels": 4, "num_layers": 3,
    "dropout": 0.1,
    }.items()},
    "weight_ramp": same("weight_ramp", 0.2, base={**BASE, "weight_schedule": "linear"}),
    "loader": same("loader", "partitions:parts=3:batch=2:together=2"),
    "heads": same("heads", 2, model="gat"),
    "tuned": Case(True, {"distill": STRENGTH}, {"epochs": 1, "hidden_channels": 4}, "citeseer"),
    "split": Case("50/25/25", {"masks"}),
    "split_seed": Case(1, {"masks"}),
    "nodes": Case("other.csv", {"y"}, {**BASE, "nodes": "usual.csv"}, "edges.csv"),
    "task": Case("regression", {"task", "y"}),
    "class_weight": Case("1,2,3", {"class_weight": [1.0, 2.0, 3.0]}),
    "directed": Case(True, {"messages", "symmetric"}, data="directed.npz"),
    "inductive": Case(True, {"masks", "messages", "unseen", "y"}),
    "inference": Case("none", {"unseen"}, INDUCTIVE),
    "target": Case("author", {"target", "masks", "y"}, HETERO, "library.pt", "net.py:net"),
    "budget": Case("all", {"messages"}, HETERO, "library.pt", "net.py:net"),
}  # fmt: skip

#: Settings whose wrong value every entry point refuses, since the right one is elsewhere.
REFUSED = {
    "data_dir": ("cora", "nothing-here", "nothing-here"),
    "device": ("graph.npz", "meta", "device is 'meta'"),
}


def observed(model: Any, data: Any, config: Any, **named: Any) -> dict[str, Any]:
    """Everything that a training is given, as plain values by the settings' names."""
    budget, task, unseen = named["budget"], named["task"], named["evaluation_graphs"]
    edges = data.edge_index
    if isinstance(edges, Tensor):
        pairs = {tuple(pair) for pair in edges.t().tolist()}
        messages: Any = edges.size(1)
        symmetric = pairs == {pair[::-1] for pair in pairs}
    else:  # relations of a heterogeneous graph
        messages = {kind: found.size(1) for kind, found in edges.edge_index_dict.items()}
        symmetric = None
    weight, options = getattr(task, "weight", None), getattr(model, "options", {})
    return {
        **{name: value for name, value in vars(config).items() if name not in ("loader", "tuned")},
        **{e.name: getattr(budget, e.attribute) for e in declared_settings(WeightBudget)},
        **{name: options.get(name) for name in MODEL_ENTRIES},
        "loader": None if named["loader"] is None else str(named["loader"]),
        "task": task.name,
        "class_weight": None if weight is None else weight.tolist(),
        "y": data.y.tolist(),
        "masks": [data[name].tolist() for name in ("train_mask", "val_mask", "test_mask")],
        "messages": messages,
        "symmetric": symmetric,
        "unseen": unseen and [graph.edge_index.size(1) for graph in (unseen.val, unseen.test)],
        "target": getattr(edges, "target", None),
        "weight_sparsity": named["weight_sparsity"],
        "threads": torch.get_num_threads(),
    }


def python(data: str, model: str, method: str, settings: dict[str, Any]) -> None:
    tree = Settings.from_dict(settings)
    loaded = load_data(data, tree)
    rest = {k: v for k, v in settings.items() if k not in {e.name for e in LOADING}}
    sparsity = schedule_sparsity(LEVEL)
    teddy.find_ticket(loaded, read_model(model), sparsity, sparsity, method=method, **rest)


LOADING = declared_settings(teddy.settings.DataConfig)


def options(settings: dict[str, Any]) -> list[str]:
    """Settings as the command line takes them."""
    found: list[str] = []
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(flag)
        else:
            values = value if isinstance(value, tuple) else (value,)
            found += [part for one in values for part in (flag, str(one))]
    return found


def command(line: str, data: str, model: str, method: str, settings: dict[str, Any]) -> None:
    name, *rest = line.format(data=data, model=model, method=method).split()
    done = run_here(name, *rest, *options(settings), "--json", cwd=".")
    if done.returncode == 2:
        raise teddy.InputError(refused(done))
    assert done.returncode == 0, done.stderr


SPARSITY = schedule_sparsity(LEVEL)
ENTRY_POINTS = {
    "python": python,
    "find": partial(command, "find {data} --model {model} --method {method} "
                    f"--graph-sparsity {SPARSITY} --weight-sparsity {SPARSITY}"),
    "sweep": partial(command, "sweep {data} --models {model} --methods {method} "
                     f"--levels {LEVEL} --seeds 1 --out out"),
    "search": partial(command, "search {data} --model {model} --method {method} "
                      f"--max-level {LEVEL} --step {LEVEL} --seeds 2 --tolerance 99 --out out"),
    "tune": partial(command, "tune {data} --model {model} --method {method} "
                    f"--level {LEVEL} --trials 1 --seeds 1 --out out"),
}  # fmt: skip

NET = """
import torch
from torch_geometric.nn import SAGEConv, to_hetero

class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = SAGEConv((-1, -1), 4), SAGEConv((4, 4), 3)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)

def net(data):
    return to_hetero(Layers(), data.metadata())
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory):
    """The data sets of all cases."""
    folder = tmp_path_factory.mktemp("files")
    save_npz(folder / "graph.npz")
    graph = small_graph()
    once = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    save_npz(folder / "directed.npz", edge_index=once.numpy())
    rows = (f"{a},{b}" for a, b in graph.edge_index.t().tolist())
    (folder / "edges.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    for name, shift in (("usual.csv", 0), ("other.csv", 1)):
        rows = (f"{i},{i % 7},{(y + shift * (i % 2)) % 3}" for i, y in enumerate(graph.y.tolist()))
        (folder / name).write_text("\n".join(["id,f0,label", *rows]) + "\n")
    hetero: HeteroData = library(papers=30)
    authors = hetero["author"]
    authors.y = torch.arange(authors.num_nodes) % 3
    for number, mask in enumerate(("train_mask", "val_mask", "test_mask")):
        authors[mask] = torch.arange(authors.num_nodes) % 4 == number
    torch.save(hetero, folder / "library.pt")
    (folder / "net.py").write_text(NET)
    return folder


#: Trainings that several tests compare with.
KNOWN: dict[tuple[str, ...], dict[str, Any]] = {}


@pytest.fixture
def sparse_training(files, tmp_path, monkeypatch):
    """A function that runs an entry point and returns what its last sparse training was given."""
    seen: list[dict[str, Any]] = []

    def watched(model, data, config, **named):
        if named["weight_sparsity"] > 0:
            seen.append(observed(model, data, config, **named))
        return train(model, data, config, **named)

    monkeypatch.setattr(problem_module, "train", watched)
    # A study in memory: the tables of one on the disk take longer than its training.
    study = lambda optuna, folder: optuna.create_study(direction="maximize")  # noqa: E731
    monkeypatch.setattr(import_module("teddy.sweep.tune"), "_study", study)
    for file in files.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)

    def run(entry: str, case: Case, settings: dict[str, Any], method: str = "teddy"):
        key = entry, case.data, case.model, method, str(settings)
        if key not in KNOWN:
            shutil.rmtree("out", ignore_errors=True)
            seen.clear()
            ENTRY_POINTS[entry](case.data, case.model, method, settings)
            KNOWN[key] = seen[-1]
        return KNOWN[key]

    return run


def changes(plain: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in other.items() if value != plain[name]}


def check(case: Case, found: dict[str, Any]) -> None:
    expected = case.changes
    assert (found if isinstance(expected, dict) else found.keys()) == expected


def test_every_setting_has_a_case():
    assert {*ENTRIES, *MODEL_ENTRIES} == {*CASES, *REFUSED}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("name", CASES)
def test_a_setting_reaches_the_training(sparse_training, name, entry):
    case = CASES[name]
    plain = sparse_training(entry, case, case.base)
    check(case, changes(plain, sparse_training(entry, case, {**case.base, name: case.value})))


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("name", REFUSED)
def test_a_setting_that_cannot_hold_is_refused(sparse_training, name, entry):
    data, value, line = REFUSED[name]
    with pytest.raises(teddy.InputError, match=line):
        sparse_training(entry, Case(value, {}, data=data), {**BASE, name: value})


#: Options that every method has, as they are written behind its name.
OPTIONS = {
    **{name: CASES[name] for name in COMMON if name in CASES},
    "weight_exclude": CASES["weight_exclude"],
    "only": Case("weights", {"messages"}),
    "weight_level": Case(5, {"weight_sparsity": schedule_sparsity(5)}),
}


def test_every_option_of_all_methods_has_a_case():
    assert OPTIONS.keys() == COMMON.keys()


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_the_method_reaches_the_training(sparse_training, name, entry):
    case = OPTIONS[name]
    plain = sparse_training(entry, case, case.base)
    text = "+".join(case.value) if isinstance(case.value, tuple) else case.value
    check(case, changes(plain, sparse_training(entry, case, case.base, f"teddy:{name}={text}")))


def test_keywords_that_load_a_data_set_are_refused_with_a_loaded_one():
    for name in ("data_dir", "nodes", "split_seed"):
        with pytest.raises(teddy.InputError, match=f"{name} is .*, expected it in load_dataset"):
            teddy.find_ticket(small_graph(), "gcn", epochs=1, **{name: 1})
