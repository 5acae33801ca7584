"""Sets of graphs: what comes in, splits, the bundled one."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, InMemoryDataset
from torch_geometric.utils import is_undirected

import teddy
from graph_sets import rings_and_trees
from teddy.data.bundled_sets import FOLDER
from teddy.data.checks import MASKS
from teddy.errors import InputError
from teddy.tasks import load_to_predict
from teddy.tasks.graph_split import _numbered, as_batch, graph_set


def graph(nodes=3, **changes):
    fields = {"x": torch.ones(nodes, 2), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": 0}
    return Data(**{**fields, **changes})


class Small(InMemoryDataset):
    def __init__(self, graphs):
        super().__init__()
        self.data, self.slices = self.collate(graphs)


def test_lists_data_sets_and_batches_are_the_same():
    graphs = rings_and_trees()
    for one in graphs:
        one.y = torch.tensor([one.y])
    found = [graph_set(given) for given in (graphs, Small(graphs), Batch.from_data_list(graphs))]
    for batch in found:
        assert batch.num_graphs == 40
        assert batch.split == "given"
        for key in ("x", "edge_index", "y", "batch", *MASKS):
            assert torch.equal(batch[key], found[0][key]), key
        assert torch.equal(batch[3].edge_index, graphs[3].edge_index)
    assert graph_set(found[0].to_data_list()).y.tolist() == found[0].y.tolist()


@given(st.integers(0, 10_000))
def test_a_drawn_split_has_each_graph_once(seed):
    graphs = [graph(y=i % 2) for i in range(20)]
    batch = graph_set(graphs, "50/25/25", seed)
    parts = torch.stack([batch[key] for key in MASKS]).int()
    assert parts.sum(dim=0).tolist() == [1] * 20
    assert parts.sum(dim=1).tolist() == [10, 5, 5]
    assert (batch.split, batch.split_seed) == ("50/25/25", seed)
    again = graph_set(Batch.from_data_list([graph(y=i % 2) for i in range(20)]), "50/25/25", seed)
    assert all(torch.equal(batch[key], again[key]) for key in MASKS)


def test_the_callers_stay_as_they_are():
    graphs = [graph(y=i % 2) for i in range(10)]
    batch = Batch.from_data_list([graph(y=torch.tensor([i % 2])) for i in range(10)])
    before = set(batch.keys())
    graph_set(graphs)
    graph_set(batch)
    assert set(batch.keys()) == before
    assert "train_mask" not in batch._slice_dict
    assert not any("train_mask" in one for one in graphs)


CASES = {
    "a string": ("solubility", "graphs: is a str, expected a list of Data, or a Batch"),
    "none": ([], "graphs: has no graphs, expected at least one"),
    "no Data": ([graph(), 3], r"graphs\[1\]: is a int, expected a Data"),
    "no features": ([graph(x=None, num_nodes=3)], r"graphs\[0\]: no x, expected a feature matrix"),
    "other features": ([graph(), graph(x=torch.ones(3, 4))], r"graphs\[1\]: x is of shape"),
    "nan": ([graph(), graph(x=torch.full((3, 2), torch.nan))], r"graphs\[1\]: x\[0, 0\] is nan"),
    "an edge outside": ([graph(nodes=2), graph()], r"graphs\[0\]: edge_index\[1, 1\] is 2, expec"),
    "no edges": ([Data(x=torch.ones(2, 2), y=0)], r"graphs\[0\]: no edge_index"),
    "attributes": ([graph(edge_attr=torch.ones(5, 1))], r"edge_attr has shape \[5, 1\], exp"),
    "some attributes": ([graph(), graph(edge_attr=torch.ones(2, 1))], "edge_attr is of shape"),
    "a list of attributes": ([graph(edge_attr=[1, 2])], r"graphs\[0\]: edge_attr is a list, "),
    "nan attributes": ([graph(edge_attr=torch.full((2,), torch.nan))], r"edge_attr\[0\] is nan"),
    "a name": ([graph(y="toxic")], r"graphs\[0\]: y is a str, expected a tensor"),
    "several classes": ([graph(y=torch.tensor([0, 1]))], r"graphs\[0\]: y has shape \[2\], ex"),
    "no class": ([Data(x=torch.ones(1, 2), edge_index=torch.empty(2, 0).long())], "graphs: no y"),
    "a number": ([graph(y=0.5), graph(y=1.5)], "graphs: y is float32, expected integers"),
    "one class": ([graph() for _ in range(20)], "all training labels are 0, expected at least two"),
    "few": ([graph(y=0), graph(y=1)], "leaves no validation graph out of 2 labelled ones"),
    "one mask": ([graph(y=i % 2, train_mask=True) for i in range(9)], "train_mask but no val_mask"),
    "some masks": ([graph(train_mask=True), graph()], r"graphs\[1\]: train_mask is missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_invalid_input_raises_a_clear_message(case):
    graphs, message = CASES[case]
    with pytest.raises(InputError, match=message):
        graph_set(graphs)


def test_splits_that_cant_be():
    graphs = [graph(y=i % 2) for i in range(8)]
    for split, message in (
        ("public", "graphs: has no split"),
        (([0], [1]), "split has 2 parts, expected the numbers of graphs"),
        (([0, 1], [2], [8]), "isn't numbers of graphs, expected some from 0 to 7"),
        (([0, 1], [2], [-1]), "isn't numbers of graphs, expected some from 0 to 7"),
        (([0.5, 1], [2], [3]), "isn't numbers of graphs"),
        (([True] * 4 + [False] * 4, [2], [3]), "isn't numbers of graphs"),
        ((["a"], [2], [3]), "isn't numbers of graphs"),
        (5, "graphs: split is 5, expected the numbers of graphs"),
        (([0, 1], [1], [2]), "graph 1 is in train_mask and val_mask"),
        (([0, 1], [], [2]), "val_mask has no graph"),
    ):
        with pytest.raises(InputError, match=message):
            graph_set(graphs, split)


def test_seeds_of_splits():
    graphs = [graph(y=i % 2) for i in range(20)]
    for seed in ("a", 1.5, -1, None):
        with pytest.raises(InputError, match=f"^seed is {seed}, expected a whole number"):
            graph_set(graphs, seed=seed)
    drawn = graph_set(graphs, seed=np.int64(3))
    assert type(drawn.split_seed) is int
    assert graph_set(drawn).split_seed == 3
    given = graph_set(drawn, split=(range(10), range(10, 15), range(15, 20)))
    assert (given.split, given.get("split_seed")) == ("given", None)
    assert drawn.split_seed == 3


def test_batches_are_looked_at_too():
    batch = Batch.from_data_list([graph(), graph(y=1)])
    batch.edge_index = batch.edge_index.clone()
    batch.edge_index[1, 0] = 4
    with pytest.raises(InputError, match=r"edge_index\[1, 0\] is a node of graph 1, expected one"):
        as_batch(batch)
    nothing = torch.empty(2, 0, dtype=torch.long)
    empty = Batch.from_data_list([graph(), graph(nodes=0, edge_index=nothing)])
    with pytest.raises(InputError, match=r"graphs\[1\]: has no nodes"):
        as_batch(empty)


# The bundled set


def test_solubility_matches_its_file():
    data = teddy.load_dataset("solubility")
    assert (data.num_graphs, data.split, data.name) == (1282, "public", "solubility")
    assert [int(data[key].sum()) for key in MASKS] == [820, 205, 257]
    assert data.test_mask[1025:].all()
    assert is_undirected(data.edge_index, data.edge_attr)
    with np.load(FOLDER / "solubility.npz", allow_pickle=False) as file:
        assert all(file[key].dtype.kind in "iu" for key in file.files)
        low, high = file["pairs"]
        assert (low < high).all()
        assert file["elements"].tolist() == [1, 6, 7, 8, 9, 15, 16, 17, 35, 50, 53]
    pentane, cyclopentane = data[0], data[1]
    carbon = data.feature_names.index("C")
    assert pentane.x[:, carbon].tolist() == [1.0] * 5
    assert pentane.x[:, -3:].tolist() == [[1, 1, 0], [2, 2, 0], [2, 2, 0], [2, 2, 0], [1, 1, 0]]
    assert (pentane.num_edges, cyclopentane.num_edges) == (8, 10)
    assert [data.class_names[y] for y in data.y[:2]] == ["low", "medium"]


def test_another_split_of_solubility():
    data = teddy.load_dataset("solubility", split="60/20/20", seed=3)
    assert [int(data[key].sum()) for key in MASKS] == [769, 257, 256]
    assert (data.split, data.split_seed) == ("60/20/20", 3)


# Files


def test_a_list_in_a_file(tmp_path):
    graphs = rings_and_trees()
    torch.save(graphs, tmp_path / "rings.pt")
    batch = teddy.load_dataset(tmp_path / "rings.pt", task="graph-classification")
    assert (batch.num_graphs, batch.name, batch.split) == (40, "rings.pt", "public")
    drawn = teddy.load_dataset(tmp_path / "rings.pt", split="50/25/25", seed=1)
    assert int(drawn.train_mask.sum()) == 20
    bare = [Data(x=g.x, edge_index=g.edge_index) for g in graphs]
    torch.save(bare, tmp_path / "bare.pt")
    assert "y" not in load_to_predict(tmp_path / "bare.pt", task="graph-classification")
    with pytest.raises(InputError, match=re.escape("bare.pt: no y, expected an integer label")):
        teddy.load_dataset(tmp_path / "bare.pt")


def test_one_graph_is_no_set():
    with pytest.raises(InputError, match="citeseer: is one graph, expected several for the task"):
        teddy.load_dataset("citeseer", task="graph-classification")
    with pytest.raises(InputError, match="solubility: is a set of graphs, expected the task graph"):
        teddy.load_dataset("solubility", task="regression")


def test_a_batch_whose_edges_have_changed_is_refused():
    batch = T.ToUndirected()(Batch.from_data_list([graph(), graph()]))
    with pytest.raises(InputError, match="8 columns, expected the 4 that the Batch was made of"):
        teddy.graph_set(batch)


def test_masks_are_where_the_classes_are():
    masks = _numbered(([0], [1], [2]), torch.zeros(3, device="meta"), "graphs")
    assert {mask.device.type for mask in masks} == {"meta"}


def test_names_of_graphs_are_not_the_name_of_the_set():
    own = {"name": "m", "split": "train", "class_names": ["a", "b"], "graph_of_node": torch.ones(3)}
    batch = graph_set(Batch.from_data_list([graph(y=i % 2, **own) for i in range(20)]))
    assert batch.split == "80/10/10"
    assert not {"name", "class_names", "graph_of_node"} & set(batch.keys())
    batch.name = "set"
    assert graph_set(batch).name == "set"


@pytest.mark.parametrize("y", [0.5, [[0, 1]]])
def test_targets_of_nodes_arent_recommended(y):
    batch = Batch.from_data_list([graph(y=torch.tensor(y)) for _ in range(3)])
    with pytest.raises(InputError, match=r"y .*expected") as error:
        graph_set(batch)
    assert "task" not in str(error.value)
