"""Pairs of nodes that have a link or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from teddy.capabilities import FEATURES, check_combination
from teddy.settings import TrainConfig, setting
from teddy.training.objective import Objective, Totals
from teddy.training.tasks.multilabel import BinaryCrossEntropy
from teddy.training.tasks.task import ClassWeight, Task


@dataclass(frozen=True)
class LinkPrediction(Task):
    """Tell links from pairs without one: binary cross entropy, AUC, links of a logit above 0.

    Args:
        dimensions: Outputs of a node, of a model that is given by name.
        hits_at: Rank k of the second metric, hits@k.

    Example:
        >>> str(LinkPrediction(dimensions=16))
        'link-prediction:dimensions=16'
        >>> LinkPrediction().predict(torch.tensor([[0.5], [-1.0]]))
        tensor([1, 0])
    """

    name: ClassVar[str] = "link-prediction"
    level: ClassVar[str] = "link"
    unsupported: ClassVar[Mapping[str, str]] = {
        "heterogeneous": "its inner product is between nodes of one type",
        "inductive": "its split holds out links, not nodes",
        "directed": "its inner product is the same in both directions",
        "class weights": "as many pairs without a link are drawn as there are links",
    }
    metric: ClassVar[str] = "AUC"

    dimensions: int = setting(64, "Outputs of a node.", low=1)
    hits_at: int = setting(50, "Rank k of hits@k.", low=1)

    @classmethod
    def fit(
        cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None
    ) -> LinkPrediction:
        """There is nothing to learn from targets before the training."""
        if class_weight is not None:
            check_combination([cls.part(), FEATURES["class weights"]])
        return cls()

    def objective(
        self,
        y: Tensor,
        train: Tensor,
        teacher: Tensor | None,
        config: TrainConfig,
        totals: Totals | None = None,
    ) -> Objective:
        """What a training minimises."""
        return BinaryCrossEntropy(y, train, teacher, config, totals)

    def score(self, logits: Tensor, y: Tensor) -> float:
        """Area under the curve of the receiver operating characteristic."""
        return auc(logits, y)

    def resolution(self, y: Tensor) -> float:
        """Points of AUC that one pair of a positive and a negative link is worth: 100 / (P N).

        Example:
            >>> LinkPrediction().resolution(torch.tensor([1.0, 1.0, 0.0, 0.0]))
            25.0
        """
        positive = int((y == 1).sum())
        return 100.0 / max(1, positive * (y.numel() - positive))

    def predict(self, logits: Tensor) -> Tensor:
        """0 or 1 of each link, int64 ``[P]``."""
        return (logits > 0).long().squeeze(1)

    def predict_proba(self, logits: Tensor) -> Tensor:
        """Sigmoid: the probability of each link ``[P]``."""
        return logits.sigmoid().squeeze(1)


def auc(logits: Tensor, y: Tensor) -> float:
    r"""Share of pairs of a positive and a negative that are in order, in percent.

    .. math::
        \frac{1}{|P| |N|} \sum_{p \in P} \sum_{n \in N}
        \mathbb 1[z_p > z_n] + \tfrac12 \mathbb 1[z_p = z_n]

    which is the area under the curve of the receiver operating characteristic; it is counted in
    integers.

    Args:
        logits: ``[P]`` or ``[P, 1]``.
        y: 1 or 0, of the same shape.

    Example:
        >>> auc(torch.tensor([3.0, 1.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0]))
        87.5
    """
    positive, negative = _parts(logits, y)
    negative = negative.sort().values
    below = torch.searchsorted(negative, positive)
    not_above = torch.searchsorted(negative, positive, right=True)
    return 50.0 * int((below + not_above).sum()) / (positive.numel() * negative.numel())


def hits_at(k: int, logits: Tensor, y: Tensor) -> float:
    r"""Share of positives above the k-th highest negative, in percent, as OGB has it.

    With fewer than k negatives there is none to be above, and it is 100.

    Args:
        k: The rank.
        logits: ``[P]`` or ``[P, 1]``.
        y: 1 or 0, of the same shape.

    Example:
        >>> hits_at(1, torch.tensor([3.0, 1.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0]))
        50.0
    """
    positive, negative = _parts(logits, y)
    if negative.numel() < k:
        return 100.0
    bar = negative.topk(k).values[-1]
    return 100.0 * int((positive > bar).sum()) / positive.numel()


def _parts(logits: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    z, there = logits.detach().flatten(), y.flatten() == 1
    # A nan has no place in an order: it counts as a mistake, whichever of the two it is of.
    z = torch.where(z.isnan(), torch.where(there, -torch.inf, torch.inf), z)
    return z[there], z[~there]
