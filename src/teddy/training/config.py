"""How to train."""

from __future__ import annotations

from dataclasses import dataclass, replace

from teddy.errors import InputError
from teddy.models import MODELS, parse_model
from teddy.numbers import check_count, check_number

#: The two readings of the distillation term; see :class:`~teddy.training.objective.Objective`.
DIVERGENCES = ("dense-sparse", "sparse-dense")

#: What a model can have of its own, with the paper's values.
OWN = {"lr": 0.01, "weight_decay": 5e-4}

#: Which nodes the dense model teaches.
DISTILL_NODES = ("all", "training")


@dataclass(frozen=True)
class TrainConfig:
    r"""Settings of a training; the defaults are the paper's for the citation sets.

    Args:
        epochs: Full-batch steps.
        lr: Learning rate of Adam; None: the model's own, 0.01 for most.
        weight_decay: L2 penalty of Adam; None: the model's own, 5e-4 for most.
        distill: :math:`\lambda_{dt}` of Eq. 9, the strength of the distillation.
        temperature: :math:`\tau` of Eq. 9.
        divergence: ``dense-sparse`` is KL(dense, sparse), what the published results come from;
            ``sparse-dense`` is KL(sparse, dense), as Eq. 9 is written.
        patience: Stop when the validation accuracy hasn't improved for so many epochs; None:
            never.
        distill_nodes: ``all``, as published, test nodes among them; or ``training`` nodes only.
        evaluate_every: Epochs from one validation to the next, where it is costly; the last epoch
            is validated, too. None: 1.

    Example:
        >>> TrainConfig(epochs=10).of("gcn").lr
        0.01
        >>> TrainConfig(epochs=0)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: epochs is 0, expected a whole number from 1 to 2147483647
    """

    epochs: int = 200
    lr: float | None = None
    weight_decay: float | None = None
    distill: float = 10.0
    temperature: float = 1.0
    divergence: str = "dense-sparse"
    patience: int | None = None
    distill_nodes: str = "all"
    evaluate_every: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epochs", check_count(self.epochs, "epochs"))
        for name in ("patience", "evaluate_every"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_count(getattr(self, name), name))
        for name in ("lr", "weight_decay", "distill", "temperature"):
            if getattr(self, name) is None and name in OWN:
                continue
            number = check_number(getattr(self, name), name, name in ("lr", "temperature"))
            object.__setattr__(self, name, number)
        for name, known in (("divergence", DIVERGENCES), ("distill_nodes", DISTILL_NODES)):
            if getattr(self, name) not in known:
                got, words = getattr(self, name), name.replace("_", " ")
                raise InputError(f"unknown {words} '{got}', expected one of: {', '.join(known)}")

    def evaluates(self, index: int) -> bool:
        """Whether an epoch is validated.

        Example:
            >>> config = TrainConfig(epochs=6, evaluate_every=4)
            >>> [index for index in range(6) if config.evaluates(index)]
            [3, 5]
        """
        return (index + 1) % (self.evaluate_every or 1) == 0 or index == self.epochs - 1

    def of(self, model: object) -> TrainConfig:
        """Fill in what is the model's own.

        Args:
            model: Its name, or a module.

        Example:
            >>> TrainConfig(lr=0.1).of("gcn").weight_decay
            0.0005
        """
        kind = MODELS[parse_model(model)[0]] if isinstance(model, str) else model
        own = {**OWN, **getattr(kind, "TRAINING", {})}
        missing = {name: own[name] for name in OWN if getattr(self, name) is None}
        return replace(self, **missing)
