"""Edges that are held out, pairs without an edge, and what a graph with links has to be like."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import remove_self_loops, to_undirected

import teddy
from conftest import small_graph
from teddy.data.checks import MASKS
from teddy.errors import InputError
from teddy.graph.fingerprint import split_fingerprint
from teddy.tasks.link_split import check_links, with_links
from teddy.tasks.node_pairs import draw_no_edges, pair_keys, pairs_of


def as_set(pairs) -> set[tuple[int, int]]:
    return {(min(a, b), max(a, b)) for a, b in pairs.t().tolist()}


def parts(links: Data) -> dict[tuple[str, int], set[tuple[int, int]]]:
    """Positive and negative links of each mask."""
    return {
        (mask, value): as_set(links.edge_label_index[:, links[mask] & (links.edge_label == value)])
        for mask in MASKS
        for value in (1, 0)
    }


def links_of_small(**changes) -> Data:
    links = teddy.split_links(small_graph(), 0.2, 0.2)
    for key, value in changes.items():
        links[key] = value
    return links


def simple_graph() -> Data:
    data = small_graph()
    data.edge_index = to_undirected(remove_self_loops(data.edge_index)[0], num_nodes=data.num_nodes)
    return data


@given(st.integers(0, 10_000))
def test_a_split_is_one(seed):
    rng = np.random.default_rng(seed)
    data = small_graph(seed, nodes=int(rng.integers(20, 60)))
    val, test = rng.uniform(0.05, 0.4, 2)
    edges = {pair for pair in as_set(data.edge_index) if pair[0] != pair[1]}
    links = teddy.split_links(data, float(val), float(test), seed)
    found = parts(links)
    counts = {"val_mask": round(val * len(edges)), "test_mask": round(test * len(edges))}
    counts["train_mask"] = len(edges) - sum(counts.values())
    for mask in MASKS:
        assert len(found[mask, 1]) == len(found[mask, 0]) == counts[mask]
        assert int(links[mask].sum()) == 2 * counts[mask]  # none is there twice
    assert torch.stack([links[mask] for mask in MASKS]).sum(dim=0).eq(1).all()
    positive = [found[mask, 1] for mask in MASKS]
    assert set.union(*positive) == edges
    assert sum(map(len, positive)) == len(edges)
    # Messages run along the training edges, in both directions, self-loops, and no other.
    loops = {pair for pair in as_set(data.edge_index) if pair[0] == pair[1]}
    assert as_set(links.edge_index) == found["train_mask", 1] | loops
    assert links.edge_index.size(1) == 2 * counts["train_mask"] + len(loops)
    # Held-out negatives have no edge anywhere, and are different; training's none in training.
    held = found["val_mask", 0] | found["test_mask", 0]
    assert len(held) == counts["val_mask"] + counts["test_mask"]
    assert not held & edges
    assert not found["train_mask", 0] & found["train_mask", 1]
    check_links(links)


def test_training_negatives_are_of_the_training_edges_and_the_seed_alone():
    """The same training edges in another graph, with others held out, have the same negatives."""
    data = small_graph(nodes=60)
    one = teddy.split_links(data, 0.2, 0.2, seed=3)
    trained = pair_keys(one.edge_index[:, one.edge_index[0] < one.edge_index[1]])
    alone = pairs_of(draw_no_edges(trained, 60, trained.size, (3, 2)))
    negative = one.edge_label_index[:, one.train_mask & (one.edge_label == 0)]
    assert negative.equal(alone)


def test_a_split_depends_on_the_graph_and_the_seed_only():
    data = small_graph()
    one, again = teddy.split_links(data, seed=1), teddy.split_links(data, seed=1)
    once, shuffled = copy.copy(data), copy.copy(data)
    once.edge_index = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    order = torch.randperm(data.num_edges)
    loops = torch.arange(data.num_nodes).repeat(2, 1)
    shuffled.edge_index = torch.cat([data.edge_index[:, order], loops, data.edge_index], dim=1)
    for other in (again, teddy.split_links(once, seed=1), teddy.split_links(shuffled, seed=1)):
        for key in ("edge_label_index", "edge_label", *MASKS):
            assert one[key].equal(other[key])
        assert remove_self_loops(one.edge_index)[0].equal(remove_self_loops(other.edge_index)[0])
    prints = {
        split_fingerprint(teddy.split_links(data, seed=seed), links=True) for seed in range(8)
    }
    assert len(prints) == 8
    assert data.edge_index.equal(small_graph().edge_index)  # the caller's stays as it is


def test_weights_and_attributes_follow_their_edges():
    data = small_graph()
    low, high = data.edge_index.min(dim=0).values, data.edge_index.max(dim=0).values
    data.edge_weight = (100 * low + high).float()
    data.edge_attr = torch.stack([low, high], dim=1)
    links = teddy.split_links(data)
    low, high = links.edge_index.min(dim=0).values, links.edge_index.max(dim=0).values
    assert links.edge_weight.equal((100 * low + high).float())
    assert links.edge_attr.equal(torch.stack([low, high], dim=1))


def test_a_split_records_its_metadata():
    links = teddy.split_links(small_graph(), 0.2, 1 / 3, seed=5)
    assert (links.split, links.split_seed) == ("46.66666666666667/20/33.33333333333333", 5)
    again = with_links(small_graph(), links.split, 5)
    assert split_fingerprint(links, links=True) == split_fingerprint(again, links=True)
    assert with_links(links) is links
    with pytest.raises(InputError, match="has links already, expected no split '80/10/10'"):
        with_links(links, "80/10/10")


def test_splits_of_pyg_are_taken():
    data = simple_graph()
    split = RandomLinkSplit(0.1, 0.2, is_undirected=True)
    torch.manual_seed(0)
    train, val, test = split(data)
    links = check_links(teddy.links_of(train, val, test))
    assert links.edge_index.equal(train.edge_index)
    found = parts(links)
    for mask, part in zip(MASKS, (train, val, test), strict=True):
        assert found[mask, 1] == as_set(part.edge_label_index[:, part.edge_label == 1])
    with pytest.raises(
        InputError, match="val has no edge_label_index, expected the graphs of RandomLink"
    ):
        teddy.links_of(train, data, test)


def test_a_split_that_shows_both_directions_is_refused():
    """PyG's default holds out directions, not edges: the reverse of what is asked is shown."""
    torch.manual_seed(0)
    links = teddy.links_of(*RandomLinkSplit(0.1, 0.2)(simple_graph()))
    with pytest.raises(InputError, match=r"positive validation and test links are in edge_ind"):
        check_links(links)


