"""Every script under examples/ runs as it is and gives its documented result."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

import teddy
from cli.command import run_forked
from teddy.sparsity import num_kept_weights
from teddy.tasks import TASKS
from teddy.weights import count_nonzero

FOLDER = Path(__file__).parents[1] / "examples"
MAIN = sys.modules["__main__"]


def metric_of(ticket):
    return ticket.info.ticket.test


def is_pruned(weights):
    """Whether 90% of the entries of all matrices, and no bias, are zero."""
    matrices = [weight for weight in weights if weight.dim() >= 2]
    biases = [weight for weight in weights if weight.dim() < 2]
    kept, total = count_nonzero(matrices), sum(weight.numel() for weight in matrices)
    return kept == num_kept_weights(0.9, total) and count_nonzero(biases) == sum(map(len, biases))


#: What must hold of the variables that a script ends with.
SHOWS = {
    "own_module": lambda v: metric_of(v["again"]) == v["ticket"].info.ticket.test > 50,
    "edge_weights": lambda v: (
        min(metric_of(v["weighted"]), metric_of(v["by_degree"])) > metric_of(v["plain"]) + 20
        and not v["weighted"].keep.equal(v["by_degree"].keep)
    ),
    "edge_attributes": lambda v: metric_of(v["ticket"]) > metric_of(v["blind"]) + 10,
    "directed": lambda v: metric_of(v["ticket"]) > metric_of(v["undirected"]) + 5,
    "class_weights": lambda v: v["recalls"]["balanced"] > v["recalls"]["None"],
    "multilabel": lambda v: metric_of(v["ticket"]) > 75 and v["predicted"].shape == (300, 4),
    "own_task": lambda v: (
        metric_of(v["ticket"]) > 10
        and (v["folder"] / "report.html").stat().st_size > 10_000
        and "edge-regression" in (v["folder"] / "report.html").read_text()
    ),
    "regression": lambda v: metric_of(v["ticket"]) > 60 and v["predicted"].min() > 100_000,
    "hetero": lambda v: (
        metric_of(v["ticket"]) > 70
        and min(part["kept"] for part in v["ticket"].info.hetero["relations"]) == 108
        and min(part["kept"] for part in v["together"].info.hetero["relations"]) == 0
        and v["sparse"].num_edges < v["data"].num_edges / 2
    ),
    "molecules": lambda v: (
        min(metric_of(v["own"]), metric_of(v["gcn"])) > 55  # the largest class: 45
        and v["predicted"].shape == (2,)
        and [graph.num_edges for graph in v["sparse"]] == [6, 8]
    ),
    "plain_torch_loop": lambda v: is_pruned(v["weights"]) and v["best"]["test"] > 55,
    "lightning_loop": lambda v: is_pruned(v["weights"]) and v["result"]["test"] > 55,
}


def test_every_example_is_tested():
    assert SHOWS.keys() == {path.stem for path in FOLDER.glob("*.py")}


def test_the_graph_that_the_readme_prunes():
    data = teddy.load_dataset(FOLDER / "my-graph", split="20/40/40")
    assert data.class_names == ["biology", "physics", "sociology"]
    ticket = teddy.find_ticket(data, "gcn", epochs=60)
    assert ticket.info.edges.total == 89
    assert metric_of(ticket) > 70  # the largest class: 42


def run_loaded(command, check):
    """Run a script's ``python -m teddy ...`` in a process that has loaded the library."""
    assert (command[:3], check) == ([sys.executable, "-m", "teddy"], True)
    with patch.dict(sys.modules, {"__main__": MAIN}):  # a new process would import the script
        done = run_forked(*command[3:])
    assert done.returncode == 0, done.stderr
    print(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("name", SHOWS)
@pytest.mark.filterwarnings("ignore")  # those of Lightning
def test_every_example_gives_its_documented_result(name, tmp_path, monkeypatch, capsys):
    if name == "lightning_loop":
        pytest.importorskip("lightning")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setattr(subprocess, "run", run_loaded)
    known = set(TASKS)
    variables = runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    for task in set(TASKS) - known:  # the script's own
        del TASKS[task]
    assert SHOWS[name](variables)
    assert "%" in capsys.readouterr().out
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == {"own_module": ["mine.ticket"], "own_task": ["runs"]}.get(name, [])
