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
    r"""Find tickets by UGS: learn masks for edges and weights, in rounds.

    .. math::
        \min_{m_g, m_\theta, \Theta} \mathcal L(m_g \odot A, m_\theta \odot \Theta)
        + \gamma_1 \|m_g\|_1 + \gamma_2 \|m_\theta\|_1

    Each round removes 5% of the remaining edges and weights, those of lowest :math:`|m|` at the
    best validation epoch, and rewinds the weights to their initial values. The ticket is then
    trained with its mask fixed. Both directions of an edge share one mask. Removed edges leave the
    graph, so GAT's softmax does not include them.

    Edges that are not visible during training have no mask and are kept, such as all edges of
    held-out and new graphs in graph classification. In a ``HeteroData`` a relation and its reverse
    share one mask per edge, and the module takes ``edge_weight_dict``.

    Args:
        problem: Graph, model, seed and settings.
        levels: Sparsity levels.
        weights: ``masks``; or ``projection``, the paper's ablation: masks for edges only, weights
            projected onto the :math:`\ell_0` ball in the final training.
        l1_edges: :math:`\gamma_1`.
        l1_weights: :math:`\gamma_2`.
        stride: Levels of the paper's schedule that a round advances by: 5 prunes 23% of what is
            left at once, for graphs on which twenty rounds take too long.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> settings = {"method": teddy.UGS(stride=10), "epochs": 2, "hidden_channels": 8}
        >>> teddy.find_ticket(data, "gcn", 0.3, 0.3, **settings).info.edges
        Count(total=4552, kept=3186)
    """
    scheme = Scheme("ugs", None, weights, l1_edges, l1_weights, stride=stride)
    return scheme.tickets(problem, levels)


#: The registered method; call it with options.
UGS = METHODS["ugs"]
