"""The one call that finds a ticket, by whatever method."""

from __future__ import annotations

import copy
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
from teddy.models import parse_model
from teddy.models.source import ModelLike
from teddy.settings import ENTRIES, Settings, TrainConfig
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

    The same arguments, on the CPU of the same machine with as many threads, give the same ticket,
    byte for byte. The graph is taken as undirected unless asked for, however its edges are listed.
    ``data.edge_weight`` goes to the model, which must take it; ``data.edge_attr``, and any other
    value of edges, nodes or the graph, goes to modules whose forward names it. An edge has one
    weight: both directions alike, or listed once. Your own module is given the self-loops that are
    listed; they are never pruned.

    Args:
        data: ``x`` (dense or sparse), ``edge_index``, ``y`` and the masks of a split; perhaps
            ``edge_weight`` ``[E]`` and ``edge_attr`` ``[E, ...]``. Or a ``HeteroData``, whose
            ``target`` has ``y`` and masks; then the model is a module with
            ``forward(x_dict, edge_index_dict)``. Or a set of graphs, see :func:`teddy.graph_set`:
            a ``Batch``, or a list or a data set of ``Data``.
        model: ``"gcn"``, ``"gat"``, ``"gin"``, ``"sage"``, ``"unimp"``, ``"nagphormer"``,
            ``"specformer"``, also with options, ``"nagphormer:hops=3"``; any ``nn.Module`` with
            ``forward(x, edge_index)``, and by name whatever else of ``data`` it takes, such as
            ``edge_attr`` or ``pos``, whose weights are taken as the initial ones; or a function
            that makes a module, called once the seed is set, without arguments or with ``data``.
        graph_sparsity: Share :math:`p_g` of undirected edges to remove.
        weight_sparsity: Share :math:`p_\theta` of weights to set to zero.
        seed: Seed of the initial weights, dropout and scores that draw.
        method: A registered method: teddy, ugs, wd-glt, or an edge score such as random, also with
            options, ``"ugs:stride=5"`` or ``teddy.UGS(stride=5)``.
        task: ``classification`` (``y`` int ``[N]``, -1 for none; accuracy), ``multilabel`` (0 and 1
            ``[N, C]``, nan or -1 for unknown; micro-F1) or ``regression`` (float ``[N]`` or
            ``[N, D]``, nan for unknown; :math:`R^2`). Or ``link-prediction``: ``data`` comes from
            :func:`teddy.split_links`, or is split so (AUC, and hits@k as a second number); the
            dense model teaches the training links only. Or ``graph-classification``: ``y`` and
            masks are of graphs (accuracy); training sees the training graphs only. All metrics in
            percent. Options as in ``"link-prediction:dimensions=16"`` or
            ``teddy.LinkPrediction(dimensions=16)``.
        train: Settings of the training; each may also be given by its name.
        teacher: Your trained dense model, of any architecture and width; a ticket, whose network
            runs on the whole graph; or logits ``[N, C]``. It is copied and evaluated in place of
            the dense training: its logits teach, and its accuracy is recorded as the dense one.
            A regression module's outputs are in the scale of ``y``. By default the dense model is
            trained.
        checkpoint: A folder for checkpoints; the same search resumes from there, with the same
            result. :class:`teddy.methods.resume.SearchFolder` has the time between two of them.
        progress: Called after each epoch with the phase, the :class:`teddy.training.Epoch` and the
            share that is done; True: a progress bar, where stderr is a terminal.
        track: Experiment tracker: ``"tensorboard:FOLDER"``, ``"mlflow"``, ``"wandb:PROJECT"``,
            an object with the methods of :class:`teddy.tracking.Tracker`, or several of them.
        settings: Any setting of the settings tree by its name (``docs/settings.md`` lists all),
            such as ``epochs``, ``lr``, ``distill``, ``loader``, ``weight_scope``, ``inductive``,
            ``directed``, ``class_weight``, ``target`` or ``device``; options of the method, such as
            ``structure="neurons"`` to remove whole hidden units; options of the task; and of a
            named model: hidden_channels, num_layers, dropout, heads.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gin", 0.64, 0.64, epochs=5, hidden_channels=16)
        >>> ticket.info.edges.kept, ticket.info.weights
        (1638, Count(total=59442, kept=21400))
    """
    data = _outside_inference(data)
    spec, asked = _read(method, task, train, settings)
    if isinstance(model, str):
        _check_once(settings, parse_model(model)[1], model)
    level = spec.level(SparsityLevel(graph_sparsity, weight_sparsity))
    folder = folder_of(checkpoint)
    tracking, report = Tracking(track), ProgressReport(progress)
    problem = make_problem(
        data, model, asked, seed, spec, teacher=teacher, store=folder.store,
        progress=tracking.with_trackers(report.call), checkpoints=folder.checkpoints,
    )  # fmt: skip

    def identity() -> dict[str, Any]:
        options = {**spec.method.options, **dict(spec.options)}
        return search_settings(problem, spec.name, level, options)

    name = str(problem.prepared.get("name", "data"))
    with (
        limited_threads(asked.run.threads),
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
    """The method and the settings tree that keywords stand for."""
    spec, wanted = MethodSpec.parse(method), parse_task(str(task))
    if getattr(task, "weight", None) is not None:
        raise InputError("weight came in the task, expected class_weight=... beside it")
    if train is not None and not isinstance(train, TrainConfig):
        raise InputError(f"train is {train}, expected a teddy.TrainConfig")
    for name in ("data_dir", "nodes", *(() if wanted.kind.draws_splits else ("split_seed",))):
        if keywords.get(name) is not None:
            raise InputError(f"{name} is {keywords[name]}, expected it in load_dataset(), not here")
    of_method = {k: v for k, v in keywords.items() if k in spec.method.options}
    of_task = {k: v for k, v in keywords.items() if k in wanted.defaults()}
    rest = {k: v for k, v in keywords.items() if k not in {*of_method, *of_task}}
    for name in rest:
        if name not in ENTRIES and any(name in METHODS[other].options for other in METHODS):
            spec.method.check(**{name: rest[name]})  # it has no such option
    given = {**dict(spec.options), **dict(spec.settings)}
    _check_once(keywords, given, str(spec))
    if train is not None:
        own = {name: value for name, value in vars(train).items() if value != keywords.get(name)}
        _check_once(keywords, own, "train")
    spec = MethodSpec.make(spec.name, {**given, **of_method}, spec.only, spec.weight_level)
    wanted = type(wanted)(**{**wanted.options(), **of_task})
    return spec, Settings(train or TrainConfig()).updated(**rest, task=wanted)


def _check_once(keywords: Mapping[str, Any], other: Mapping[str, Any], place: str) -> None:
    """Raise if a keyword has another value elsewhere."""
    for name in keywords.keys() & other.keys():
        raise InputError(
            f"{name} is {keywords[name]}, and {other[name]} in {place}; expected one of both"
        )


def _outside_inference(data: Any) -> Any:
    """The same data with copies of tensors that were made in inference mode."""
    if isinstance(data, list | tuple):
        return type(data)(_outside_inference(graph) for graph in data)
    if isinstance(data, Data | HeteroData) and any(
        isinstance(value, Tensor) and value.is_inference()
        for store in data.stores
        for value in store.values()
    ):
        return copy.copy(data).apply(lambda t: t.clone() if t.is_inference() else t)
    return data
