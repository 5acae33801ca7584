"""Every command on a small heterogeneous graph, from a folder of tables and from a saved file."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
import torch

import teddy
from cli.command import refused, run_here
from hetero_graphs import library

EXAMPLE = Path(__file__).parents[2] / "examples" / "my-library"
NET = ["--model", "my-library/net.py:Net"]
SWEPT = ["--models", "my-library/net.py:Net", "--levels", "0,3", "--seeds", 2]
TINY = ["--epochs", 2]

MODELS = """
from torch import nn
from torch_geometric.nn import SAGEConv, to_hetero


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = SAGEConv((-1, -1), 8), SAGEConv((-1, -1), 3)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        kind = ("author", "writes", "paper")
        self.conv, self.kind = SAGEConv((-1, -1), 3), kind

    def forward(self, x_dict, edge_index_dict):
        return self.conv((x_dict["author"], x_dict["paper"]), edge_index_dict[self.kind])


def from_data(data):
    return to_hetero(Layers(), data.metadata())


def without_arguments():
    return Whole()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hetero")
    shutil.copytree(EXAMPLE, folder / "my-library")
    (folder / "models.py").write_text(MODELS)
    torch.save(library(), folder / "library.pt")
    done = run_here("find", "my-library", *NET, *TINY, "--target", "paper", "--out", "a.ticket",
                    cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Graph health" in done.stdout
    return folder


def output(*arguments, cwd) -> str:
    done = run_here(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_predict_names_the_nodes(folder):
    done = run_here("predict", "a.ticket", "my-library", "--module", "my-library/net.py:Net",
                    "--out", "p.csv", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO((folder / "p.csv").read_text())))
    assert rows[0] == ["node", "class", "confidence"]
    assert [row[0] for row in rows[1:]] == [f"p{number:02}" for number in range(1, 37)]
    assert {row[1] for row in rows[1:]} <= {"theory", "systems", "vision"}
    info = teddy.ticket.file.read_ticket(folder / "a.ticket").info
    assert f"36 nodes to p.csv; test accuracy {info.ticket.test:.2f}%" in done.stderr


def test_predict_takes_tables_without_labels(folder, tmp_path):
    shutil.copytree(folder / "my-library", tmp_path / "bare")
    path = tmp_path / "bare" / "nodes" / "paper.csv"
    rows = list(csv.reader(io.StringIO(path.read_text())))
    path.write_text("\n".join(",".join([row[0], *row[3:]]) for row in rows) + "\n")
    where = ["--module", "my-library/net.py:Net"]
    done = run_here("predict", "a.ticket", tmp_path / "bare", *where, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "no accuracy, data have no labels" in done.stderr
    with_labels = output("predict", "a.ticket", "my-library", *where, cwd=folder)
    assert done.stdout == with_labels


def test_inspect_shows_relations_and_kept_edges(folder):
    shown = output("inspect", "--all", "a.ticket", "my-library", cwd=folder)
    assert "paper, cites, paper" in shown
    assert "author:" in shown
    metadata = json.loads(
        output("inspect", "a.ticket", "my-library", "--node", "author:ann", "--json", cwd=folder)
    )
    assert metadata["left"]["before"]["edges"] == metadata["edges"]["total"]
    assert metadata["left"]["after"]["edges"] == metadata["edges"]["kept"]
    assert metadata["left"]["before"]["homophily"] is None
    names = metadata["neighbours"]["kept"] + metadata["neighbours"]["removed"]
    assert names
    assert all(name.startswith("paper:p") for name in names)


@pytest.mark.parametrize("inductive", [[], ["--inductive"]])
def test_sweep_and_report(folder, inductive, tmp_path):
    out = ["--out", tmp_path / "sweep", "--methods", "teddy,random", "--target", "paper"]
    metadata = json.loads(
        output("sweep", "my-library", *SWEPT, *TINY, *out, *inductive, "--json", cwd=folder)
    )
    assert (metadata["failures"], metadata["missing"], metadata["computed"]) == ([], 0, 8)
    rows = teddy.sweep.results_table.read_table(tmp_path / "sweep")
    sparse = [row for row in rows if row["simulation"] == 3]
    assert all(row["isolated"] is not None and row["homophily"] is None for row in rows)
    assert all(row["seconds_predict_ticket"] > 0 for row in rows)
    assert all(row["edges_kept"] < row["edges_total"] for row in sparse)
    assert {row["test_rows"] for row in rows} == {9}
    again = output("sweep", "my-library", *SWEPT, *TINY, *out, *inductive, "--json", cwd=folder)
    assert json.loads(again)["computed"] == 0
    if not inductive:
        output("report", tmp_path / "sweep", "--out", tmp_path / "page.html", cwd=folder)
        assert "my-library" in (tmp_path / "page.html").read_text()


def test_search_and_its_ticket(folder, tmp_path):
    found = json.loads(
        output(
            "search",
            "my-library",
            *NET,
            *TINY,
            "--target",
            "paper",
            "--tolerance",
            90,
            "--max-level",
            2,
            "--seeds",
            3,
            "--out",
            tmp_path / "search",
            "--ticket",
            tmp_path / "best.ticket",
            "--json",
            cwd=folder,
        )
    )
    assert found["ticket_file"] == str(tmp_path / "best.ticket")
    where = ["--module", "my-library/net.py:Net"]
    assert "p01," in output("predict", tmp_path / "best.ticket", "my-library", *where, cwd=folder)


def test_tune(folder, tmp_path):
    pytest.importorskip("optuna")
    found = json.loads(
        output(
            "tune",
            "my-library",
            *NET,
            *TINY,
            "--target",
            "paper",
            "--trials",
            2,
            "--seeds",
            1,
            "--out",
            tmp_path / "tune",
            "--json",
            cwd=folder,
        )
    )
    assert len(found["trials"]) == 2


@pytest.mark.parametrize("name", ["from_data", "without_arguments", "Whole"])
def test_a_saved_graph_and_every_way_to_make_a_model(folder, name, tmp_path):
    model, ticket = f"models.py:{name}", tmp_path / "a.ticket"
    output("find", "library.pt", "--model", model, *TINY, "--out", ticket, cwd=folder)
    rows = output("predict", ticket, "library.pt", "--module", model, cwd=folder).splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == [str(number) for number in range(60)]
    metadata = json.loads(
        output(
            "sweep",
            "library.pt",
            "--models",
            model,
            *TINY,
            "--levels",
            "0,3",
            "--seeds",
            1,
            "--methods",
            "teddy",
            "--out",
            tmp_path / "sweep",
            "--jobs",
            2 if name == "Whole" else 1,
            "--json",
            cwd=folder,
        )
    )
    assert (metadata["failures"], metadata["missing"]) == ([], 0)


def test_a_drawn_split_is_drawn_again_to_predict(folder, tmp_path):
    split = ["--split", "40/30/30", "--split-seed", 3, "--out", tmp_path / "a.ticket"]
    output("find", "my-library", *NET, *TINY, *split, cwd=folder)
    info = teddy.ticket.file.read_ticket(tmp_path / "a.ticket").info
    assert (info.split, info.split_seed, info.hetero["target"]) == ("40/30/30", 3, "paper")
    where = ["--module", "my-library/net.py:Net"]
    done = run_here("predict", tmp_path / "a.ticket", "my-library", *where, cwd=folder)
    assert f"test accuracy {info.ticket.test:.2f}%" in done.stderr


def test_relations_as_they_are_listed(folder, tmp_path):
    ticket = tmp_path / "a.ticket"
    model = ["--model", "models.py:Whole"]
    output("find", "my-library", *model, *TINY, "--directed", "--out", ticket, cwd=folder)
    info = teddy.ticket.file.read_ticket(ticket).info
    assert all(len(part["edge_types"]) == 1 for part in info.hetero["relations"])
    done = run_here("predict", ticket, "my-library", "--module", "models.py:Whole", cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["find", "my-library", "--model", "gcn"], "model gcn does not support a HeteroData"),
        (["find", "my-library", *NET, "--target", "book"], "target is 'book', expected a type wi"),
        (["find", "my-library", *NET, "--target", "author"], "author.csv: no column 'label', got"),
        (["find", "my-library", *NET, "--nodes", "x.csv"], "expected only with an edge list"),
        (["find", "my-library", *NET, "--task", "link-prediction"], "several node types, exp"),
        (["find", "citeseer", "--target", "paper"], "citeseer: has one node type"),
        (["predict", "a.ticket", "my-library"], "(--module FILE.py:NAME)"),
        (["predict", "a.ticket", "library.pt", "--module", "my-library/net.py:Net"], "do not fit"),
        (["inspect", "a.ticket", "library.pt"], "got another graph with"),
        (["inspect", "a.ticket", "my-library", "--node", "ann"], "ann"),
    ],
)  # fmt: skip
def test_bad_input_prints_a_clear_message(folder, arguments, message):
    assert message in refused(run_here(*arguments, cwd=folder))
