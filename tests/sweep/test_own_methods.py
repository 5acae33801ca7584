"""Methods from a user's file, those that fail, die or take too much among them."""

from __future__ import annotations

import json
import re

import pytest

import teddy
from cli.command import run_forked
from sweep.sweeps import SETTINGS, grid_of
from teddy.methods import METHODS
from teddy.methods.plugin import load_file
from teddy.sweep import run_sweep
from teddy.sweep.worker import memory_limit


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_failures_are_recorded_and_retried(graph, tmp_path, jobs):
    plugin, switch = tmp_path / "mine.py", tmp_path / "fixed"
    plugin.write_text(
        "from pathlib import Path\n"
        "from teddy.methods import METHODS, method\n"
        "@method('half-broken')\n"
        "def search(problem, levels):\n"
        "    for level in levels:\n"
        f"        if level.graph_sparsity > 0.1 and not Path({str(switch)!r}).exists():\n"
        "            raise FileNotFoundError('no way')\n"
        "        yield from METHODS['random'].tickets(problem, [level])\n"
    )
    load_file(plugin)
    grid, out = grid_of(graph, ["half-broken", "teddy"]), tmp_path / "out"
    outcome = run_sweep(grid, out, SETTINGS, plugins=[plugin], jobs=jobs)
    assert outcome.computed == 10
    assert outcome.missing == 2
    assert {row["error"] for row in outcome.failures} == {"FileNotFoundError: no way"}
    assert {(row["simulation"], row["seed"]) for row in outcome.failures} == {(3, 0), (3, 1)}
    assert "Traceback" in outcome.failures[0]["details"]

    switch.touch()
    outcome = run_sweep(grid, out, SETTINGS, plugins=[plugin])
    assert (outcome.computed, outcome.missing, outcome.failures) == (2, 0, [])

    plugin.write_text(plugin.read_text() + "# edited\n")
    load_file(plugin)  # another content is loaded again
    with pytest.raises(
        teddy.InputError, match=r"holds results of .* half-broken with other methods"
    ):
        run_sweep(grid, out, SETTINGS, plugins=[plugin])


def test_a_process_that_is_killed_fails_alone(graph, tmp_path):
    plugin = tmp_path / "deadly.py"
    plugin.write_text(
        "import os, signal\n"
        "from teddy.methods import method\n"
        "@method('deadly')\n"
        "def search(problem, levels):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "    yield\n"
    )
    load_file(plugin)
    grid = grid_of(graph, ["deadly", "teddy"], [1], [0, 1])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, plugins=[plugin], jobs=2)
    assert outcome.computed == 2
    assert [row["method"] for row in outcome.failures] == ["deadly"] * 2
    assert "its process was killed" in outcome.failures[0]["error"]


def test_too_much_memory_is_a_failure_not_a_crash(graph, tmp_path):
    plugin = tmp_path / "greedy.py"
    plugin.write_text(
        "import torch\n"
        "from teddy.methods import method\n"
        "@method('greedy')\n"
        "def search(problem, levels):\n"
        "    for level in levels:\n"
        "        torch.ones(2 * 2**30, dtype=torch.int8)\n"
        "        yield problem.train_ticket('greedy', level, problem.graph.pairs[0] >= 0)\n"
    )
    load_file(plugin)
    grid = grid_of(graph, ["greedy", "teddy"], [1], [0])
    outcome = run_sweep(grid, tmp_path / "out", SETTINGS, plugins=[plugin], jobs=2, memory=1.5)
    assert outcome.computed == 1
    (failure,) = outcome.failures
    assert failure["error"] == "not enough memory, 1.5 GiB a job"


def test_the_memory_limit_ends_with_its_context():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with memory_limit(2**40):
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == 2**40
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_score_from_a_file_is_a_method(graph, tmp_path, jobs):
    plugin = tmp_path / "score.py"
    plugin.write_text(
        "from teddy.prune import SCORES\n"
        "@SCORES.register('id-sum')\n"
        "def id_sum(edges, signals, seed):\n"
        "    return edges.pairs.sum(dim=0).double()\n"
    )
    done = run_forked(
        "sweep", graph, "--load", plugin, "--methods", "id-sum,random", "--models", "gcn",
        "--levels", "1", "--seeds", "1", "--epochs", "2", "--hidden-channels", "4", "--jobs",
        jobs, "--out", "out", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["computed"] == 2


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("keep = problem.graph.pairs[0] >= 0", r"greedy-0 kept (\d+) of \1 edges, expected"),
        ("keep = torch.ones(3, dtype=torch.bool)", r"greedy-1 returned a mask \[3\] of torch.bool"),
        ("yield None; return", "greedy-2 yielded a NoneType, expected a ticket for each level"),
    ],
)
def test_a_method_that_breaks_its_contract_fails_with_a_clear_message(
    body, message, graph, tmp_path
):
    name = message.split()[0]
    plugin = tmp_path / f"{name}.py"
    plugin.write_text(
        "import torch\n"
        "from teddy.methods import method\n"
        f"@method('{name}')\n"
        "def search(problem, levels):\n"
        "    for level in levels:\n"
        f"        {body}\n"
        f"        yield problem.train_ticket('{name}', level, keep)\n"
    )
    load_file(plugin)
    outcome = run_sweep(grid_of(graph, [name], [1], [0]), tmp_path / "out", SETTINGS)
    assert re.search(message, outcome.failures[0]["error"])


def test_a_file_may_not_take_the_name_of_a_method(tmp_path):
    plugin = tmp_path / "teddy2.py"
    plugin.write_text(
        "from teddy.methods import method\n@method('teddy')\ndef mine(problem, levels): ...\n"
    )
    before = METHODS["teddy"]
    with pytest.raises(teddy.InputError, match="registers 'teddy', expected a new name"):
        load_file(plugin)
    assert METHODS["teddy"] is before
