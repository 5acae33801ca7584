"""Training, validation and test splits: random ones, and one of several in the data."""

from __future__ import annotations

import copy
import re
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import MASKS, count_splits, mask_of_split
from teddy.errors import InputError

Masks = tuple[Tensor, Tensor, Tensor]

#: Splits that can be drawn.
CHOICES = "'random' or percentages such as '20/40/40' (--split 20/40/40)"


def split_nodes(
    y: Tensor, split: str, seed: int = 0, *, public: Masks | None = None, of: str = "node"
) -> Masks:
    """Return the masks of the training, validation and test nodes.

    - ``"public"``: the masks in the data.
    - ``"random"``: as in Planetoid, 20 nodes per class for training, 500 for validation and 1000
      for test. A class of fewer than 40 nodes gives half of them (at least one) to training. If
      fewer than 1500 nodes are then left, a third is for validation and the rest for test.
    - ``"A/B/C"``: percentages of the labelled nodes that sum to 100. The cuts are at A% and (A+B)%
      of the nodes, rounded.

    Nodes without a label are in no mask. The same seed gives the same masks.

    Args:
        y: Classes as integers ``[N]``, -1 for no label; or several labels or numbers as floats
            ``[N]`` or ``[N, D]``, nan for unknown values.
        split: One of the above.
        seed: Seed of random splits.
        public: The masks in the data.
        of: Name of a row in errors.

    Returns:
        Three bool masks ``[N]``: train, validation, test.

    Example:
        >>> y = torch.tensor([0, 1, -1, 0, 1, 0])
        >>> [int(mask.sum()) for mask in split_nodes(y, "20/40/40", seed=0)]
        [1, 2, 2]
        >>> split_nodes(y, "20/40/30")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: split '20/40/30' sums to 90, expected 100
    """
    if split == "public":
        if public is None:
            raise InputError(f"split is 'public', not in these data, expected {CHOICES}")
        return public
    if not 0 <= seed < 2**63:
        raise InputError(f"seed is {seed}, expected 0 to 2^63 - 1")
    generator = torch.Generator().manual_seed(seed)
    if y.is_floating_point() and split == "random":
        raise InputError(
            "split 'random' needs classes, expected percentages such as '60/20/20' for numbers or "
            "several labels"
        )
    known = ~y.view(y.size(0), -1).isnan().all(dim=1) if y.is_floating_point() else y >= 0
    labelled = known.nonzero().squeeze(1).cpu()
    shuffled = labelled[torch.randperm(len(labelled), generator=generator)]
    parts = _planetoid(shuffled, y) if split == "random" else _percentages(shuffled, split)
    for part, name in zip(parts, ("training", "validation", "test"), strict=True):
        if len(part) == 0:
            raise InputError(
                f"split '{split}' leaves no {name} {of} out of {len(labelled)} labelled ones, "
                "expected at least one"
            )
    train, val, test = (_mask(part, y) for part in parts)
    return train, val, test


def split_number(split: Any) -> int | None:
    """Return the index of a split, ``3`` or ``"3"``; None for a split with another name.

    Example:
        >>> split_number("3"), split_number("20/40/40")
        (3, None)
    """
    return int(split) if re.fullmatch("[0-9]+", str(split)) else None


def one_split(
    data: Data, split: int | str | None = None, seed: int = 0, source: str = "data"
) -> Data:
    """Return a copy of the data with the masks ``[N]`` of one of K splits, masks ``[N, K]``.

    The copy has ``split``, the index as text. Data with one split are returned unchanged.

    Args:
        data: Data with the three masks, checked.
        split: Index of the split; by default ``seed`` modulo K.
        seed: Seed for the default.
        source: Name of the data in errors.

    Example:
        >>> wide = torch.eye(3, dtype=torch.bool)
        >>> data = Data(train_mask=wide, val_mask=wide.roll(1, 1), test_mask=wide.roll(2, 1))
        >>> one_split(data, seed=4).train_mask, one_split(data, seed=4).split
        (tensor([False,  True, False]), '1')
        >>> one_split(data, 3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: split is 3, expected 0 to 2
    """
    masks = {key: data[key] for key in MASKS}
    count = count_splits(masks, source)
    number = seed % count if split is None else split_number(split)
    if number is None or not 0 <= number < count:
        known = (
            f"0 to {count - 1}"
            if count > 1
            else "0, the only split of the data; load_dataset(split=...) draws another"
        )
        raise InputError(f"{source}: split is {split}, expected {known}")
    if all(mask.dim() == 1 for mask in masks.values()):
        return data
    data = copy.copy(data)
    for key, mask in masks.items():
        data[key] = mask_of_split(mask, number)
    if count > 1:
        data.split = str(number)
    return data


def same_split(data: Data, split: str, source: str = "data") -> Data:
    """Return data with the masks of the split that a ticket was found on.

    Args:
        data: Data with the three masks, ``[N]`` or ``[N, K]``.
        split: Name of the split in the ticket.
        source: Name of the data in errors.
    """
    count = count_splits({key: data[key] for key in MASKS}, source)
    if count > 1 and split_number(split) is None:
        raise InputError(
            f"{source}: masks have {count} splits, but the ticket has the split '{split}', "
            "expected masks of one split, such as train_mask[:, 0]"
        )
    return one_split(data, split if count > 1 else None, source=source)


def _planetoid(shuffled: Tensor, y: Tensor) -> Masks:
    labels = y.cpu()[shuffled]
    training = torch.zeros(len(shuffled), dtype=torch.bool)
    for label in labels.unique():
        members = (labels == label).nonzero().squeeze(1)
        training[members[: min(20, max(1, len(members) // 2))]] = True
    rest = shuffled[~training]
    num_val, num_test = 500, 1000
    if len(rest) < num_val + num_test:
        num_val = min(max(1, len(rest) // 3), len(rest))
        num_test = len(rest) - num_val
    return shuffled[training], rest[:num_val], rest[num_val : num_val + num_test]


def shares_of(
    split: str, expected: str = f"'public', {CHOICES}"
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the three percentages of a split, or raise unless they sum to 100.

    Args:
        split: Such as ``"85/5/10"``.
        expected: Supported splits, for the error.

    Example:
        >>> [float(share) for share in shares_of("85/5/10")]
        [85.0, 5.0, 10.0]
    """
    number = r"(\d+(?:\.\d+)?)"
    match = re.fullmatch(f"{number}/{number}/{number}", split)
    if match is None:
        raise InputError(f"split is '{split}', expected {expected}")
    # As fractions: 33.3 + 33.3 + 33.4 isn't 100 in floating point.
    train, val, test = (Fraction(part) for part in match.groups())
    if train + val + test != 100:
        raise InputError(f"split '{split}' sums to {float(train + val + test):g}, expected 100")
    return train, val, test


def _percentages(shuffled: Tensor, split: str) -> Masks:
    train, val, _ = shares_of(split)
    first = round(train * len(shuffled) / 100)
    second = round((train + val) * len(shuffled) / 100)
    return shuffled[:first], shuffled[first:second], shuffled[second:]


def _mask(nodes: Tensor, y: Tensor) -> Tensor:
    mask = torch.zeros(y.size(0), dtype=torch.bool)
    mask[nodes] = True
    return mask.to(y.device)