def test_held_out_links_must_be_unknown():
    links = links_of_small()
    held = (links.val_mask & (links.edge_label == 1)).nonzero().flatten()[:2]
    shown = copy.copy(links)
    shown.edge_index = torch.cat([links.edge_index, links.edge_label_index[:, held].flip(0)], dim=1)
    with pytest.raises(InputError, match=r"data: 2 of the \d+ positive .* are in edge_index"):
        check_links(shown)
    learned = copy.copy(links)
    learned.edge_label_index = links.edge_label_index.clone()
    first = (links.train_mask & (links.edge_label == 1)).nonzero().flatten()[:2]
    learned.edge_label_index[:, first] = links.edge_label_index[:, held].flip(0)
    with pytest.raises(InputError, match=r"2 of the \d+ positive .* are among the training links"):
        check_links(learned)
    chosen = copy.copy(links)
    chosen.edge_label_index = links.edge_label_index.clone()
    first = (links.test_mask & (links.edge_label == 1)).nonzero().flatten()[:2]
    chosen.edge_label_index[:, first] = links.edge_label_index[:, held].flip(0)
    with pytest.raises(
        InputError, match=r"2 of the \d+ positive test links are among the validation"
    ):
        check_links(chosen)
    loops = torch.arange(links.num_nodes).repeat(2, 1)
    check_links(links_of_small(edge_index=torch.cat([links.edge_index, loops], dim=1)))


@pytest.mark.parametrize("mask", MASKS)
def test_pairs_without_an_edge_must_have_none(mask):
    links = links_of_small()
    wrong = (links[mask] & (links.edge_label == 0)).nonzero().flatten()[:2]
    links.edge_label_index[:, wrong] = links.edge_index[:, [0, -1]].flip(0)
    with pytest.raises(InputError, match=r"2 of the \d+ negative links .* in edge_index"):
        check_links(links)


