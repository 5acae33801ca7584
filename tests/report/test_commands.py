"""Commands and settings of a page: complete, accepted by the command line, and with real values."""

from __future__ import annotations

import inspect
import json
import shlex

from cli.command import run_here
from report.rows import METADATA, links, row, sweep
from teddy.cli.find import find as find_command
from teddy.cli.sweep import sweep as sweep_options
from teddy.report.commands import cell_command, command_line, real_settings, sweep_command
from teddy.report.page_data import page_data
from teddy.report.page_tables import method_settings, shared_settings


def options(command):
    return {word[2:].replace("-", "_") for word in shlex.split(command) if word.startswith("--")}


def test_the_command_of_a_sweep_has_its_grid_and_non_default_settings():
    assert sweep_command(sweep(), METADATA) == (
        "teddy sweep citeseer --models gcn,gin --methods teddy,teddy:distill=0,random "
        "--levels 0,5,10 --seeds 3 --lr 0.01 --hidden-channels 16"
    )
    recorded = {"settings": {"task": "link-prediction", "inductive": True, "threads": 1, "lr": 0.1}}
    command = sweep_command([links(dataset="my graphs/a.npz")], recorded)
    assert command.startswith("teddy sweep 'my graphs/a.npz' ")
    assert command.endswith("--seeds 1 --task link-prediction --inductive --lr 0.1")
    assert sweep_command(sweep(), {}) is None
    assert sweep_command(sweep(), {"command": "teddy find", "settings": {}}) == "teddy find"
    assert options(command) <= set(inspect.signature(sweep_options).parameters)


def test_the_command_of_a_ticket_has_its_sparsities_and_seeds():
    rows = [row("random", 10, seed) for seed in (2, 3)]
    command = cell_command(rows, METADATA)
    assert f"--graph-sparsity {rows[0]['graph_sparsity']}" in command
    assert "--method random" in command
    assert "--seed 2 --seeds 2 " in command
    assert options(command) <= set(inspect.signature(find_command).parameters)
    with_file = {
        **METADATA,
        "methods": {"citeseer gcn random": {"distill": 0.0, "file": "ab" * 32}},
    }
    assert cell_command(rows, with_file).endswith("--load FILE.py --threads 1")


def test_lists_are_repeated_options_or_joined():
    assert command_line("find", [], {"weight_exclude": ["*.bias", "Embedding"]}) == (
        "teddy find --weight-exclude '*.bias' --weight-exclude Embedding"
    )
    assert command_line("find", [], {"class_weight": [1, 2.5]}) == "teddy find --class-weight 1,2.5"


def test_settings_are_the_real_ones():
    settings = {"epochs": 20, "lr": None, "weight_decay": None, "distill": None, "patience": None}
    gcn = real_settings(row(), {"settings": settings})
    assert (gcn["lr"], gcn["weight_decay"], gcn["hidden_channels"]) == (0.01, 0.0005, 512)
    assert (gcn["split"], gcn["distill"], gcn["weight_scope"]) == ("public", 10.0, "global")
    unimp = real_settings(row(model="unimp:heads=4"), {"settings": settings})
    assert (unimp["lr"], unimp["heads"]) == (0.003, 4)
    ugs = real_settings(row("ugs:stride=5", distill=0.0), {"settings": settings})
    assert (ugs["distill"], ugs["stride"]) == (0.0, 5)
    own = real_settings(row("my-own-method"), {"settings": settings})
    assert (own["epochs"], "lr" in own) == (20, False)
    assert real_settings(row(), {}) == {}


def test_settings_are_split_into_shared_ones_and_those_of_methods():
    rows = [row(m, 5, 0, distill=d) for m, d in (("teddy", 10.0), ("random:distill=0", 0.0))]
    rows.append(row("teddy", 0, 0, distill=0.0))  # the dense model, which distils nothing
    settings = page_data(rows, METADATA)["settings"]
    shared = dict(shared_settings(settings, METADATA))
    assert (shared["epochs"], shared["lr"], shared["hidden_channels"]) == ("200", "0.01", "16")
    assert shared["graph of citeseer"] == "abababababab"
    assert method_settings(settings) == (
        ["data set", "model", "method", "distill"],
        [["citeseer", "gcn", "random:distill=0", "0"], ["citeseer", "gcn", "teddy", "10"]],
    )
    assert method_settings(settings[:1]) == ([], [])


def test_the_page_of_find_has_its_command_which_finds_the_same_again(tmp_path):
    typed = ["find", "citeseer", "--model", "gcn", "--graph-sparsity", "0.2", "--hidden-channels",
             "8", "--epochs", "2", "--seed", "1", "--threads", "1"]  # fmt: skip
    done = run_here(*typed, "--report", "page.html", "--json", cwd=tmp_path)
    page = (tmp_path / "page.html").read_text()
    data = page.partition('id="data">')[2].partition("</script>")[0]
    metadata = json.loads(data)["metadata"]
    words = shlex.split(metadata["command"])
    assert words[:3] == ["teddy", "find", "citeseer"]
    for flag, value in zip(typed[2::2], typed[3::2], strict=True):
        assert words[words.index(flag) + 1] == value
    again = run_here(*words[1:], "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["ticket"] == json.loads(done.stdout)["ticket"]
    assert metadata["command"] in page
    (cell,) = json.loads(data)["cells"]
    third = run_here(*shlex.split(cell["command"])[1:], "--json", cwd=tmp_path)
    assert json.loads(third.stdout)["ticket"] == json.loads(done.stdout)["ticket"]


def test_the_command_of_a_cell_finds_the_ticket_of_the_sweep(tmp_path):
    run_here("sweep", "citeseer", "--models", "gcn", "--methods", "random", "--levels", "10",
             "--seeds", "2", "--epochs", "3", "--hidden-channels", "8", "--out", "run",
             "--report", "page.html", cwd=tmp_path)  # fmt: skip
    data = (tmp_path / "page.html").read_text().partition('id="data">')[2].partition("</script>")[0]
    page = json.loads(data)
    (cell,) = page["cells"]
    found = json.loads(run_here(*shlex.split(cell["command"])[1:], "--json", cwd=tmp_path).stdout)
    test = page["columns"].index("test")
    assert found["ticket"]["test"] == [line[test] for line in page["rows"]]
