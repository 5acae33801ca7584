"""Multilabel classification of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from teddy.data.targets import Labels, Targets
from teddy.tasks.objective import Objective
from teddy.tasks.task import ClassWeight, Task, check_class_weights


class BinaryCrossEntropy(Objective):
    r"""Binary cross entropy of the known training labels, and a divergence of each label.

    The first is the mean over the known (node, label) of
    :math:`-(w_c \, y \log \sigma(z) + (1 - y) \log (1 - \sigma(z)))`, with positive weights
    :math:`w_c` as in ``torch.nn.BCEWithLogitsLoss(pos_weight=...)``.

    With :math:`p = \sigma(z / \tau)` and :math:`q = \sigma(z_{dense} / \tau)` the divergence is the
    mean over nodes and all :math:`C` labels of the one between two Bernoulli distributions,
    :math:`q \log (q / p) + (1 - q) \log ((1 - q) / (1 - p))` (``dense-sparse``), or the same with
    :math:`p` and :math:`q` exchanged (``sparse-dense``).

    Example:
        >>> from teddy.settings import TrainConfig
        >>> y = torch.tensor([[1.0, torch.nan]])
        >>> BinaryCrossEntropy(y, torch.tensor([0]), None, TrainConfig())(torch.zeros(1, 2))
        tensor(0.6931)
    """

    def _outputs(self, logits: Tensor) -> Tensor:
        return logits

    def _loss(self, outputs: Tensor, predict: Tensor | None) -> Tensor:
        nodes = self.train if predict is None else predict
        z, y = outputs.index_select(0, nodes), self.y.index_select(0, nodes).to(outputs.dtype)
        known = ~y.isnan()
        weight = None if self.weight is None else self.weight.to(outputs.dtype)
        losses = F.binary_cross_entropy_with_logits(
            z, y.nan_to_num(), known.to(z.dtype), reduction="sum", pos_weight=weight
        )
        total = float(known.sum()) if self.totals is None else self.totals[0]
        return losses / max(total, 1.0)

    def _set_teacher(self, dense: Tensor) -> None:
        super()._set_teacher(dense)
        q = dense.sigmoid()
        self.q, self.entropy = q, F.binary_cross_entropy_with_logits(dense, q, reduction="sum")

    def _divergence(self, outputs: Tensor, dense: Tensor) -> Tensor:
        if self.config.divergence == "sparse-dense":
            p, opposite = outputs.sigmoid(), (-outputs).sigmoid()
            has = p * (F.logsigmoid(outputs) - F.logsigmoid(dense))
            has_not = opposite * (F.logsigmoid(-outputs) - F.logsigmoid(-dense))
            total = (has + has_not).sum()
        else:
            crossed = F.binary_cross_entropy_with_logits(outputs, self.q, reduction="sum")
            total = crossed - self.entropy
        return total / outputs.size(1)


@dataclass(frozen=True, eq=False)
class Multilabel(Task):
    """Multilabel classification: binary cross entropy, micro-F1, labels with a positive logit.

    Args:
        weight: Weight of positive nodes in the loss, for each label; None: all 1.

    Example:
        >>> y = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, torch.nan]])
        >>> Multilabel.fit(y, torch.ones(4, dtype=torch.bool), "balanced").weight
        tensor([1., 2.])
        >>> Multilabel().predict(torch.tensor([[0.5, -1.0]]))
        tensor([[1, 0]])
    """

    name: ClassVar[str] = "multilabel"
    metric: ClassVar[str] = "micro-F1"
    targets: ClassVar[Targets] = Labels()
    value_name: ClassVar[str] = "label"
    loss: ClassVar[type[Objective]] = BinaryCrossEntropy

    weight: Tensor | None = None

    @classmethod
    def fit(cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None) -> Multilabel:
        """Return the task with label weights; balanced: negative by positive training nodes."""
        if class_weight is None:
            return cls()
        if isinstance(class_weight, str) and class_weight == "balanced":
            positive, negative = ((y[train] == value).sum(dim=0) for value in (1, 0))
            both = (positive > 0) & (negative > 0)
            return cls(torch.where(both, negative / positive.clamp(min=1), 1.0).float())
        return cls(check_class_weights(class_weight, y.size(1)).to(y.device))

    def score(self, logits: Tensor, y: Tensor) -> float:
        """Return the micro-F1 in percent."""
        return micro_f1(self.predict(logits), y)

    def resolution(self, y: Tensor) -> float:
        """Return the points of micro-F1 of one label: 100 / (positive labels).

        If the number of predicted labels equals that of the positive ones, one more correct label
        adds 1 / (positive labels).

        Example:
            >>> Multilabel().resolution(torch.tensor([[1.0, 1.0], [0.0, torch.nan]]))
            50.0
        """
        return 100.0 / max(1, int((y == 1).sum()))

    def predict(self, logits: Tensor) -> Tensor:
        """Return 0 or 1 for each label, int64 ``[N, C]``."""
        return (logits > 0).long()

    def predict_proba(self, logits: Tensor) -> Tensor:
        """Return the sigmoid: the probability of each label ``[N, C]``."""
        return logits.sigmoid()


def micro_f1(predicted: Tensor, y: Tensor) -> float:
    r"""Return the F1 over all known labels together, :math:`2 TP / (2 TP + FP + FN)`, in percent.

    Example:
        >>> y = torch.tensor([[1.0, 0.0], [1.0, torch.nan]])
        >>> micro_f1(torch.tensor([[1, 1], [1, 1]]), y)  # 2 correct, 1 wrong
        80.0
    """
    true_positive = int(((predicted == 1) & (y == 1)).sum())
    false_positive = int(((predicted == 1) & (y == 0)).sum())
    false_negative = int(((predicted == 0) & (y == 1)).sum())
    return 200.0 * true_positive / max(2 * true_positive + false_positive + false_negative, 1)
