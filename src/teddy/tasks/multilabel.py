"""Several labels of each node, each of which it has or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from teddy.data.targets import Labels, Targets
from teddy.settings import TrainConfig
from teddy.tasks.objective import Objective, Totals
from teddy.tasks.task import ClassWeight, Task, check_class_weights


class BinaryCrossEntropy(Objective):
    r"""Binary cross entropy of what is known of the training nodes, and a divergence of each label.

    The first is the mean over the known (node, label) of
    :math:`-(w_c \, y \log \sigma(z) + (1 - y) \log (1 - \sigma(z)))`, with positive weights
    :math:`w_c` as of ``torch.nn.BCEWithLogitsLoss(pos_weight=...)``.

    With :math:`p = \sigma(z / \tau)` and :math:`q = \sigma(z_{dense} / \tau)` the divergence is the
    mean over nodes and all :math:`C` labels of that of two Bernoulli distributions,
    :math:`q \log (q / p) + (1 - q) \log ((1 - q) / (1 - p))` (``dense-sparse``), or the same with
    :math:`p` and :math:`q` changed over (``sparse-dense``).

    Example:
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

    def _learn_from(self, dense: Tensor) -> None:
        super()._learn_from(dense)
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
    """Learn several labels: binary cross entropy, micro-F1, labels of a logit above 0.

    Args:
        weight: Of what is positive in the loss, for each label; None: all 1.

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

    weight: Tensor | None = None

    @classmethod
    def fit(cls, y: Tensor, train: Tensor, class_weight: ClassWeight | None = None) -> Multilabel:
        """Balanced weights are negative by positive training nodes of a label; 1 without any."""
        if class_weight is None:
            return cls()
        if isinstance(class_weight, str) and class_weight == "balanced":
            positive, negative = ((y[train] == value).sum(dim=0) for value in (1, 0))
            there = (positive > 0) & (negative > 0)
            return cls(torch.where(there, negative / positive.clamp(min=1), 1.0).float())
        return cls(check_class_weights(class_weight, y.size(1)).to(y.device))

    def objective(
        self,
        y: Tensor,
        train: Tensor,
        teacher: Tensor | None,
        config: TrainConfig,
        totals: Totals | None = None,
    ) -> Objective:
        """What a training minimises."""
        weight = None if self.weight is None else self.weight.to(y.device)
        return BinaryCrossEntropy(y, train, teacher, config, totals, weight)

    def score(self, logits: Tensor, y: Tensor) -> float:
        """Micro-F1."""
        return micro_f1(self.predict(logits), y)

    def resolution(self, y: Tensor) -> float:
        """Points of micro-F1 that one label is worth: 100 / (positive labels).

        F1 is no count of rows. If as many labels are predicted as there are, one more that is right
        adds 1 / (positive labels) to it.

        Example:
            >>> Multilabel().resolution(torch.tensor([[1.0, 1.0], [0.0, torch.nan]]))
            50.0
        """
        return 100.0 / max(1, int((y == 1).sum()))

    def predict(self, logits: Tensor) -> Tensor:
        """0 or 1 of each label, int64 ``[N, C]``."""
        return (logits > 0).long()

    def predict_proba(self, logits: Tensor) -> Tensor:
        """Sigmoid: the probability of each label ``[N, C]``."""
        return logits.sigmoid()


def micro_f1(predicted: Tensor, y: Tensor) -> float:
    r"""F1 over all known labels together, :math:`2 TP / (2 TP + FP + FN)`, in percent.

    Example:
        >>> y = torch.tensor([[1.0, 0.0], [1.0, torch.nan]])
        >>> micro_f1(torch.tensor([[1, 1], [1, 1]]), y)  # 2 found, 1 made up
        80.0
    """
    found = int(((predicted == 1) & (y == 1)).sum())
    made_up, missed = (
        int(((predicted == 1) & (y == 0)).sum()),
        int(((predicted == 0) & (y == 1)).sum()),
    )
    return 100.0 * 2 * found / max(2 * found + made_up + missed, 1)
