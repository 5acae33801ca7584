"""What is done with a ticket at the command line: look at it, export it, use it later."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import torch

import teddy
from cli.command import refused, run_here
from conftest import small_graph
from teddy.graph import Edges

NAMES = [f"node-{i}" for i in range(41)]
ANIMALS = ("cat", "dog", "emu")


def write_tables(folder, data, pairs):
    folder.mkdir(exist_ok=True)
    edges = "".join(f"{NAMES[i]},{NAMES[j]}\n" for i, j in pairs)
    (folder / "edges.csv").write_text("source,target\n" + edges)
    rows = ["id,label,split," + ",".join(f"f{i}" for i in range(12))]
    parts = ("train", "val", "test")
    for i, x in enumerate(data.x.tolist()):
        part = next(p for p in parts if data[f"{p}_mask"][i])
        rows.append(f"{NAMES[i]},{ANIMALS[data.y[i]]},{part}," + ",".join(map(str, x)))
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A ticket of a small graph; the graph as it was, and with a node and an edge more."""
    folder, data = tmp_path_factory.mktemp("home"), small_graph()
    pairs = Edges.from_columns(data.edge_index, 40)[0].pairs.t().tolist()
    write_tables(folder / "before", data, pairs)
    later = data.clone()
    for key in ("x", "y", "train_mask", "val_mask", "test_mask"):
        later[key] = torch.cat([data[key], data[key][-1:]])
    write_tables(folder / "later", later, [*pairs, (40, 3)])
    graph = teddy.load_dataset(folder / "before")
    teddy.find_ticket(graph, "gcn", 0.5, 0.6, epochs=3, hidden_channels=8).save(folder / "a.ticket")
    return folder


@pytest.fixture(scope="module")
def ticket(home):
    return teddy.Ticket.load(home / "a.ticket")


