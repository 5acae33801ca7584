"""Teacher: a trained model, or its logits, in place of the dense training."""

from __future__ import annotations

import copy
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch_geometric.data import Data

from teddy.errors import InputError, warn
from teddy.models import GNN
from teddy.models.edge_inputs import EDGE_INPUTS, edge_inputs
from teddy.models.inputs import model_values
from teddy.store.tensors import Entry
from teddy.tasks.batches import without_edges
from teddy.ticket import Accuracy, Ticket
from teddy.training import seeded
from teddy.training.distributed import digest_of
from teddy.training.runner import Runner

if TYPE_CHECKING:
    from teddy.methods.problem import Problem

#: A trained module, a ticket (its network on the whole graph), or logits ``[N, C]``.
TeacherLike = nn.Module | Ticket | Tensor


class Teacher:
    """A dense model that was trained before the search.

    It is evaluated as a dense model of the search is: logits on the training view, accuracies on
    the validation and the test set.

    Args:
        teacher: The module, which is copied; a ticket, whose network is copied; or logits.

    Attributes:
        name: Class of the module, or ``logits``, with a digest of the weights or logits.

    Example:
        >>> Teacher(torch.zeros(3, 2)).name[:7]
        'logits '
        >>> Teacher("gcn")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: teacher is a str, expected a trained module, a ticket or logits ...
    """

    def __init__(self, teacher: TeacherLike) -> None:
        self.logits: Tensor | None = None
        self.network: nn.Module | None = None
        #: Task of a ticket, which converts outputs to the scale of ``y``.
        self.task = teacher.task if isinstance(teacher, Ticket) else None
        self.split = teacher.info.split_fingerprint if isinstance(teacher, Ticket) else None
        if isinstance(teacher, Tensor):
            self.logits = teacher.detach()
            self.name = f"logits {digest_of([self.logits])[:16]}"
            return
        network = teacher.model if isinstance(teacher, Ticket) else teacher
        if not isinstance(network, nn.Module):
            raise InputError(
                f"teacher is a {type(teacher).__name__}, expected a trained module, a ticket or "
                "logits [N, C]"
            )
        self.network = _copied(network)
        state = [v for v in self.network.state_dict().values() if isinstance(v, Tensor)]
        self.name = f"{type(network).__qualname__} {digest_of(state)[:16]}"

    def evaluated(self, problem: Problem) -> Entry:
        """Evaluate the teacher; return its logits and the record of a dense model.

        Raises:
            InputError: if it does not run on the graph, or its logits do not fit the targets.
        """
        started = time.perf_counter()
        held_out = problem.views.evaluation_graphs(None)
        if self.logits is not None and held_out is not None:
            raise InputError(
                "teacher is a tensor, and validation and test use other graphs than training, "
                "expected a trained module"
            )
        if held_out is not None and isinstance(self.network, GNN) and self.network.uses_labels:
            raise InputError(
                "teacher takes labels as inputs, expected label_rate=0 with inductive=True"
            )
        views = (problem.data, problem.data, problem.data)
        if held_out is not None:
            views = (problem.data, held_out.val, held_out.test)
        logits_of: dict[int, Tensor] = {}
        if self.task is not None and self.task.name != problem.task.name:
            raise InputError(
                f"teacher is a ticket of the task {self.task.name}, expected one of "
                f"{problem.task.name}"
            )
        split = problem.kind.split_fingerprint(problem.prepared)
        if self.split is not None and self.split != split:
            warn("the teacher was trained on another split, so its training set may hold test rows")
        for view in views:
            if id(view) not in logits_of:
                logits_of[id(view)] = self._checked(problem, view)
        train, val, test = (logits_of[id(view)] for view in views)
        task = problem.task
        val_score, test_score = (
            task.score(logits[view[mask]], view.y[view[mask]])
            for logits, view, mask in ((val, views[1], "val_mask"), (test, views[2], "test_mask"))
        )
        accuracy = Accuracy(test_score, val_score, best_epoch=None, last_test=test_score)
        metadata = {
            "accuracy": asdict(accuracy),
            "macs": self._macs(problem),
            "seconds": time.perf_counter() - started,
        }
        return Entry({"logits": train.cpu()}, metadata)

    def _macs(self, problem: Problem) -> list[int] | None:
        """Multiply-accumulates on the whole graph, where they can be counted."""
        if self.network is None:
            return None
        inputs = [name for name in model_values(problem.data) if name in EDGE_INPUTS]
        network = self.network.to(problem.device)
        return problem.macs(network) if self._takes(problem) == inputs else None

    def without_edges(self, problem: Problem) -> Tensor:
        """Logits on the training view without edges."""
        return self._checked(problem, without_edges(problem.data))

    def _takes(self, problem: Problem) -> list[str]:
        """Edge inputs that its forward takes, such as ``edge_weight``."""
        assert self.network is not None
        edges = problem.views.train.edges
        present = [name for name in EDGE_INPUTS if name in problem.prepared]
        takes = edge_inputs(self.network, present, edges.directed)
        for name in takes:
            if name not in edges.value_names:
                raise InputError(
                    f"it takes {name} and the model does not, expected both to take it"
                )
        return takes

    def _checked(self, problem: Problem, data: Data) -> Tensor:
        """Logits on a graph, checked, in the dtype of the ticket's model."""
        try:
            logits = self._logits(problem, data)
            rows = data.y.size(0)
            if logits.dim() != 2 or logits.size(0) != rows or not logits.is_floating_point():
                got = f"{list(logits.shape)} of {logits.dtype}"
                raise InputError(f"its logits are {got}, expected [{rows}, {problem.num_outputs}]")
            problem.task.check_width(logits, problem.num_outputs)
            if not logits.isfinite().all():
                raise InputError("its logits are not finite, expected finite ones")
        except InputError as error:
            raise InputError(f"teacher: {error}") from None
        return problem.task.teacher_logits(logits).to(_type_of(problem))

    @torch.no_grad()
    def _logits(self, problem: Problem, data: Data) -> Tensor:
        if self.logits is not None:
            return self.logits.to(problem.device)
        assert self.network is not None
        network, head = self.network.to(problem.device), problem.head_for(self.network)
        takes = self._takes(problem)
        values = {k: v for k, v in model_values(data).items() if k not in EDGE_INPUTS or k in takes}
        by_layer = problem.loader is not None
        try:
            with seeded(problem.seed, problem.device):
                runner = Runner(
                    network, data.x, data.edge_index, values, head=head, by_layer=by_layer
                )
                outputs = runner.evaluation_logits()
        except InputError:
            raise
        except Exception as error:  # raised in your own module
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            kind = type(network).__name__
            raise InputError(
                f"a {kind} does not run on this graph, expected one for its features ({reason})"
            ) from error
        return outputs if self.task is None else self.task.user_outputs(outputs)


def _copied(network: nn.Module) -> nn.Module:
    """Copy of a network for evaluation, without cached graphs."""
    if any(isinstance(p, UninitializedParameter) for p in network.parameters()):
        raise InputError(
            f"teacher is a {type(network).__name__} with uninitialized parameters, expected a "
            "trained module"
        )
    try:
        copied = copy.deepcopy(network)
    except Exception as error:  # such as a tensor that is part of an autograd graph
        reason = " ".join(str(error).split())
        raise InputError(
            f"teacher cannot be copied, expected a module that copy.deepcopy takes ({reason})"
        ) from None
    for module in copied.modules():
        if getattr(module, "cached", False) is True:  # a PyG layer that caches its first graph
            module.cached = False  # type: ignore[assignment]
            for name in [name for name in vars(module) if name.startswith("_cached_")]:
                setattr(module, name, None)
    return copied.eval().requires_grad_(False)


def _type_of(problem: Problem) -> torch.dtype:
    """Dtype of the ticket's model."""
    with seeded(problem.seed, problem.device):
        weights = problem.make_model().parameters()
        types = {p.dtype for p in weights if not isinstance(p, UninitializedParameter)}
    return types.pop() if len(types) == 1 else torch.get_default_dtype()
