"""The command as a user runs it: another process, its streams and its exit code."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import torch

import teddy
from cli.command import DOCUMENTED, FAST, refused, run, run_forked, run_here
from conftest import small_graph


def test_find_prints_the_documented_json_and_writes_a_ticket(tmp_path):
    done = run_here("find", *FAST, "--seeds", 2, "--json", "--out", "a.ticket", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert len(done.stdout.splitlines()) == 1
    assert set(DOCUMENTED) <= result.keys()
    assert result["dataset"] == "citeseer"
    assert result["seeds"] == [0, 1]
    assert result["edges"] == {"total": 4552, "kept": 1638}
    assert result["weights"]["kept"] == 59442 - 38042
    assert {"dense", "ticket"} <= result["macs"].keys()
    for part in ("dense", "ticket"):
        assert {"test", "val", "test_mean", "test_std"} <= result[part].keys()
        assert len(result[part]["test"]) == 2
    assert (result["verdict"], result["test_rows"]) == ("too few seeds", 1000)
    assert {"dense", "search", "sparse", "total"} == result["seconds"].keys()
    assert result["ticket_file"] == "a.ticket"
    ticket = teddy.Ticket.load(tmp_path / "a.ticket")
    assert ticket.info.ticket.test in result["ticket"]["test"]


def test_an_inductive_search_reports_the_graph_of_its_edges(tmp_path):
    done = run_here("find", *FAST, "--inductive", "--split", "20/40/40", "--out", "a.ticket",
               cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    info = teddy.Ticket.load(tmp_path / "a.ticket").info
    inspected = run_here("inspect", "a.ticket", cwd=tmp_path)
    for text in (done.stdout, inspected.stdout):
        assert "(20/40/40 split, inductive)" in text
        lines = [line.split() for line in text.splitlines() if "undirected edges" in line]
        assert lines[0][2:5] == ["training", f"{info.edges.total:,}", f"{info.edges.kept:,}"]
        assert lines[1][2:6] == ["tested", "(scored)", "4,552", "1,638"]
    assert info.edges.total < 4552


def test_auto_reports_the_chosen_score(tmp_path):
    auto = ["find", *FAST, "--method", "auto:scores=teddy+cosine", "--model", "gcn"]
    found = run_here(*auto, "--out", "a.ticket", cwd=tmp_path)
    info = json.loads(run_here("inspect", "a.ticket", "--json", cwd=tmp_path).stdout)
    val = info["config"]["tried"]
    tried = f"tried teddy {val['teddy']:.2f}, cosine {val['cosine']:.2f}."
    assert f"Chosen on validation nodes: {info['score']} (1 seed); {tried}" in found.stdout
    assert json.loads(run_here(*auto, "--json", cwd=tmp_path).stdout)["scores"] == [info["score"]]


def test_every_option_reaches_the_ticket(tmp_path):
    settings = {
        "distill": 0.5, "epochs": 3, "lr": 0.02, "weight_decay": 0.001,
        "temperature": 2.0, "divergence": "sparse-dense", "patience": 2,
    }  # fmt: skip
    options = {"hidden_channels": 8, "num_layers": 3, "heads": 2, "dropout": 0.1}
    arguments = [
        word
        for name, value in (settings | options).items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    done = run_here(
        "find", "--model", "gat", "--method", "degree-low:weights=masks", "--threads", "1",
        *arguments, "--out", "[bold]x.ticket", "--split", "random", "--split-seed", "3",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "[bold]x.ticket" in done.stdout
    assert "degree-low" in done.stdout
    info = teddy.Ticket.load(tmp_path / "[bold]x.ticket").info
    assert info.config.items() >= settings.items()
    assert info.config["threads"] == 1
    assert (info.method, info.config["weights"]) == ("degree-low", "masks")
    assert info.model["options"] == options
    assert (info.split, info.split_seed) == ("random", 3)


def test_predict_uses_the_split_of_the_ticket(tmp_path):
    arguments = ["--split", "20/40/40", "--split-seed", "7"]
    result = json.loads(
        run_here("find", *FAST, *arguments, "--json", "--out", "a", cwd=tmp_path).stdout
    )
    recorded = result["ticket"]["test"][0]
    same = run_here("predict", "a", "--json", cwd=tmp_path)
    assert json.loads(same.stdout)["test"] == recorded
    seed = run_here("predict", "a", "--split-seed", "8", cwd=tmp_path)
    assert "no accuracy" in seed.stderr
    other = run_here("predict", "a", "--split", "random", "--json", "--out", "p.json", cwd=tmp_path)
    assert "no accuracy" in other.stderr
    assert json.loads((tmp_path / "p.json").read_text())["test"] is None


def test_two_runs_of_one_command_write_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        assert (
            run_here("find", *FAST, "--model", "gat", "--out", name, cwd=tmp_path).returncode == 0
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_find_inspect_and_predict_for_people(tmp_path):
    found = run_here("find", *FAST, "--out", "a.ticket", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    for words in ("undirected edges", "test accuracy %", "Verdict: too few seeds (1)", "a.ticket"):
        assert words in found.stdout
    assert "Warning" not in found.stderr

    seen = run_here("inspect", "--all", "a.ticket", cwd=tmp_path)
    assert "weights.0" in seen.stdout
    plain = json.loads(run_here("inspect", "a.ticket", "--json", cwd=tmp_path).stdout)
    assert plain["edges"] == {"total": 4552, "kept": 1638}

    predicted = run_here("predict", "a.ticket", cwd=tmp_path)
    rows = list(csv.DictReader(predicted.stdout.splitlines()))
    assert len(rows) == 3327
    expected = teddy.Ticket.load(tmp_path / "a.ticket").predict(teddy.load_dataset("citeseer"))
    assert [int(row["class"]) for row in rows] == expected.tolist()
    again = run_here("predict", "a.ticket", "citeseer", "--out", "p.csv", cwd=tmp_path)
    assert again.stdout == ""
    assert (tmp_path / "p.csv").read_text() == predicted.stdout
    as_json = json.loads(run_here("predict", "a.ticket", "--json", cwd=tmp_path).stdout)
    assert as_json["test"] == plain["ticket"]["test"]


def test_the_users_own_tables_from_find_to_predict(tmp_path):
    data = small_graph()
    names = [f"node-{i}" for i in range(40)]
    animals = ["cat", "dog", "emu"]
    with (tmp_path / "edges.csv").open("w") as file:
        file.write("source,target\n")
        file.writelines(f"{names[i]},{names[j]}\n" for i, j in data.edge_index.t().tolist())
    with (tmp_path / "nodes.csv").open("w") as file:
        file.write("id,label," + ",".join(f"f{i}" for i in range(12)) + "\n")
        for i, row in enumerate(data.x.tolist()):
            file.write(f"{names[i]},{animals[data.y[i]]}," + ",".join(map(str, row)) + "\n")
    arguments = ["--split", "40/30/30", "--split-seed", 3]
    found = run_here("find", ".", *FAST, *arguments, "--out", "a.ticket", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    predicted = run_here("predict", "a.ticket", "edges.csv", *arguments, cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    rows = list(csv.DictReader(predicted.stdout.splitlines()))
    assert {row["node"] for row in rows} == set(names)
    assert {row["class"] for row in rows} <= set(animals)
    unnamed = run_here("predict", "a.ticket", cwd=tmp_path)
    assert "expected its graph" in refused(unnamed)
    table = (tmp_path / "nodes.csv").read_text()
    (tmp_path / "nodes.csv").write_text(table.replace("emu", "ant"))
    renamed = run_here("predict", "a.ticket", "edges.csv", *arguments, cwd=tmp_path)
    assert "label is 'ant', expected a class of the model" in refused(renamed)


def test_datasets_lists_every_data_set(tmp_path):
    listed = run_here("datasets", cwd=tmp_path)
    assert "citeseer" in listed.stdout
    assert "3,327" in listed.stdout
    known = json.loads(run_here("datasets", "--json", cwd=tmp_path).stdout)["datasets"]
    assert {"citeseer", "pubmed", "cora"} <= {entry["name"] for entry in known}


def test_bench_times_kernels_and_torch(tmp_path):
    small = ["bench", "--models", "gcn", "--epochs", "3", "--hidden-channels", "64"]
    timed = run_here(*small, "--json", cwd=tmp_path)
    rows = json.loads(timed.stdout)["rows"]
    assert {row["model"] for row in rows} == {"gcn"}
    assert rows[0]["threads"] == 1
    assert all(row["torch_ms"] > 0 for row in rows)
    for_people = run_here(*small, cwd=tmp_path)
    assert "plain torch" in for_people.stdout
    assert "expected one of" in refused(run_here("bench", "--models", "gcm", cwd=tmp_path))
    assert "expected a whole number from 3" in refused(
        run_here("bench", "--epochs", "1", cwd=tmp_path)
    )


def test_cora_from_a_folder(shared_data, tmp_path):
    done = run_forked("find", "cora", *FAST, "--json", cwd=tmp_path, TEDDY_DATA=str(shared_data))
    assert json.loads(done.stdout)["edges"]["total"] == 5278


def test_help_and_version_need_no_torch(tmp_path):
    code = "import sys, teddy.cli.app; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert teddy.__version__ in run("--version", cwd=tmp_path).stdout
    assert "find" in run(cwd=tmp_path).stdout


def test_the_seed_of_a_study_is_the_seed_of_the_library(tmp_path):
    run_here("find", *FAST, "--model", "gcn", "--out", "a.ticket", cwd=tmp_path)
    loaded = teddy.Ticket.load(tmp_path / "a.ticket")
    data = teddy.load_dataset("citeseer")
    alone = teddy.find_ticket(data, "gcn", epochs=4, hidden_channels=16)
    assert torch.equal(loaded.keep, alone.keep)
    assert loaded.info.weights == alone.info.weights


def test_a_ticket_as_teacher_replaces_the_dense_training(tmp_path):
    dense = ["--graph-sparsity", 0, "--weight-sparsity", 0, "--distill", 0]
    run_here("find", *FAST, *dense, "--out", "dense.ticket", cwd=tmp_path)
    found = run_here(
        "find", *FAST, "--teacher", "dense.ticket", "--out", "a.ticket", "--json", cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    expected = teddy.Ticket.load(tmp_path / "dense.ticket").info.ticket.test
    result = json.loads(found.stdout)
    assert result["dense"]["test"] == [expected]
    assert result["dense"]["best_epoch"] == [None]
    plain = run_here("find", *FAST, "--out", "b.ticket", cwd=tmp_path)
    assert plain.returncode == 0
    a, b = (teddy.Ticket.load(tmp_path / name) for name in ("a.ticket", "b.ticket"))
    assert all(map(torch.equal, a.model.parameters(), b.model.parameters()))
    inspected = run_here("inspect", "--all", "a.ticket", cwd=tmp_path)
    assert "best epoch" in inspected.stdout
    assert "no such file" in refused(
        run_here("find", *FAST, "--teacher", "none.ticket", cwd=tmp_path)
    )
