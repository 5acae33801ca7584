"""Settings of a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from teddy.settings.declare import Config, setting

#: The two readings of the distillation term; see :class:`~teddy.tasks.objective.Objective`.
DIVERGENCES = ("dense-sparse", "sparse-dense")

#: Strength of the distillation, unless a method has its own.
STRENGTH = 10.0

#: Nodes that the dense model teaches.
DISTILL_NODES = ("all", "training")


@dataclass(frozen=True)
class TrainConfig(Config):
    r"""Settings of a training; the defaults are the paper's for the citation sets.

    Args:
        epochs: Full-batch steps.
        lr: Learning rate of Adam; None: the model's own, 0.01 for most.
        weight_decay: L2 penalty of Adam; None: the model's own, 5e-4 for most.
        distill: :math:`\lambda_{dt}` of Eq. 9, the strength of the distillation; None: the
            method's own, 10 for most.
        temperature: :math:`\tau` of Eq. 9.
        divergence: ``dense-sparse`` is KL(dense, sparse), what the published results come from;
            ``sparse-dense`` is KL(sparse, dense), as Eq. 9 is written.
        patience: Stop when the validation metric hasn't improved for so many epochs; None: never.
        distill_nodes: ``all``, as published, test nodes among them; or ``training`` nodes only.
        evaluate_every: Epochs from one validation to the next, where it is costly; the last epoch
            is validated, too. None: 1.
        loader: Mini-batches: ``"partitions:parts=32:batch=4"`` (METIS), ``"graphs:batch=32"``
            for graph classification, or a function that makes any PyG loader of the pruned data,
            ``lambda graph: RandomNodeLoader(graph, 8)``. None: a step is on all data.
        tuned: Whether ``distill`` is, unless given, the value that was tuned for the data set and
            the model, where there is one.

    Example:
        >>> TrainConfig(epochs=10).temperature
        1.0
        >>> TrainConfig(epochs=0)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: epochs is 0, expected a whole number from 1 to 2147483647
    """

    epochs: int = setting(200, "Epochs of each training.", low=1)
    lr: float | None = setting(
        None, "Learning rate; default: the model's own, 0.01 for most.", above=0, tune=(1e-3, 0.1)
    )
    weight_decay: float | None = setting(
        None, "L2 penalty; default: the model's own, 5e-4 for most.", low=0, tune=(1e-5, 1e-2)
    )
    distill: float | None = setting(
        None, "Strength lambda of the distillation; default: the method's own.", low=0,
        tune=(0.01, 200.0), per_method=True, panel="Distillation",
    )  # fmt: skip
    temperature: float = setting(
        1.0, "Temperature of the distillation.", above=0, per_method=True, panel="Distillation"
    )
    divergence: str = setting(
        "dense-sparse", "dense-sparse (published code) or sparse-dense (the paper's text).",
        choices=DIVERGENCES, per_method=True, panel="Distillation",
    )  # fmt: skip
    patience: int | None = setting(
        None, "Early stopping after so many epochs without improvement; default: never.", low=1
    )
    distill_nodes: str = setting(
        "all", "Nodes that the dense model teaches: all or training.", choices=DISTILL_NODES,
        per_method=True, panel="Distillation",
    )  # fmt: skip
    evaluate_every: int | None = setting(
        None, "Epochs from one validation to the next; default: 1.", low=1
    )
    loader: Any = setting(  # noqa: RUF009
        None,
        "Mini-batches: partitions:parts=32:batch=4, or graphs:batch=32 for a set of graphs; "
        "processes of torchrun share them.",
    )

    tuned: bool = setting(
        False, "Use the lambda that was tuned for the paper's data sets and models, where there is "
        "one.",
        panel="Distillation",
    )  # fmt: skip

    @property
    def strength(self) -> float:
        """The strength of the distillation: as given, or TEDDY's.

        Example:
            >>> TrainConfig().strength, TrainConfig(distill=0.0).strength
            (10.0, 0.0)
        """
        return STRENGTH if self.distill is None else self.distill

    def evaluates(self, index: int) -> bool:
        """Whether an epoch is validated.

        Example:
            >>> config = TrainConfig(epochs=6, evaluate_every=4)
            >>> [index for index in range(6) if config.evaluates(index)]
            [3, 5]
        """
        return (index + 1) % (self.evaluate_every or 1) == 0 or index == self.epochs - 1
