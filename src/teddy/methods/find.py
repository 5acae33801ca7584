"""The one call that finds a ticket, by whatever method."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from textwrap import shorten
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.atomic import StrPath
from teddy.errors import InputError
from teddy.methods.kinds import problem_of
from teddy.methods.level import Level
from teddy.methods.method import METHODS
from teddy.methods.model_source import ModelLike
from teddy.methods.phases import Progress
from teddy.methods.progress_bar import ProgressReport
from teddy.methods.resume import SearchFolder, search_settings
from teddy.methods.teacher import TeacherLike
from teddy.ticket import Ticket
from teddy.tracking import Tracking, TrackLike
from teddy.training import ClassWeight, LoaderLike, TrainConfig, as_loader
from teddy.weights import WeightBudget
from teddy.weights.budget import ExcludeLike


# A caller may have turned gradients off, as for a prediction; a search needs them.
@torch.inference_mode(False)
@torch.enable_grad()
def find_ticket(
    data: Data | HeteroData | Sequence[Data],
    model: ModelLike = "gin",
    graph_sparsity: float = 0.64,
    weight_sparsity: float = 0.64,
    seed: int = 0,
    epochs: int = 200,
    distill: float | None = None,
    *,
    method: str = "teddy",
    teacher: TeacherLike | None = None,
    task: str = "classification",
    class_weight: ClassWeight | None = None,
    directed: bool = False,
    target: str | None = None,
    relations: str = "each",
    weight_scope: str | None = None,
    weight_exclude: Sequence[ExcludeLike] = (),
    weight_schedule: str = "constant",
    weight_ramp: float = 0.5,
    lr: float | None = None,
    weight_decay: float | None = None,
    temperature: float = 1.0,
    divergence: str = "dense-sparse",
    distill_nodes: str = "all",
    patience: int | None = None,
    split: int | None = None,
    inductive: bool = False,
    inference: str = "scored",
    loader: LoaderLike | None = None,
    evaluate_every: int | None = None,
    checkpoint: StrPath | None = None,
    checkpoint_seconds: float = 30.0,
    device: str | torch.device = "cpu",
    progress: Progress | bool | None = None,
    track: TrackLike | None = None,
    **options: Any,
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
            ``forward(x_dict, edge_index_dict)``. Or a set of graphs, as of
            :func:`teddy.graph_set`: a ``Batch``, or a list or a data set of ``Data``.
        model: ``"gcn"``, ``"gat"``, ``"gin"``, ``"sage"``, ``"unimp"``, ``"nagphormer"``,
            ``"specformer"``, also with options, ``"nagphormer:hops=3"``; any ``nn.Module`` with
            ``forward(x, edge_index)``, and by name whatever else of ``data`` it takes, such as
            ``edge_attr`` or ``pos``, whose weights are taken as the initial ones; or a function
            without arguments that makes a module, called once the seed is set.
        graph_sparsity: Share :math:`p_g` of undirected edges to remove.
        weight_sparsity: Share :math:`p_\theta` of weights to set to zero.
        seed: Of the initial weights, dropout and scores that draw.
        epochs: Epochs of each training.
        distill: Strength :math:`\lambda_{dt}` of the distillation; by default the method's own:
            10, for ugs and wd-glt 0.
        method: A registered method: teddy, ugs, wd-glt, or an edge score such as random.
        teacher: Your trained dense model, of any architecture and width; a ticket, whose network
            runs on the whole graph; or logits ``[N, C]``. It is copied and evaluated in place of
            the dense training: its logits teach, and its accuracy is recorded as the dense one.
            A regression module's outputs are in the scale of ``y``. By default the dense model is
            trained.
        task: What ``y`` is: ``classification`` (int ``[N]``, -1 for none; accuracy),
            ``multilabel`` (0 and 1 ``[N, C]``, nan or -1 for unknown; micro-F1) or ``regression``
            (float ``[N]`` or ``[N, D]``, nan for unknown; :math:`R^2`). Or ``link-prediction``:
            ``data`` is as of :func:`teddy.split_links`, or is split so (AUC, and hits@k as a second
            number); the dense model teaches the training links only. Or ``graph-classification``:
            ``y`` and masks are of graphs (accuracy); training sees the training graphs only. All
            metrics in percent.
        class_weight: Of each class in the loss, or ``"balanced"``; of labels: of what is positive.
        directed: Whether messages run along edges as they are listed only. An edge and its reverse
            still are one edge to prune, and scores are of the undirected graph.
        target: Of a ``HeteroData``: the type of the nodes that are predicted.
        relations: Of a ``HeteroData``: ``each`` relation is scored and pruned by itself, or
            ``all`` together; see :func:`teddy.prune_relations`.
        weight_scope: ``global``, the paper's choice: the largest of all weights stay. ``matrix``
            or ``balanced``: the largest of each weight matrix, and biases and normalisation stay
            dense. By default ``global`` for a model given by name, ``balanced`` for your own; see
            :class:`teddy.weights.WeightBudget`.
        weight_exclude: Parameters that stay dense, no part of the budget: patterns of their names,
            such as ``"*.bias"``, and module classes, such as ``torch.nn.Embedding``.
        weight_schedule: ``constant``, or ``linear`` or ``cubic``: the weight sparsity rises.
        weight_ramp: Share of the epochs after which a rising sparsity is full.
        lr: Learning rate; by default the model's own, 0.01 for most; 0.003 for links with gin.
        weight_decay: L2 penalty; by default the model's own, 5e-4 for most; none for links.
        temperature: Of the distillation.
        divergence: Reading of the distillation; see :class:`teddy.training.TrainConfig`.
        distill_nodes: Which nodes the dense model teaches, ``all`` or ``training``.
        patience: Early stopping; off by default.
        split: Number of the split, where the masks are ``[N, K]``, one column a split; by default
            ``seed`` modulo K.
        inductive: Whether training sees the training nodes and the edges between them only: scores,
            degrees and the dense model's logits are of that graph alone. The ticket is validated on
            the graph with the validation nodes, tested on the whole, and can be used on any.
        inference: How it prunes such a graph: ``scored``, ``training`` or ``none``, see
            :func:`teddy.ticket.inference.edges_at_inference`.
        loader: Train on batches: ``"partitions:parts=32:batch=4"`` (METIS), or a function that
            makes any PyG loader of the pruned graph, ``lambda graph: RandomNodeLoader(graph, 8)``;
            see :class:`teddy.training.FromFunction`. By default a step is on the whole graph.
        evaluate_every: Epochs from one validation to the next; 1 by default.
        checkpoint: A folder to keep how far the search is; the same search goes on from there,
            with the same result.
        checkpoint_seconds: From one writing to the next.
        device: To train on.
        progress: Called after each epoch with the phase, the :class:`teddy.training.Epoch` and the
            share that is done; True: a progress bar, where stderr is a terminal.
        track: What follows the search: ``"tensorboard:FOLDER"``, ``"mlflow"``, ``"wandb:PROJECT"``,
            an object with the methods of :class:`teddy.tracking.Tracker`, or several of them.
        options: Of the method (see its file), such as ``structure="neurons"`` to remove whole
            hidden units, and of a named model: hidden, layers, dropout, heads. Of links:
            ``dimensions``, outputs of a node (64), ``hits_at``, k of hits@k (50), and
            ``split_seed`` of a graph that is to be split (0). Of graphs: ``budget``, of edges of
            each ``graph`` or of ``all`` of one part of the split; ``readout``, how a graph's logits
            are made of its nodes', ``mean``, ``sum`` or ``max``; ``split_seed``.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gin", 0.64, 0.64, epochs=5, hidden=16)
        >>> ticket.info.edges.kept, ticket.info.weights
        (1638, Count(total=59442, kept=21400))
    """
    data = _outside_inference(data)
    chosen = METHODS[method]
    distill = chosen.distill if distill is None else distill
    config = TrainConfig(
        epochs, lr, weight_decay, distill, temperature, divergence, patience, distill_nodes,
        evaluate_every,
    )  # fmt: skip
    budget = WeightBudget(weight_scope, weight_exclude, weight_schedule, weight_ramp)
    level = Level(graph_sparsity, weight_sparsity)
    of_method = {name: value for name, value in options.items() if name in chosen.options}
    options = {name: value for name, value in options.items() if name not in of_method}
    problem_with, of_model = problem_of(data, task, target, relations, options)
    device, batches = check_device(device), as_loader(loader)
    folder, tracking = SearchFolder(checkpoint, checkpoint_seconds), Tracking(track)
    report = ProgressReport(progress)
    problem = problem_with(
        data, model, of_model, seed, config, device, tracking.beside(report.call), folder.store,
        inductive=inductive, inference=inference, loader=batches, checkpoints=folder.checkpoints,
        task=task, class_weight=class_weight, directed=directed, split=split,
        weight_budget=budget, teacher=teacher,
    )  # fmt: skip

    def settings() -> dict[str, Any]:
        return search_settings(problem, chosen.name, level, {**chosen.options, **of_method})

    name = str(problem.given.get("name", "data"))
    with report, folder.held(settings), tracking.run(name, settings, folder.histories):
        (ticket,) = chosen.tickets(problem, [level], **of_method)
        tracking.ticket = ticket
    return ticket


def _outside_inference(data: Any) -> Any:
    """The same data with copies of tensors that were made in inference mode."""
    if isinstance(data, list | tuple):
        return [_outside_inference(graph) for graph in data]
    if isinstance(data, Data | HeteroData) and any(
        isinstance(value, Tensor) and value.is_inference()
        for store in data.stores
        for value in store.values()
    ):
        return copy.copy(data).apply(lambda t: t.clone() if t.is_inference() else t)
    return data


def check_device(device: str | torch.device) -> torch.device:
    """Return a device that computes here, or raise.

    Example:
        >>> check_device("cpu")
        device(type='cpu')
    """
    try:
        found = torch.device(device)
        if found.type == "meta":
            raise InputError("device is 'meta', expected one that computes")
        torch.zeros(1, device=found)
        return found
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = shorten(str(error), 90, placeholder="...")
        raise InputError(f"device is '{device}', expected one that works here ({reason})") from None
