"""UGS: unified graph sparsification (`Chen et al. 2021 <https://arxiv.org/abs/2102.06790>`_)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from teddy.methods.method import METHODS, method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.methods.sparsity_level import SparsityLevel
from teddy.ticket import Ticket


@method("ugs", distill=0.0, check_values=partial(Scheme, "ugs", None))
def ugs(
    problem: Problem,
    levels: Sequence[SparsityLevel],
    *,
    weights: str = "masks",
    l1_edges: float = 1e-6,
    l1_weights: float = 1e-5,
    stride: int = 1,
) -> Iterator[Ticket]:
    r"""Learn masks for edges and weights, in rounds.

    .. math::
        \min_{m_g, m_\theta, \Theta} \mathcal L(m_g \odot A, m_\theta \odot \Theta)
        + \gamma_1 \|m_g\|_1 + \gamma_2 \|m_\theta\|_1

    In each round 5% of the edges and weights that are left, those of lowest :math:`|m|` at the best
    validation epoch, are removed for good, and the weights rewound to their initial values. A
    ticket is trained from those with its mask fixed. One mask for both directions of an edge;
    removed edges aren't in the graph, so in GAT neither in the softmax.

    Edges that training doesn't see have no mask, and stay. In graph classification these are all
    edges of held-out and new graphs. In a ``HeteroData`` a relation and its reverse share one mask
    for each edge, and the module takes ``edge_weight_dict``.

    Args:
        problem: Graph, model, seed and settings.
        levels: How sparse.
        weights: ``masks``; or ``projection``, the paper's ablation: masks for edges only, weights
            projected onto the :math:`\ell_0` ball in the final training.
        l1_edges: :math:`\gamma_1`.
        l1_weights: :math:`\gamma_2`.
        stride: Levels of the paper that a round goes on by: 5 prunes 23% of what is left at once,
            for graphs where twenty rounds take too long.
    """
    scheme = Scheme("ugs", None, weights, l1_edges, l1_weights, stride=stride)
    return scheme.tickets(problem, levels)


#: The method, to be called with options.
UGS = METHODS["ugs"]