def test_export_writes_the_format_of_the_suffix(home, ticket, tmp_path):
    done = run_here("export", home / "a.ticket", "a.pt2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a.pt2: logits(x, edge_index), ")
    data = teddy.load_dataset(home / "before")
    program = torch.export.load(tmp_path / "a.pt2").module()
    found = program(data.x.to_dense(), ticket.edge_index(data))
    torch.testing.assert_close(found, ticket.logits(data), rtol=0, atol=1e-4)
    done = run_here("export", home / "a.ticket", "kept.parquet", home / "before", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    from pyarrow.parquet import read_table

    table = read_table(tmp_path / "kept.parquet")
    assert table.num_rows == ticket.info.edges.kept
    assert set(table["source"].to_pylist()) <= set(NAMES)


def test_export_refuses_unsupported_files(home, tmp_path):
    def line(*arguments):
        return refused(run_here("export", home / "a.ticket", *arguments, cwd=tmp_path))

    assert "expected .onnx, .pt2 or .parquet" in line("a.pt")
    assert "expected it only for .parquet" in line("a.onnx", home / "before")
    for option in ("split", "split-seed", "nodes"):
        found = line("a.pt2", f"--{option}", 1)
        assert f"{option} '1' has no effect on a.pt2, expected it only for .parquet" in found
    assert "split is 'bogus'" in line("a.parquet", home / "before", "--split", "bogus")
    assert "expected its graph" in line("a.parquet")
    assert "there is no folder no" in line("no/a.pt2")
    assert list(tmp_path.iterdir()) == []


def predictions(done):
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


def test_predict_refuses_a_changed_graph_without_a_rule(home, tmp_path):
    def line(*arguments):
        return refused(
            run_here("predict", home / "a.ticket", home / "later", *arguments, cwd=tmp_path)
        )

    assert "has it changed since: Ticket.transfer (--changed)" in line()
    rules = "expected one of: scored, training, none"
    assert f"(--changed) is 'known', {rules}" in line("--changed", "known")
    original = "(--changed) is 'training', expected original (--original)"
    assert original in line("--changed", "training")
    assert "only with --changed training" in line("--original", home / "before")


def test_predict_follows_each_rule(home, ticket, tmp_path):
    later = teddy.load_dataset(home / "later")
    before = teddy.load_dataset(home / "before")
    for rule, more, original in (
        ("scored", [], None),
        ("none", [], None),
        ("training", ["--original", home / "before"], before),
    ):
        done = run_here(
            "predict", home / "a.ticket", home / "later", "--changed", rule, *more, cwd=tmp_path
        )
        rows = predictions(done)
        assert [row["node"] for row in rows] == NAMES
        expected = ticket.transfer(later, rule, original).predict(later)
        assert [row["class"] for row in rows] == [ANIMALS[c] for c in expected.tolist()]
        assert "no accuracy, the split differs from the ticket's" in done.stderr


def test_predict_reports_recognised_nodes_and_edges(home, tmp_path):
    arguments = [
        "predict", home / "a.ticket", home / "later", "--changed", "training",
        "--original", home / "before",
    ]  # fmt: skip
    done = run_here(*arguments, cwd=tmp_path)
    edges = teddy.load_dataset(home / "before").num_edges // 2
    assert f"; recognised: 40 of 41 nodes, {edges} of {edges + 1} edges" in done.stderr
    found = json.loads(run_here(*arguments, "--json", cwd=tmp_path).stdout)
    assert found["recognised"] == {"nodes": 40, "edges": edges}


def test_predict_refuses_numbers_that_may_be_of_other_nodes(home, tmp_path):
    """The original has names, an npz only numbers."""
    data = teddy.load_dataset(home / "later")
    np.savez(
        tmp_path / "later.npz", x=data.x.to_dense().numpy(), edge_index=data.edge_index.numpy()
    )
    arguments = ["--changed", "training", "--original", home / "before"]
    done = run_here("predict", home / "a.ticket", "later.npz", *arguments, cwd=tmp_path)
    assert "the original has node_ids, such as 'node-0', the changed graph has none" in refused(
        done
    )


def changed_table(home, folder, change):
    """The tables of the ticket's graph, with other cells in the node table."""
    header, *rows = csv.reader((home / "before" / "nodes.csv").open())
    cells = change([dict(zip(header, row, strict=True)) for row in rows])
    (folder / "edges.csv").write_text((home / "before" / "edges.csv").read_text())
    with (folder / "nodes.csv").open("w") as file:
        writer = csv.DictWriter(file, cells[0])
        writer.writeheader()
        writer.writerows(cells)
    return folder


def without_label(rows, *animals):
    return [row | {"label": "" if row["label"] in animals else row["label"]} for row in rows]


def dropped(rows, *names):
    return [{name: row[name] for name in row if name not in names} for row in rows]


CHANGES = {
    "columns in another order": (
        lambda rows: [{name: row[name] for name in reversed(row)} for row in rows],
        "test accuracy",
    ),
    "a class without a label": (
        lambda rows: without_label(rows, "cat"),
        "no accuracy, test nodes have no label",
    ),
    "and not in the split": (
        lambda rows: [
            row if row["label"] else row | {"split": ""} for row in without_label(rows, "cat")
        ],
        "no accuracy, the split differs from the ticket's",
    ),
    "empty labels": (
        lambda rows: without_label(rows, *ANIMALS),
        "no accuracy, data have no labels",
    ),
    "no labels": (lambda rows: dropped(rows, "label"), "no accuracy, data have no labels"),
    "no split": (lambda rows: dropped(rows, "split"), "no accuracy, data have no split"),
    "neither": (lambda rows: dropped(rows, "label", "split"), "no accuracy, data have no labels"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_predict_accepts_changed_tables(change, home, ticket, tmp_path):
    change, said = CHANGES[change]
    changed_table(home, tmp_path, change)
    done = run_here("predict", home / "a.ticket", ".", cwd=tmp_path)
    rows = predictions(done)
    expected = ticket.predict(teddy.load_dataset(home / "before")).tolist()
    assert [row["class"] for row in rows] == [ANIMALS[c] for c in expected]
    assert said in done.stderr
    test = json.loads(run_here("predict", home / "a.ticket", ".", "--json", cwd=tmp_path).stdout)
    assert test["test"] == (None if said.startswith("no") else ticket.info.ticket.test)


def test_predict_refuses_other_features_and_classes(home, tmp_path):
    def line(change, *arguments):
        changed_table(home, tmp_path, change)
        return refused(run_here("predict", home / "a.ticket", ".", *arguments, cwd=tmp_path))

    def renamed(rows):
        return [{name.replace("f0", "size"): row[name] for name in row} for row in rows]

    assert line(renamed).endswith("differ from those of training: missing 'f0', new 'size'")
    assert line(lambda rows: dropped(rows, "f3")).endswith(
        "differ from those of training: missing 'f3'"
    )
    strange = line(lambda rows: [*rows[:-1], rows[-1] | {"label": "yak"}])
    assert "row 40: label is 'yak', expected a class of the model" in strange
    for names, split, said in (
        (
            ("label", "split"),
            "40/30/30",
            "has no labels, expected them to draw the split '40/30/30'",
        ),
        (("split",), "public", "has no split, pass split as"),
        (("split",), "bogus", "split is 'bogus', expected"),
    ):
        assert said in line(lambda rows, names=names: dropped(rows, *names), "--split", split)


def test_the_tickets_own_split_is_drawn_where_it_can_be(home, tmp_path):
    def unsplit(rows):
        return dropped(rows, "split")

    graph = teddy.load_dataset(changed_table(home, tmp_path, unsplit), split="40/30/30", seed=3)
    own = teddy.find_ticket(graph, "gcn", 0.5, 0.6, epochs=1, hidden_channels=4)
    own.save(tmp_path / "own.ticket")
    done = run_here("predict", "own.ticket", ".", cwd=tmp_path)
    assert f"test accuracy {own.info.ticket.test:.2f}%" in done.stderr
    changed_table(home, tmp_path, lambda rows: dropped(rows, "split", "label"))
    assert "data have no labels" in run_here("predict", "own.ticket", ".", cwd=tmp_path).stderr


def test_inspect_without_the_graph_shows_the_metadata(home, tmp_path):
    plain = run_here("inspect", home / "a.ticket", "--json", cwd=tmp_path)
    metadata = json.loads(plain.stdout)
    assert "left" not in metadata
    assert metadata["parameters"]["weights.0"]["total"] == 96
    assert metadata["layers"]["layer 2"]["total"] == 24
    assert metadata["score"] == "teddy"
    assert (
        "Graph before and after pruning"
        not in run_here("inspect", "--all", home / "a.ticket", cwd=tmp_path).stdout
    )


def test_inspect_with_the_graph_shows_its_kept_edges(home, ticket, tmp_path):
    data = teddy.load_dataset(home / "before")
    graph, keep = ticket.prune(data)
    kept = torch.bincount(graph.pairs[:, keep].flatten(), minlength=40)
    arguments = ["inspect", "--all", home / "a.ticket", home / "before"]
    left = json.loads(run_here(*arguments, "--json", cwd=tmp_path).stdout)["left"]
    hub = int((graph.degree - kept).argmax())
    first = left["hubs"][0]
    assert first["before"] - first["after"] == int((graph.degree - kept)[hub])
    assert {n["node"] for n in left["hubs"]} <= set(NAMES)
    assert left["num_stranded"] == int(((graph.degree > 0) & (kept == 0)).sum())
    assert left["after"]["edges"] == ticket.info.edges.kept
    seen = run_here(*arguments, cwd=tmp_path).stdout
    for words in ("Layers", "Graph before and after pruning", "Nodes with the most removed edges",
                  f"{left['num_stranded']} nodes lost all edges", first["node"]):  # fmt: skip
        assert words in seen


def test_inspect_draws_a_node(home, ticket, tmp_path):
    arguments = ["inspect", "--all", home / "a.ticket", home / "before", "--node", "node-3"]
    done = run_here(*arguments, "--picture", "a.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Node node-3: " in done.stdout
    assert "Picture: a.svg" in done.stdout
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    found = json.loads(run_here(*arguments, "--hops", 1, "--json", cwd=tmp_path).stdout)
    around, own = found["neighbourhood"], found["neighbours"]
    assert sorted(own["kept"] + own["removed"]) == sorted(around["nodes"][1:])
    assert len(own["kept"]) == around["degree_after"]
    assert around["nodes"][0] == "node-3"
    assert set(around["hops"]) == {0, 1}
    assert around["degree"] == len(around["nodes"]) - 1


def test_inspect_refuses_bad_input(home, tmp_path):
    def line(*arguments):
        return refused(run_here("inspect", home / "a.ticket", *arguments, cwd=tmp_path))

    before = home / "before"
    assert "expected --node ID" in line(before, "--picture", "a.png")
    assert "expected .png, .pdf or .svg" in line(before, "--node", "node-3", "--picture", "a.gif")
    assert "expected an id of the graph" in line(before, "--node", "3", "--picture", "a.png")
    assert "expected 1 or 2" in line(before, "--node", "node-3", "--hops", 3)
    assert "expected 1 or 2" in line(before, "--hops", 3)
    assert "expected" in line("--split", "bogus")
    assert "expected its graph" in line("--node", "node-3")
    assert "the ticket belongs to" in line(home / "later")
    assert list(tmp_path.iterdir()) == []
