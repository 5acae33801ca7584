"""WD-GLT: UGS that separates the classes (`Hui et al. 2023 <https://arxiv.org/abs/2305.02190>`_)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.machine import free_memory
from teddy.methods.method import METHODS, method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.methods.sparsity_level import SparsityLevel
from teddy.methods.wasserstein import class_separation, separation_memory
from teddy.sparsity import check_count, check_number
from teddy.ticket import Ticket

logger = logging.getLogger(__name__)

# Messages that were logged, each once.
_LOGGED: set[str] = set()


def _scheme(
    weights: str,
    separation: float,
    l1_edges: float,
    l1_weights: float,
    epsilon: float,
    iterations: int,
) -> Scheme:
    strength = check_number(separation, "separation")
    width = check_number(epsilon, "epsilon", positive=True)
    count = check_count(iterations, "iterations")

    def regularizer(logits: Tensor) -> Tensor:
        return -strength * class_separation(logits, width, count)

    return Scheme("wd-glt", None, weights, l1_edges, l1_weights, regularizer, clamp=True)


@method("wd-glt", distill=0.0, check_values=_scheme, needs=("classes",))
def wd_glt(
    problem: Problem,
    levels: Sequence[SparsityLevel],
    *,
    weights: str = "masks",
    separation: float = 0.1,
    l1_edges: float = 1e-6,
    l1_weights: float = 1e-5,
    epsilon: float = 1e-3,
    iterations: int = 10,
) -> Iterator[Ticket]:
    r"""Find tickets by WD-GLT: UGS with the Wasserstein distance between classes as a reward.

    .. math::
        \min_{m_g, m_\theta, \Theta} \mathcal L + \lambda \mathcal R, \qquad
        \mathcal R = -\sum_c \mathrm{WD}\big(Z^c, Z^{\bar c}\big)

    where :math:`Z^c` are the outputs whose largest entry is c, :math:`Z^{\bar c}` the others. A row
    of outputs is a node, or a graph in graph classification. This is the revision of the TEDDY
    paper (App. B.4): joint minimisation with edge masks in [0, 1]. The distance is computed by a
    few Sinkhorn iterations, and differentiated through them.

    Args:
        problem: Graph, model, seed and settings.
        levels: Sparsity levels.
        weights: ``masks`` or ``projection``, as in UGS.
        separation: :math:`\lambda`.
        l1_edges: :math:`\gamma_1` of UGS.
        l1_weights: :math:`\gamma_2` of UGS.
        epsilon: Entropic regularisation of the distance.
        iterations: Sinkhorn iterations.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> settings = {"method": teddy.WDGLT(iterations=2), "epochs": 2, "hidden_channels": 8}
        >>> teddy.find_ticket(data, "gcn", 0.05, 0.05, **settings).info.edges
        Count(total=4552, kept=4324)
    """
    scheme = _scheme(weights, separation, l1_edges, l1_weights, epsilon, iterations)
    if levels:
        _check_memory(problem, iterations)
    return scheme.tickets(problem, levels)


def _check_memory(problem: Problem, iterations: int) -> None:
    """Log the memory that the distances take, and raise if less is free."""
    compiled = jit.available(torch.empty(0, device=problem.device))
    rows, classes = problem.data.y.size(0), problem.num_outputs
    needed = separation_memory(rows, classes, compiled, iterations)
    how = "with compiled kernels" if compiled else "without compiled kernels (extra [fast])"
    text = f"wd-glt needs {needed / 1e6:,.0f} MB for distances between {rows:,} outputs, {how}"
    if text not in _LOGGED:
        logger.log(logging.INFO if compiled else logging.WARNING, text)
        _LOGGED.add(text)
    free = free_memory()
    if problem.device.type == "cpu" and needed > free:
        raise InputError(f"{text}; {free / 1e6:,.0f} MB are free, expected more or a smaller graph")


#: The registered method; call it with options.
WDGLT = METHODS["wd-glt"]
