"""``find_ticket``: find a lottery ticket by any method."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.errors import InputError
from teddy.methods.make_problem import make_problem
from teddy.methods.method import METHODS
from teddy.methods.progress import Progress, ProgressReport
from teddy.methods.resume import SearchFolder, folder_of, search_settings
from teddy.methods.sparsity_level import SparsityLevel
from teddy.methods.spec import MethodSpec
from teddy.methods.teacher import TeacherLike
from teddy.models import MODELS, parse_model
from teddy.models.source import ModelLike
from teddy.registry import did_you_mean
from teddy.settings import ENTRIES, MODEL_ENTRIES, Settings, TrainConfig
from teddy.store.atomic import StrPath
from teddy.tasks import Task, parse_task
from teddy.ticket import Ticket
from teddy.tracking import Tracking, TrackLike
from teddy.training.config import limited_threads


# A caller may have turned gradients off, as for a prediction; a search needs them.
@torch.inference_mode(False)
@torch.enable_grad()
def find_ticket(
    data: Data | HeteroData | Sequence[Data],
    model: ModelLike = "gin",
    graph_sparsity: float = 0.64,
    weight_sparsity: float = 0.64,
    seed: int = 0,
    *,
    method: str | MethodSpec = "teddy",
    task: str | Task = "classification",
    train: TrainConfig | None = None,
    teacher: TeacherLike | None = None,
    checkpoint: StrPath | SearchFolder | None = None,
    progress: Progress | bool | None = None,
    track: TrackLike | None = None,
    **settings: Any,
) -> Ticket:
    r"""Find a graph lottery ticket: a sparse subgraph and a sparse network.

    Takes two trainings: one of the dense model, which is the teacher, and one of the sparse
    ticket. Iterative methods (UGS, WD-GLT) train once more for each round of masks. The same
    arguments give the same ticket, byte for byte, on one machine's CPU and number of threads.

    Args:
        data: A ``Data`` with ``x`` (dense or sparse), ``edge_index``, ``y`` and the masks of a
            split. Or a ``HeteroData``, whose ``target`` type has ``y`` and masks. Or a set of
            graphs, see :func:`teddy.graph_set`. Edges are undirected unless ``directed=True``; both
            directions share one ``edge_weight``. Self-loops are never pruned.
        model: ``"gcn"``, ``"gat"``, ``"gin"``, ``"sage"``, ``"unimp"``, ``"nagphormer"`` or
            ``"specformer"``, also with options, such as ``"nagphormer:hops=3"``. Or an
            ``nn.Module`` with ``forward(x, edge_index)``, whose weights are the initial ones; it
            receives other attributes of ``data``, such as ``edge_attr``, that its forward names.
            Or a function that returns a module, with no argument or with ``data``.
        graph_sparsity: Share :math:`p_g` of undirected edges to remove.
        weight_sparsity: Share :math:`p_\theta` of weights to set to zero.
        seed: Seed of initial weights, dropout and random scores.
        method: ``"teddy"``, ``"ugs"``, ``"wd-glt"``, ``"auto"`` or an edge score such as
            ``"random"``; with options, ``"ugs:stride=5"`` or ``teddy.UGS(stride=5)``.
        task: ``"classification"`` (``y`` int ``[N]``, -1 for unknown; accuracy), ``"multilabel"``
            (``y`` 0 or 1 ``[N, C]``, nan or -1 for unknown; micro-F1), ``"regression"`` (``y``
            float ``[N]`` or ``[N, D]``, nan for unknown; :math:`R^2`), ``"link-prediction"`` (see
            :func:`teddy.split_links`; AUC and hits@k) or ``"graph-classification"`` (``y`` and
            masks of graphs; accuracy). Metrics are in percent.
        train: Training settings as an object; each may also be passed by its name.
        teacher: Your trained dense model, of any architecture: a module, a ticket, or logits
            ``[N, C]``. It is copied and evaluated in place of the dense training. A regression
            module predicts in the scale of ``y``.
        checkpoint: Folder for checkpoints; the same search resumes from it, with the same result.
        progress: Called after each epoch with the phase, the :class:`teddy.training.Epoch` and the
            finished share; True: a progress bar, where stderr is a terminal.
        track: Experiment tracker: ``"tensorboard:FOLDER"``, ``"mlflow"``, ``"wandb:PROJECT"``,
            an object like :class:`teddy.tracking.Tracker`, or several of them.
        settings: Any other setting by its name, such as ``epochs``, ``lr``, ``distill``,
            ``hidden_channels``, ``inductive``, ``device``, or ``structure="neurons"`` to remove
            whole hidden units. ``docs/settings.md`` lists them all.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gin", 0.64, 0.64, epochs=5, hidden_channels=16)
        >>> ticket.info.edges.kept, ticket.info.weights
        (1638, Count(total=59442, kept=21400))
    """
    data = _outside_inference(data)
    spec, wanted = _read(method, task, train, settings)
    if isinstance(model, str):
        _check_once(settings, parse_model(model)[1], model)
    level = spec.level(SparsityLevel(graph_sparsity, weight_sparsity))
    folder = folder_of(checkpoint)
    tracking, report = Tracking(track), ProgressReport(progress)
    problem = make_problem(
        data, model, wanted, seed, spec, teacher=teacher, store=folder.store,
        progress=tracking.with_trackers(report.call), checkpoints=folder.checkpoints,
    )  # fmt: skip

    def identity() -> dict[str, Any]:
        options = {**spec.method.options, **dict(spec.options)}
        return search_settings(problem, spec.name, level, options)

    name = str(problem.prepared.get("name", "data"))
    with (
        limited_threads(wanted.run.threads),
        report,
        folder.held(identity),
        tracking.run(name, identity, folder.histories),
    ):
        (ticket,) = spec.method.tickets(problem, [level], **dict(spec.options))
        tracking.ticket = ticket
    return ticket


def _read(
    method: str | MethodSpec,
    task: str | Task,
    train: TrainConfig | None,
    keywords: Mapping[str, Any],
) -> tuple[MethodSpec, Settings]:
    """Method and settings tree from the keywords of a search."""
    spec, parsed_task = MethodSpec.parse(method), parse_task(str(task))
    if getattr(task, "weight", None) is not None:
        raise InputError("task has a weight, expected class_weight=... as a setting of the search")
    if train is not None and not isinstance(train, TrainConfig):
        raise InputError(f"train is {train!r}, expected a teddy.TrainConfig")
    for name in ("data_dir", "nodes", *(() if parsed_task.kind.draws_splits else ("split_seed",))):
        if keywords.get(name) is not None:
            raise InputError(f"{name} is {keywords[name]}, expected it in load_dataset() instead")
    of_method = {k: v for k, v in keywords.items() if k in spec.method.options}
    of_task = {k: v for k, v in keywords.items() if k in parsed_task.defaults()}
    rest = {k: v for k, v in keywords.items() if k not in {*of_method, *of_task}}
    for name in rest:
        if name not in ENTRIES and any(name in METHODS[other].options for other in METHODS):
            spec.method.check(**{name: rest[name]})  # it has no such option
        _check_argument(name)
    values = {**dict(spec.options), **dict(spec.settings)}
    _check_once(keywords, values, str(spec))
    if train is not None:
        differing = {k: value for k, value in vars(train).items() if value != keywords.get(k)}
        _check_once(keywords, differing, "train")
    spec = MethodSpec.make(spec.name, {**values, **of_method}, spec.only, spec.weight_level)
    parsed_task = type(parsed_task)(**{**parsed_task.options(), **of_task})
    return spec, Settings(train or TrainConfig()).updated(**rest, task=parsed_task)


def _check_argument(name: str) -> None:
    """Raise for a misspelt argument of :func:`find_ticket`; a model checks its own options."""
    if name in ENTRIES or any(name in model.OPTIONS for model in MODELS.values()):
        return
    known = [*inspect.signature(find_ticket).parameters, *ENTRIES, *MODEL_ENTRIES]
    hint = did_you_mean(name, known)
    if hint:
        raise InputError(f"find_ticket has no argument '{name}'{hint}")


def _check_once(keywords: Mapping[str, Any], other: Mapping[str, Any], place: str) -> None:
    """Raise if a keyword has another value elsewhere."""
    for name in keywords.keys() & other.keys():
        raise InputError(
            f"{name} is {keywords[name]}, but {other[name]} in {place}; expected it in one place"
        )


def _outside_inference(data: Any) -> Any:
    """Data with copies of the tensors that were made in inference mode."""
    if isinstance(data, list | tuple):
        return type(data)(_outside_inference(graph) for graph in data)
    if isinstance(data, Data | HeteroData) and any(
        isinstance(value, Tensor) and value.is_inference()
        for store in data.stores
        for value in store.values()
    ):
        return copy.copy(data).apply(lambda t: t.clone() if t.is_inference() else t)
    return data
