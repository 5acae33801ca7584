"""``--task link-prediction`` at the command line."""

from __future__ import annotations

import csv
import io
import json

import pytest
import torch

import teddy
from cli.command import FAST, refused, run_here
from conftest import small_graph

TASK = "link-prediction:dimensions=8"
LINKS = ["--task", TASK, "--model", "gcn", *FAST]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("links")


@pytest.fixture(scope="module")
def found(folder):
    done = run_here(
        "find", "citeseer", *LINKS, "--split", "70/10/20", "--split-seed", 3, "--seeds", 2,
        "--task", f"{TASK}:hits_at=20", "--out", "a.ticket", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_find_prints_auc_and_hits(folder, found):
    assert (found["task"], found["metric"], found["split"]) == (
        "link-prediction",
        "AUC",
        "70/10/20",
    )
    assert found["hits"]["at"] == 20
    infos = teddy.Ticket.load(folder / "a.ticket").info
    assert infos.links["hits"]["ticket"]["test"] in found["hits"]["ticket"]["test"]
    assert len(found["hits"]["dense"]["val"]) == 2
    assert found["edges"]["total"] == 4552 - round(0.1 * 4552) - round(0.2 * 4552)
    assert found["health"]["before"]["edges"] == found["edges"]["total"]


def test_find_prints_both(folder):
    done = run_here("find", "citeseer", *LINKS, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "test AUC %" in done.stdout
    assert "test hits@50 %" in done.stdout
    assert "85/5/10 split" in done.stdout


def test_predict_writes_links(folder, found):
    done = run_here("predict", "a.ticket", cwd=folder)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["source", "target", "link", "probability"]
    assert len(rows) == 1 + 2 * 4552
    assert all((row[2] == "1") == (float(row[3]) > 0.5) for row in rows[1:] if row[3] != "0.5")
    test = teddy.Ticket.load(folder / "a.ticket").info.ticket.test
    assert f"9,104 links to stdout; test AUC {test:.2f}%" in done.stderr
    other = refused(run_here("predict", "a.ticket", "--split-seed", 4, cwd=folder))
    assert "got another graph" in other


def test_inspect_and_bench_take_it(folder, found):
    assert "test hits@20 %" in run_here("inspect", "a.ticket", cwd=folder).stdout
    metadata = json.loads(run_here("inspect", "a.ticket", "--json", cwd=folder).stdout)
    assert metadata["links"]["hits_at"] == 20
    assert metadata["left"]["before"]["edges"] == found["edges"]["total"]
    assert "Test AUC %" in run_here("bench", "a.ticket", cwd=folder).stdout


def test_your_own_split_in_a_file(folder):
    links = teddy.split_links(small_graph(nodes=60), 0.2, 0.2)
    torch.save(links, folder / "own.pt")
    done = run_here("find", "own.pt", *LINKS, "--out", "own.ticket", cwd=folder)
    assert done.returncode == 0, done.stderr
    done = run_here("predict", "own.ticket", "own.pt", cwd=folder)
    assert f"{links.edge_label.numel()} links to stdout; test AUC" in done.stderr


def test_cora_has_links_too(folder, shared_data):
    done = run_here("find", "cora", *LINKS, "--data-dir", shared_data, "--json", cwd=folder)
    assert json.loads(done.stdout)["edges"]["total"] == 5278 - round(0.05 * 5278) - round(527.8)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["--split", "public"],
            "split is 'public', expected percentages of edges such as '85/5/10'",
        ),
        (["--split", "90/0/10"], "val is 0.0, expected a share of edges above 0 and below 1"),
        (["--directed"], "task link-prediction does not support directed messages"),
        (["--inductive"], "task link-prediction does not support inductive training"),
        (["--task", "link-prediction:hits_at=0"], "hits_at is 0, expected a whole number from 1"),
        (["--model", "transformer"], "unknown model 'transformer'"),
    ],
)
def test_bad_input_prints_a_clear_message(folder, arguments, line):
    before = sorted(folder.iterdir())
    assert line in refused(run_here("find", "citeseer", *LINKS, *arguments, cwd=folder))
    assert sorted(folder.iterdir()) == before


def test_dimensions_are_of_links(folder):
    done = run_here("find", "citeseer", *FAST, "--task", "regression:dimensions=8", cwd=folder)
    assert "no option 'dimensions'" in refused(done)


def test_a_drawn_split_may_come_as_a_file(folder):
    whole = small_graph(nodes=60)
    links = teddy.split_links(whole)
    torch.save(whole, folder / "whole.pt")
    torch.save(links, folder / "split.pt")
    assert run_here("find", "whole.pt", *LINKS, "--out", "w.ticket", cwd=folder).returncode == 0
    said = {run_here("predict", "w.ticket", f, cwd=folder).stderr for f in ("whole.pt", "split.pt")}
    test = teddy.Ticket.load(folder / "w.ticket").info.ticket.test
    assert said == {f"{links.edge_label.numel()} links to stdout; test AUC {test:.2f}%\n"}
    for command in (
        ["inspect", "w.ticket"],
        ["bench", "w.ticket"],
        ["export", "w.ticket", "w.parquet"],
    ):
        assert run_here(*command, "split.pt", cwd=folder).returncode == 0, command
    # The links of the user's own split cannot be drawn again.
    assert run_here("find", "split.pt", *LINKS, "--out", "o.ticket", cwd=folder).returncode == 0
    line = refused(run_here("predict", "o.ticket", "whole.pt", cwd=folder))
    assert "whole.pt: has no edge_label_index, expected the result of" in line


def test_any_pairs_can_be_predicted(folder):
    links = teddy.split_links(small_graph(nodes=60), 0.2, 0.2)
    torch.save(links, folder / "asked.pt")
    assert run_here("find", "asked.pt", *LINKS, "--out", "q.ticket", cwd=folder).returncode == 0
    for key in ("edge_label", "train_mask", "val_mask", "test_mask"):
        del links[key]
    links.edge_label_index = torch.tensor([[0, 1], [3, 4]])
    torch.save(links, folder / "pairs.pt")
    done = run_here("predict", "q.ticket", "pairs.pt", cwd=folder)
    assert [row[:2] for row in csv.reader(io.StringIO(done.stdout))][1:] == [["0", "3"], ["1", "4"]]
    assert "2 links to stdout; no AUC, data have no labels or no split" in done.stderr


def test_the_file_is_named_where_something_is_wrong_with_it(folder):
    data = small_graph()
    data.x[3, 2] = torch.nan
    torch.save(data, folder / "nan.pt")
    assert "nan.pt: x[3, 2] is nan" in refused(run_here("find", "nan.pt", *LINKS, cwd=folder))


def test_auto_lists_its_scores(folder):
    asked = ["--method", "auto:scores=gain+teddy"]
    line = refused(run_here("find", "citeseer", *LINKS, *asked, cwd=folder))
    assert line.endswith("expected scores=teddy")
    done = run_here("find", "citeseer", *LINKS, "--method", "auto", "--json", cwd=folder)
    assert json.loads(done.stdout)["scores"][0] in ("teddy", "random", "degree-low")
