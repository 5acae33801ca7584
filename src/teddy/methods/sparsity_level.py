"""Sparsity level: graph sparsity and weight sparsity, and the rounds that lead to it."""

from __future__ import annotations

from dataclasses import dataclass

from teddy.sparsity import check_sparsity, schedule_sparsity

# A kept share below this is reached in the next round.
_SMALLEST = 1e-3


@dataclass(frozen=True)
class SparsityLevel:
    r"""Graph sparsity :math:`p_g` and weight sparsity :math:`p_\theta` of a ticket.

    Example:
        >>> SparsityLevel(0.64, 0.64)
        SparsityLevel(graph_sparsity=0.64, weight_sparsity=0.64)
        >>> SparsityLevel(2, 0)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: graph_sparsity must be in [0, 1], got 2 (did you mean 0.02?).
    """

    graph_sparsity: float
    weight_sparsity: float

    def __post_init__(self) -> None:
        for name in ("graph_sparsity", "weight_sparsity"):
            share = check_sparsity(getattr(self, name), name)
            object.__setattr__(self, name, share)

    @staticmethod
    def from_schedule(index: int) -> SparsityLevel:
        """Level of this number in the paper's schedule.

        Example:
            >>> SparsityLevel.from_schedule(1).graph_sparsity
            0.050000000000000044
        """
        return SparsityLevel(schedule_sparsity(index), schedule_sparsity(index))

    def rounds(self, stride: int = 1) -> list[SparsityLevel]:
        r"""Levels of the rounds that reach this one; each round removes 5% of what is left.

        Round i reaches the i-th level of the paper's schedule, or this one if it is less sparse.

        Args:
            stride: Levels of the schedule that a round advances by.

        Example:
            >>> [round(level.graph_sparsity, 4) for level in SparsityLevel(0.12, 0.05).rounds()]
            [0.05, 0.0975, 0.12]
            >>> len(SparsityLevel.from_schedule(20).rounds())
            20
            >>> len(SparsityLevel.from_schedule(20).rounds(stride=5))
            4
        """
        path: list[SparsityLevel] = []
        while not path or path[-1] != self:
            reached = schedule_sparsity(stride * (len(path) + 1))
            if 1.0 - reached < _SMALLEST:
                reached = 1.0
            path.append(SparsityLevel(*(_towards(target, reached) for target in self)))
        return path

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter((self.graph_sparsity, self.weight_sparsity))


def _towards(target: float, reached: float) -> float:
    """Lower of both values; a target that differs by rounding only counts as reached."""
    return target if target <= reached + 1e-12 else reached
