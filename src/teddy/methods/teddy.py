"""TEDDY: Algorithm 1 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from teddy.methods.method import METHODS, method
from teddy.methods.problem import Problem
from teddy.methods.search import Scheme
from teddy.methods.sparsity_level import SparsityLevel
from teddy.ticket import Ticket


@method("teddy", distill=10.0, check_values=partial(Scheme, "teddy", "teddy"))
def teddy(
    problem: Problem,
    levels: Sequence[SparsityLevel],
    *,
    weights: str = "projection",
    structure: str = "none",
    weighted: bool = False,
) -> Iterator[Ticket]:
    r"""Find tickets by TEDDY: two trainings, of the dense model and of the sparse ticket.

    1. Pretraining on the entire graph trains the dense model, which is the teacher.
    2. Searching the subgraph removes the edges of lowest score (Eq. 6 to 8).
    3. Searching the subnetwork trains on the kept edges with distillation (Eq. 9) and projects the
       weights onto the :math:`\ell_0` ball after every step (Eq. 10).

    Args:
        problem: Graph, model, seed and settings.
        levels: Sparsity levels.
        weights: ``projection``; or ``masks``, the paper's ablation with magnitude-based masks that
            are learned in rounds.
        structure: ``none``, single weights are projected; or ``neurons``, whole hidden units
            (:class:`~teddy.weights.units.UnitProjection`) of gcn, gin and sage, or heads of gat.
        weighted: Whether degrees are sums of ``edge_weight``; see
            :func:`teddy.prune.scores.teddy.weighted_node_values`.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> method = teddy.Teddy(structure="neurons")
        >>> teddy.find_ticket(data, "gcn", method=method, epochs=3, hidden_channels=8).info.weights
        Count(total=29672, kept=7418)
    """
    scheme = Scheme("teddy", "teddy", weights, structure=structure, weighted=weighted)
    return scheme.tickets(problem, levels)


#: The registered method; call it with options.
Teddy = METHODS["teddy"]
