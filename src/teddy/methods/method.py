"""What a method is, and the register of all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from teddy.capabilities import Capabilities, check_combination
from teddy.errors import InputError
from teddy.methods.problem import Problem
from teddy.methods.sparsity_level import SparsityLevel
from teddy.registry import Registry, unknown_option
from teddy.ticket import Ticket

if TYPE_CHECKING:
    from teddy.methods.spec import MethodSpec

SearchFunction = Callable[..., Iterator[Ticket]]


@dataclass(frozen=True)
class Method:
    r"""A way to find tickets.

    Attributes:
        name: What it is called by.
        search: Called with a :class:`Problem`, levels and options, gives a ticket for each level.
            What the levels have in common is computed once.
        distill: The strength :math:`\lambda_{dt}` that it takes when none is asked for.
        check_values: Called with options, raises if a value can't be; None: any can.
        needs: Abilities that a problem must support, see :class:`teddy.capabilities.Capabilities`.
    """

    name: str
    search: SearchFunction
    distill: float
    check_values: Callable[..., object] | None = None
    needs: tuple[str, ...] = ()

    def part(self) -> Capabilities:
        """The method as a part of a search."""
        return Capabilities("method", self.name, needs=self.needs)

    def parts(self, level: SparsityLevel, **options: Any) -> list[Capabilities]:
        """The method, and what its scheme asks for at a level, where it has one scheme."""
        made = None
        if self.check_values is not None:
            made = self.check_values(**{**self.options, **options})
        return [self.part(), *(made.parts(level) if hasattr(made, "parts") else ())]

    @property
    def options(self) -> dict[str, Any]:
        """Its options with their defaults: what the search takes by keyword."""
        parameters = inspect.signature(self.search).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def check(self, **options: Any) -> None:
        """Raise if there is an option that the method doesn't have, or a value that can't be."""
        for name in options:
            if name not in self.options:
                raise unknown_option(self.name, name, self.options)
        if self.check_values is not None:
            self.check_values(**{**self.options, **options})

    def tickets(
        self, problem: Problem, levels: Sequence[SparsityLevel], **options: Any
    ) -> Iterator[Ticket]:
        """Find a ticket for each level, in this order, one at a time."""
        self.check(**options)
        check_combination([*problem.parts, self.part()])
        found = self.search(problem, levels, **options)
        return self._recorded(found, {**self.options, **options})

    def _recorded(self, tickets: Iterator[Ticket], options: dict[str, Any]) -> Iterator[Ticket]:
        for ticket in tickets:
            if not isinstance(ticket, Ticket):
                kind = type(ticket).__name__
                raise InputError(f"{self.name} gave a {kind}, expected a ticket for each level")
            ticket.info.config.update(options)
            yield ticket

    def __call__(self, **options: Any) -> MethodSpec:
        """The method with options and its own values of settings, for ``find_ticket(method=...)``.

        Example:
            >>> import teddy
            >>> teddy.UGS(stride=5, distill=1.0)
            MethodSpec('ugs:distill=1:stride=5')
        """
        from teddy.methods.spec import MethodSpec

        return MethodSpec.make(self.name, options)


METHODS: Registry[Method] = Registry("method")


def method(
    name: str,
    distill: float = 10.0,
    check_values: Callable[..., object] | None = None,
    needs: tuple[str, ...] = (),
) -> Callable[[SearchFunction], SearchFunction]:
    r"""Register a search under a name; the one line that a new method needs.

    Args:
        name: For ``find_ticket(method=...)`` and the command line.
        distill: Default of :math:`\lambda_{dt}`; 10 is TEDDY's, 0 is no distillation.
        check_values: Called with all options before anything is done, to raise if one can't be.
        needs: Abilities that a problem must support: ``classes``, one class of each row;
            ``node classes``, of each node; or a feature of :data:`teddy.capabilities.FEATURES`.

    Example::

        @method("first-edges")
        def first_edges(problem, levels):
            for level in levels:
                keep = torch.arange(problem.graph.num_edges) >= problem.num_pruned(level)
                yield problem.train_ticket("first-edges", level, keep)
    """

    def register(search: SearchFunction) -> SearchFunction:
        METHODS.register(name)(Method(name, search, distill, check_values, needs))
        return search

    return register
