"""Settings of the data, the task, the model, the training and the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from teddy.settings.declare import Config, setting

#: Edges that stay in a graph that has grown past the training graph.
INFERENCE_RULES = ("scored", "training", "none")


@dataclass(frozen=True)
class DataConfig(Config):
    """Settings by which a data set is loaded."""

    split: str | int | None = setting(
        None, "public, random, or shares such as 20/40/40; of several splits that the data has, a "
        "number (default: the seed's); default: the split the data has.",
        panel="Data",
    )  # fmt: skip
    split_seed: int | None = setting(
        None, "Seed of a split that is drawn; default: 0.", low=0, panel="Data"
    )
    data_dir: str | None = setting(
        None, "Folder with raw data sets in PyG's layout, instead of a download.",
        panel="Data", envvar="TEDDY_DATA",
    )  # fmt: skip
    nodes: str | None = setting(None, "Node table, where DATASET is an edge list.", panel="Data")


@dataclass(frozen=True)
class TaskConfig(Config):
    """Settings of the prediction problem."""

    task: str = setting(
        "classification",
        "Nodes: classification, multilabel or regression. Held-out edges: link-prediction, by "
        "--split 85/5/10. Sets of graphs: graph-classification. Options after colons: "
        "link-prediction:dimensions=64:hits_at=50, graph-classification:readout=sum.",
        panel="Task",
    )
    class_weight: Any = setting(  # noqa: RUF009
        None, "Weights of classes in the loss, as 1,2.5,1; or balanced: classes count alike, "
        "however many rows they have.",
        panel="Task",
    )  # fmt: skip
    directed: bool = setting(
        False, "Messages run along edges as they are listed only.", panel="Task"
    )
    inductive: bool = setting(
        False, "Training sees the training nodes and the edges between them only, as with "
        "--split 20/40/40.",
        panel="Task",
    )  # fmt: skip
    inference: str = setting(
        "scored", "Rule by which a graph that has grown past the training graph is pruned: scored, "
        "training or none.",
        choices=INFERENCE_RULES, per_method=True, panel="Task",
    )  # fmt: skip
    target: str | None = setting(
        None, "Node type that is predicted, in a heterogeneous graph.", panel="Task"
    )
    budget: str = setting(
        "each", "Edge budget: of each graph of a set or each relation, or of all together.",
        choices=("each", "all"), panel="Task",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "task", str(self.task))  # a task object, as a text
        weight = self.class_weight
        if not isinstance(weight, str | None):  # numbers, a tensor or an array
            numbers = weight.tolist() if hasattr(weight, "tolist") else list(weight)
            object.__setattr__(self, "class_weight", tuple(numbers))


@dataclass(frozen=True)
class ModelConfig(Config):
    """Options that most models have; None: the model's own default.

    Options of one model alone follow its name, as in ``nagphormer:hops=3``.
    """

    hidden_channels: int | None = setting(
        None, "Hidden units, of each head in gat and unimp; default: the model's own.", low=1,
        panel="Model",
    )  # fmt: skip
    num_layers: int | None = setting(
        None, "Layers; default: the model's own.", low=1, panel="Model"
    )
    heads: int | None = setting(
        None, "Attention heads; default: the model's own.", low=1, panel="Model"
    )
    dropout: float | None = setting(None, "Dropout; default: the model's own.", panel="Model")


@dataclass(frozen=True)
class RunConfig(Config):
    """Settings of the machine that trains."""

    device: Any = setting(  # noqa: RUF009
        "cpu", "Device: cpu, cuda, cuda:1, ...", panel="Machine"
    )
    threads: int | None = setting(
        None, "CPU threads of a process; default: torch's own choice, in a sweep 1.", low=1,
        panel="Machine",
    )  # fmt: skip


#: The two readings of the distillation term; see :class:`~teddy.tasks.objective.Objective`.
DIVERGENCES = ("dense-sparse", "sparse-dense")


#: Strength of the distillation, unless a method has its own.
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
        patience: Epochs without a better validation metric before training stops; None: all.
        distill_nodes: ``all``, as published, test nodes among them; or ``training`` nodes only.
        evaluate_every: Epochs between validations; the last epoch is always validated. None: 1.
        loader: Mini-batches: ``"partitions:parts=32:batch=4"`` (METIS), ``"graphs:batch=32"``
            for graph classification, or a function that makes any PyG loader of the pruned data,
            ``lambda graph: RandomNodeLoader(graph, 8)``. None: a step is on all data.
        tuned: Whether ``distill`` is by default the value tuned for the data set and the model.

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
        "all", "Nodes that the dense model teaches: all or training.", choices=("all", "training"),
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
        """Strength of the distillation, by default TEDDY's."""
        return STRENGTH if self.distill is None else self.distill

    def evaluates(self, index: int) -> bool:
        """Whether an epoch is validated."""
        return (index + 1) % (self.evaluate_every or 1) == 0 or index == self.epochs - 1
