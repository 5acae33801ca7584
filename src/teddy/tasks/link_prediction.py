"""Link prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from teddy.capabilities import FEATURES, check_combination
from teddy.data.targets import Links, Targets
from teddy.settings import setting
from teddy.tasks.kind import Kind
from teddy.tasks.links import LinkKind
from teddy.tasks.multilabel import BinaryCrossEntropy
from teddy.tasks.objective import Objective
from teddy.tasks.ranking import auc
from teddy.tasks.task import ClassWeight, Task


@dataclass(frozen=True)
class LinkPrediction(Task):
    """Link prediction: binary cross entropy, AUC, links with a positive logit.

    Args:
        dimensions: Outputs of a node, for a built-in model.
        hits_at: Rank k of the second metric, hits@k.

    Example:
        >>> str(LinkPrediction(dimensions=16))
        'link-prediction:dimensions=16'
        >>> import torch
        >>> LinkPrediction().predict(torch.tensor([[0.5], [-1.0]]))
        tensor([1, 0])
    """

    name: ClassVar[str] = "link-prediction"
    kind: ClassVar[type[Kind]] = LinkKind
    targets: ClassVar[Targets] = Links()
    unsupported: ClassVar[Mapping[str, str]] = {
        "class weights": "negative links are as many as positive links",
    }
    metric: ClassVar[str] = "AUC"
    outputs: ClassVar[str] = "outputs"
    loss: ClassVar[type[Objective]] = BinaryCrossEntropy

    dimensions: int = setting(64, "Outputs of a node.", low=1)
    hits_at: int = setting(50, "Rank k of hits@k.", low=1)

    @classmethod
    def fit(
        cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None
    ) -> LinkPrediction:
        """Return the task, which needs no statistics of the targets."""
        if class_weight is not None:
            check_combination([cls.part(), FEATURES["class weights"]])
        return cls()

    def score(self, logits: Tensor, y: Tensor) -> float:
        """Return the AUC in percent."""
        return auc(logits, y)

    def resolution(self, y: Tensor) -> float:
        """Return the points of AUC of one pair of a positive and a negative link: 100 / (P N).

        Example:
            >>> import torch
            >>> LinkPrediction().resolution(torch.tensor([1.0, 1.0, 0.0, 0.0]))
            25.0
        """
        positive = int((y == 1).sum())
        return 100.0 / max(1, positive * (y.numel() - positive))

    def predict(self, logits: Tensor) -> Tensor:
        """Return 0 or 1 for each link, int64 ``[P]``."""
        return (logits > 0).long().squeeze(1)

    def prediction_columns(
        self, logits: Tensor, classes: Sequence[str] | None
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return the columns ``link``, 0 or 1, and its ``probability``."""
        probabilities = [round(p, 4) for p in self.predict_proba(logits).tolist()]
        both = zip(self.predict(logits).tolist(), probabilities, strict=True)
        return ("link", "probability"), list(both)

    def predict_proba(self, logits: Tensor) -> Tensor:
        """Return the sigmoid: the probability of each link ``[P]``."""
        return logits.sigmoid().squeeze(1)