def test_a_seed_of_numpy_is_a_number_as_any_other():
    one, other = (teddy.split_links(small_graph(), seed=seed) for seed in (3, np.int64(3)))
    assert type(other.split_seed) is int
    assert split_fingerprint(one, links=True) == split_fingerprint(other, links=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"edge_label_index": None},
            "no edge_label_index, expected the result of teddy.split_links",
        ),
        ({"edge_label": None}, "no edge_label, expected 0 or 1 for each link"),
        ({"edge_label": torch.zeros(3)}, r"edge_label has shape \[3\], expected \[\d+\], one for"),
        ({"edge_label": 2.0}, r"edge_label\[0\] is 2.0, expected 1 \(an edge\) or 0"),
        ({"edge_label": 1.0}, "no link of train_mask is 0, expected at least one"),
        (
            {"pair": (3, 3)},
            r"edge_label_index\[:, 0\] is node 3 twice, expected two different nodes",
        ),
        ({"pair": (3, 99)}, r"data: edge_label_index\[1, 0\] is 99, expected a node from 0 to 39"),
        ({"val_mask": None}, "no val_mask, expected three bool masks"),
        ({"val_mask": False}, "val_mask has no link, expected at least one"),
        ({"val_mask": "train_mask"}, "link 0 is in train_mask and val_mask, expected one of them"),
    ],
)
def test_wrong_links_are_refused(changes, message):
    links = links_of_small()
    for key, value in changes.items():
        if key == "pair":
            links.edge_label_index[:, 0] = torch.tensor(value)
        elif value is None:
            del links[key]
        elif isinstance(value, str):
            links[key] = links[value]
        else:
            whole = torch.full_like(links[key], value) if not torch.is_tensor(value) else value
            links[key] = whole
    with pytest.raises(InputError, match=message):
        check_links(links)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"val": 0.0}, "val is 0.0, expected a share of edges above 0 and below 1"),
        ({"test": "a"}, "test is a, expected a share"),
        ({"val": 0.5, "test": 0.5}, "val and test are 0.5 and 0.5, expected less than 1 together"),
        ({"val": 1e-6}, "with 0 for validation"),
        ({"seed": -1}, "seed is -1, expected a whole number from 0 to"),
        ({"seed": "a"}, "seed is a, expected a whole number from 0 to"),
        ({"seed": 1.5}, "seed is 1.5, expected a whole number from 0 to"),
    ],
)
def test_wrong_splits_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        teddy.split_links(small_graph(), **settings)


def test_a_graph_without_room_for_negatives_is_refused():
    every = torch.combinations(torch.arange(8)).t()
    with pytest.raises(InputError, match="0 pairs of nodes have no edge, expected at least 12"):
        teddy.split_links(Data(x=torch.eye(8), edge_index=every), 0.2, 0.2)


def test_sets_and_files_load_with_links(tmp_path, citeseer):
    links = teddy.load_dataset("citeseer", task="link-prediction", split="70/10/20", seed=2)
    expected = teddy.split_links(citeseer, 0.1, 0.2, seed=2)
    assert split_fingerprint(links, links=True) == split_fingerprint(expected, links=True)
    assert (links.name, links.split, links.split_seed) == ("citeseer", "70/10/20", 2)
    assert "y" not in links
    small = links_of_small()
    torch.save(small, tmp_path / "own.pt")
    arrays = {key: small[key].numpy() for key in ("x", "edge_index", "edge_label_index")}
    arrays |= {key: small[key].numpy() for key in ("edge_label", *MASKS)}
    np.savez(tmp_path / "own.npz", **arrays)
    for name in ("own.pt", "own.npz"):
        own = teddy.load_dataset(tmp_path / name, task="link-prediction")
        assert split_fingerprint(own, links=True) == split_fingerprint(small, links=True)
        assert own.split == "public"
        with pytest.raises(InputError, match=r"has links already, expected no split '85/5/10'"):
            teddy.load_dataset(tmp_path / name, task="link-prediction", split="85/5/10")
    (tmp_path / "edges.csv").write_text(
        "source,target\n" + "".join(f"n{a},n{b}\n" for a, b in small.edge_index.t().tolist())
    )
    rows = "".join(f"n{node},{node % 7}\n" for node in range(40))
    (tmp_path / "nodes.csv").write_text("id,size\n" + rows)  # no labels are needed
    table = teddy.load_dataset(tmp_path, task="link-prediction")
    assert (table.split, table.node_ids[:2]) == ("85/5/10", ["n0", "n1"])


@pytest.mark.parametrize("split", ["public", "random", "20/40", "50/50/50"])
def test_links_are_split_by_percentages(split):
    with pytest.raises(InputError, match=r"expected (percentages of edges such as '85/5/10'|100)"):
        teddy.load_dataset("citeseer", task="link-prediction", split=split)
    with pytest.raises(InputError, match="does not support directed graphs"):
        teddy.load_dataset("citeseer", task="link-prediction", directed=True)


def test_masks_are_where_the_links_are():
    parts = [part.to("meta") for part in RandomLinkSplit(is_undirected=True)(small_graph())]
    links = teddy.links_of(*parts)
    assert {links[mask].device.type for mask in MASKS} == {"meta"}


def test_a_pair_cant_be_a_link_and_none():
    links = teddy.split_links(small_graph())
    place = int((links.test_mask & (links.edge_label == 0)).nonzero()[0])
    other = int((links.test_mask & (links.edge_label == 1)).nonzero()[0])
    links.edge_label_index[:, place] = links.edge_label_index[:, other].flip(0)
    with pytest.raises(
        InputError, match="are among the positive ones, expected none: they contradict"
    ):
        check_links(links)
