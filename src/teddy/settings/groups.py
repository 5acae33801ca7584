"""Settings of the data, the task, the model, the training and the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from teddy.settings.declare import Config, setting

#: Pruning rules for a graph that has grown since training.
INFERENCE_RULES = ("scored", "training", "none")


@dataclass(frozen=True)
class DataConfig(Config):
    """Settings of the data set and its split."""

    split: str | int | None = setting(
        None, "Split of the nodes: public, random, shares such as 20/40/40, or the number of "
        "one of several splits; default: the data set's own.",
        panel="Data",
    )  # fmt: skip
    split_seed: int | None = setting(
        None, "Seed of a drawn split; default: 0.", low=0, panel="Data"
    )
    data_dir: str | None = setting(
        None, "Folder of raw data sets in PyG's layout, read instead of a download.",
        panel="Data", envvar="TEDDY_DATA",
    )  # fmt: skip
    nodes: str | None = setting(None, "Node table that belongs to an edge list.", panel="Data")


@dataclass(frozen=True)
class TaskConfig(Config):
    """Settings of the prediction problem."""

    task: str = setting(
        "classification",
        "Task: classification, multilabel or regression of nodes; link-prediction; or "
        "graph-classification. Options after colons, as in link-prediction:dimensions=64.",
        panel="Data",
    )
    class_weight: Any = setting(  # noqa: RUF009
        None, "Class weights in the loss: numbers such as 1,2.5,1, or balanced.",
        panel="Training",
    )  # fmt: skip
    directed: bool = setting(
        False, "Directed message passing, along the listed direction only.", panel="Data"
    )
    inductive: bool = setting(
        False, "Inductive training, on the training nodes and the edges between them.",
        panel="Data",
    )  # fmt: skip
    inference: str = setting(
        "scored", "Pruning rule for a graph that has grown since training: scored, training or "
        "none.",
        choices=INFERENCE_RULES, per_method=True, panel="Advanced",
    )  # fmt: skip
    target: str | None = setting(
        None, "Predicted node type of a heterogeneous graph.", panel="Data"
    )
    budget: str = setting(
        "each", "Edge budget: each (one for each graph or relation) or all (one for all).",
        choices=("each", "all"), panel="Pruning",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "task", str(self.task))  # a task object becomes its spec
        weight = self.class_weight
        if not isinstance(weight, str | None):  # numbers, a tensor or an array
            numbers = weight.tolist() if hasattr(weight, "tolist") else list(weight)
            object.__setattr__(self, "class_weight", tuple(numbers))


@dataclass(frozen=True)
class ModelConfig(Config):
    """Options that most models have; None: the model's own default.

    Options of a single model follow its name, as in ``nagphormer:hops=3``.
    """

    hidden_channels: int | None = setting(
        None, "Hidden units, for each head in gat and unimp; default: the model's own.", low=1,
        panel="Model",
    )  # fmt: skip
    num_layers: int | None = setting(
        None, "Number of layers; default: the model's own.", low=1, panel="Model"
    )
    heads: int | None = setting(
        None, "Number of attention heads; default: the model's own.", low=1, panel="Model"
    )
    dropout: float | None = setting(
        None, "Dropout probability; default: the model's own.", panel="Model"
    )


@dataclass(frozen=True)
class RunConfig(Config):
    """Device and threads of the training."""

    device: Any = setting(  # noqa: RUF009
        "cpu", "Device: cpu, cuda, cuda:1, ...", panel="Training"
    )
    threads: int | None = setting(
        None, "CPU threads of a process; default: PyTorch's choice, and 1 in a sweep.", low=1,
        panel="Advanced",
    )  # fmt: skip


#: Directions of the KL divergence in the distillation loss, see
#: :class:`~teddy.tasks.objective.Objective`.
DIVERGENCES = ("dense-sparse", "sparse-dense")


#: Default strength of the distillation.
STRENGTH = 10.0


@dataclass(frozen=True)
class TrainConfig(Config):
    r"""Settings of a training; the defaults are the paper's for the citation sets.

    Args:
        epochs: Full-batch steps.
        lr: Learning rate of Adam; None: the model's own, 0.01 for most.
        weight_decay: L2 penalty of Adam; None: the model's own, 5e-4 for most.
        distill: :math:`\lambda_{dt}` of Eq. 9; None: the method's own, 10 for most.
        temperature: :math:`\tau` of Eq. 9.
        divergence: ``dense-sparse`` is KL(dense, sparse), as in the published results;
            ``sparse-dense`` is KL(sparse, dense), as Eq. 9 is written.
        patience: Epochs without a better validation metric before training stops; None: no early
            stopping.
        distill_nodes: ``all``, as published, which includes test nodes; or ``training`` only.
        evaluate_every: Epochs between validations; the last epoch is always validated. None: 1.
        loader: Mini-batches: ``"partitions:parts=32:batch=4"`` (METIS),
            ``"neighbourhoods:batch=512"`` (exact gradients), ``"graphs:batch=32"`` for graph
            classification, or a function that makes any PyG loader of the pruned data,
            ``lambda graph: RandomNodeLoader(graph, 8)``. None: a step is on all data.
        tuned: Use the tuned ``distill`` of the data set and model, where there is one.

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
        tune=(0.01, 200.0), per_method=True, panel="Training",
    )  # fmt: skip
    temperature: float = setting(
        1.0, "Temperature of the distillation.", above=0, per_method=True, panel="Advanced"
    )
    divergence: str = setting(
        "dense-sparse", "Direction of the distillation's KL divergence: dense-sparse (published "
        "code) or sparse-dense (the paper's text).",
        choices=DIVERGENCES, per_method=True, panel="Advanced",
    )  # fmt: skip
    patience: int | None = setting(
        None,
        "Epochs without improvement before training stops early; default: no early stopping.",
        low=1,
    )
    distill_nodes: str = setting(
        "all", "Nodes with a distillation loss: all, or training nodes only.",
        choices=("all", "training"), per_method=True, panel="Advanced",
    )  # fmt: skip
    evaluate_every: int | None = setting(
        None, "Epochs between validations; default: 1.", low=1, panel="Advanced"
    )
    loader: Any = setting(  # noqa: RUF009
        None,
        "Mini-batches: partitions:parts=32:batch=4, neighbourhoods:batch=512 (exact gradients), or "
        "graphs:batch=32 for a set of graphs. Processes of torchrun share them.",
    )

    tuned: bool = setting(
        False, "Tuned distillation strength, where the paper's data set and model have one.",
        panel="Training",
    )  # fmt: skip

    @property
    def strength(self) -> float:
        """Strength of the distillation, by default TEDDY's."""
        return STRENGTH if self.distill is None else self.distill

    def evaluates(self, index: int) -> bool:
        """Return True for an epoch with a validation."""
        return (index + 1) % (self.evaluate_every or 1) == 0 or index == self.epochs - 1
