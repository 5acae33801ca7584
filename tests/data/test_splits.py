import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from teddy.data import split_nodes
from teddy.errors import InputError
from teddy.tasks import load_dataset


def sizes(masks):
    return [int(mask.sum()) for mask in masks]


@given(st.integers(10, 200), st.integers(10, 80), st.integers(1, 90), st.integers(0, 2**63 - 1))
@settings(max_examples=60)
def test_percentages_are_exact_disjoint_and_cover_the_labelled(nodes, train, val, seed):
    val = min(val, 99 - train)
    y = torch.arange(nodes) % 4 - 1  # every fourth node has no label
    labelled = int((y >= 0).sum())
    split = f"{train}/{val}/{100 - train - val}"
    first, second = round(train * labelled / 100), round((train + val) * labelled / 100)
    expected = [first, second - first, labelled - second]
    if 0 in expected:
        with pytest.raises(InputError, match=rf"split '{split}' leaves no \w+ node"):
            split_nodes(y, split, seed)
        return
    masks = split_nodes(y, split, seed)
    assert all(mask.dtype == torch.bool and mask.shape == y.shape for mask in masks)
    assert sizes(masks) == expected
    assert torch.equal(torch.stack(masks).sum(dim=0), (y >= 0).long())
    for mask, again in zip(masks, split_nodes(y, split, seed), strict=True):
        assert torch.equal(mask, again)


def test_fractions_of_percents():
    assert sizes(split_nodes(torch.zeros(1000).long(), "33.3/33.3/33.4")) == [333, 333, 334]


def test_seeds_differ():
    y = torch.arange(100) % 2
    assert not torch.equal(split_nodes(y, "20/40/40", 0)[0], split_nodes(y, "20/40/40", 1)[0])


def test_random_is_planetoid_style():
    data = load_dataset("pubmed", split="random", seed=3)
    assert data.split == "random"
    assert sizes((data.train_mask, data.val_mask, data.test_mask)) == [60, 500, 1000]
    assert data.y[data.train_mask].bincount().tolist() == [20, 20, 20]
    public = load_dataset("pubmed")
    assert not torch.equal(data.train_mask, public.train_mask)
    assert torch.equal(data.edge_index, public.edge_index)


@given(st.lists(st.integers(1, 60), min_size=2, max_size=5), st.integers(0, 100))
@settings(max_examples=60)
def test_random_shrinks_by_its_rule(class_sizes, seed):
    y = torch.tensor([-1] + [c for c, size in enumerate(class_sizes) for _ in range(size)])
    train_sizes = [min(20, max(1, size // 2)) for size in class_sizes]
    left = sum(class_sizes) - sum(train_sizes)
    if left < 2:
        with pytest.raises(InputError, match="split 'random' leaves no"):
            split_nodes(y, "random", seed)
        return
    masks = split_nodes(y, "random", seed)
    assert y[masks[0]].bincount().tolist() == train_sizes
    num_val = max(1, left // 3)
    assert sizes(masks) == [sum(train_sizes), num_val, left - num_val]
    assert torch.equal(torch.stack(masks).sum(dim=0), (y >= 0).long())


def test_public_returns_the_masks():
    masks = tuple(torch.eye(3, dtype=torch.bool))
    assert split_nodes(torch.tensor([0, 1, 0]), "public", public=masks) is masks


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("public", "split is 'public', not in these data, expected 'random' or perc"),
        ("20/40/30", "split '20/40/30' sums to 90, expected 100"),
        (
            "20/40",
            "split is '20/40', expected 'public', 'random' or percentages such as '20/40/40'",
        ),
        ("-20/60/60", "split is '-20/60/60', expected 'public'"),
        ("full", "split is 'full', expected 'public'"),
        ("0/50/50", "split '0/50/50' leaves no training node out of 10 labelled ones"),
        ("99/0.5/0.5", "split '99/0.5/0.5' leaves no validation node out of 10 labelled ones"),
    ],
)
def test_errors(split, message):
    with pytest.raises(InputError) as caught:
        split_nodes(torch.arange(10) % 2, split)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seed_out_of_range(seed):
    with pytest.raises(InputError, match=f"seed is {seed}, expected 0 to"):
        split_nodes(torch.arange(10) % 2, "random", seed)
