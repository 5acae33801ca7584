"""What ``y`` may be for each task."""

import math

import pytest
import torch

from teddy.data import check_data, split_nodes
from teddy.errors import InputError
from teddy.tasks import TASKS, load_dataset

from .small_graphs import mask, small_data

NAN = math.nan


def with_y(y, **fields):
    data = small_data()
    data.y = y
    for key, value in fields.items():
        data[key] = value
    return data


LABELS = torch.tensor([[1, 0], [0, 1], [1, 1], [0, 1], [1, 0], [-1, -1]])
NUMBERS = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, NAN])
PARTS = {"train_mask": mask(0, 1), "val_mask": mask(2, 3), "test_mask": mask(4, 5)}

ERRORS = {
    "labels 1-D": (
        "multilabel", with_y(NUMBERS), "y has shape [6], expected [6, labels] of 0 and 1",
    ),
    "labels of numbers": (
        "multilabel", with_y(LABELS * 2),
        "y[0, 0] is 2, expected 0 or 1, or nan or -1 for unknown",
    ),
    "labels unknown": (
        "multilabel", with_y(LABELS, **PARTS),
        "y[5] is [nan, nan], expected a label: node is in test_mask",
    ),
    "labels without a one": (
        "multilabel", with_y(LABELS * 0), "no label of train_mask is 1, expected at least one",
    ),
    "labels without a zero": (
        "multilabel", with_y(LABELS * 0 + 1), "no label of train_mask is 0, expected at least one",
    ),
    "numbers complex": ("regression", with_y(NUMBERS.cfloat()), "y is complex64, expected numbers"),
    "numbers infinite": (
        "regression", with_y(torch.tensor([1.0, 2, 3, -math.inf, 5, 6])),
        "y[3] is -inf, expected finite numbers, or nan for unknown",
    ),
    "numbers short": (
        "regression", with_y(NUMBERS[:5]), "y has shape [5], expected [6] or [6, numbers]",
    ),
    "numbers unknown": (
        "regression", with_y(NUMBERS, **PARTS),
        "y[5] is nan, expected a label: node is in test_mask",
    ),
    "numbers that are equal": (
        "regression", with_y(torch.tensor([[1.0, 2], [1, 3], [2, 2], [2, 4], [3, 1], [4, 2]]),
                             **PARTS),
        "y[:, 0] has fewer than two different numbers in train_mask, expected more: R2 compares "
        "with their mean",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_error_names_place_value_and_expectation(case):
    task, data, message = ERRORS[case]
    with pytest.raises(InputError) as caught:
        check_data(data, "graph.npz", TASKS[task].targets)
    assert str(caught.value) == f"graph.npz: {message}"


@pytest.mark.parametrize("kind", [torch.bool, torch.int64, torch.float32, torch.float64])
def test_labels_become_floats_and_nan(kind):
    y = LABELS.clamp(min=0) if kind == torch.bool else LABELS
    parts = {"train_mask": mask(0, 1), "val_mask": mask(2), "test_mask": mask(4)}
    checked = check_data(with_y(y.to(kind), **parts), targets=TASKS["multilabel"].targets).y
    assert checked.dtype == torch.float32
    expected = y.to(kind).float()
    expected[expected == -1] = NAN
    torch.testing.assert_close(checked, expected, equal_nan=True)


@pytest.mark.parametrize("kind", [torch.int64, torch.float32, torch.float64, torch.float16])
def test_numbers_keep_their_precision(kind):
    y = torch.tensor([1.0, 2, 3, 4, 5, 6]).to(kind)
    checked = check_data(with_y(y, **PARTS), targets=TASKS["regression"].targets).y
    assert checked.dtype == (torch.float32 if kind == torch.float32 else torch.float64)
    assert checked.tolist() == [1, 2, 3, 4, 5, 6]


def test_splits_leave_out_nodes_without_a_target():
    y = torch.arange(20.0)
    y[3] = NAN
    masks = split_nodes(y, "50/25/25")
    assert sum(int(part.sum()) for part in masks) == 19
    assert not any(bool(part[3]) for part in masks)
    labels = torch.full((20, 2), NAN)
    labels[:8, 0] = 1
    assert sum(int(part[:8].sum()) for part in split_nodes(labels, "50/25/25")) == 8
    with pytest.raises(InputError, match="split 'random' needs classes"):
        split_nodes(y, "random")


def write_tables(folder, labels, edges="source,target,weight\n0,1,0.5\n1,2,2\n2,3,1\n1,0,0.5\n"):
    (folder / "edges.csv").write_text(edges)
    rows = "\n".join(f"{i},{label},{i}.5" for i, label in enumerate(labels))
    (folder / "nodes.csv").write_text(f"id,label,height\n{rows}\n")
    return folder


def test_tables_hold_numbers_and_weights(tmp_path):
    folder = write_tables(tmp_path, ["1.5", "2.5", "-3", "4", "5", "", "6"])
    data = load_dataset(folder, task="regression", split="34/33/33")
    torch.testing.assert_close(data.y, torch.tensor([1.5, 2.5, -3, 4, 5, NAN, 6]), equal_nan=True)
    assert data.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]
    assert data.edge_weight.tolist() == [0.5, 0.5, 2, 2, 1, 1]
    directed = load_dataset(folder, task="regression", split="34/33/33", directed=True)
    assert directed.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 3]]
    assert directed.edge_weight.tolist() == [0.5, 0.5, 2, 1]


@pytest.mark.parametrize(
    ("labels", "edges", "task", "message"),
    [
        (["1", "x"], "source,target\n0,1\n", "regression", "row 2: label is 'x', expected a numb"),
        (["1", "inf"], "source,target\n0,1\n", "regression", "row 2: label is inf, expected a fin"),
        (["1", "2"], "source,target,weight\n0,1,a\n", "classification",
         "edges.csv: row 1: weight is 'a', expected a number"),
        (["1", "2"], "source,target,weight\n0,1,\n", "classification",
         "edges.csv: row 1: weight is empty, expected a number"),
        (["1", "2"] * 5, "source,target,weight\n0,1,1\n1,0,3\n", "classification",
         r"edge_weight of edge \(., .\) is .* expected one value; directed=True has one for each"),
        (["1", "2"], "source,target\n0,1\n", "multilabel",
         "one label per node, expected graph.npz or graph.pt for the task multilabel"),
    ],
)  # fmt: skip
def test_bad_tables_raise(tmp_path, labels, edges, task, message):
    with pytest.raises(InputError, match=message):
        load_dataset(write_tables(tmp_path, labels, edges), task=task, split="40/40/20")
