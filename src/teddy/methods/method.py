"""``Method``, the registry of methods, and the decorator that registers one."""

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
    r"""A registered method.

    Attributes:
        name: Registered name.
        search: Function of a :class:`Problem`, levels and options that yields a ticket for each
            level.
        distill: Default strength :math:`\lambda_{dt}` of distillation.
        check_values: Called with the options, raises on an invalid value; None: all are valid.
        needs: Abilities that a problem must support, see :class:`teddy.capabilities.Capabilities`.
    """

    name: str
    search: SearchFunction
    distill: float
    check_values: Callable[..., object] | None = None
    needs: tuple[str, ...] = ()

    def part(self) -> Capabilities:
        """Capabilities of the method."""
        return Capabilities("method", self.name, needs=self.needs)

    def parts(self, level: SparsityLevel, **options: Any) -> list[Capabilities]:
        """Capabilities of the method and, if it has one scheme, of the scheme at a level."""
        scheme = None
        if self.check_values is not None:
            scheme = self.check_values(**{**self.options, **options})
        return [self.part(), *(scheme.parts(level) if hasattr(scheme, "parts") else ())]

    @property
    def options(self) -> dict[str, Any]:
        """Options with their defaults: the keyword arguments of the search."""
        parameters = inspect.signature(self.search).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def check(self, **options: Any) -> None:
        """Raise on an unknown option or an invalid value."""
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
        tickets = self.search(problem, levels, **options)
        return self._recorded(tickets, {**self.options, **options})

    def _recorded(self, tickets: Iterator[Ticket], options: dict[str, Any]) -> Iterator[Ticket]:
        for ticket in tickets:
            if not isinstance(ticket, Ticket):
                kind = type(ticket).__name__
                raise InputError(f"{self.name} yielded a {kind}, expected a ticket for each level")
            ticket.info.config.update(options)
            yield ticket

    def __call__(self, **options: Any) -> MethodSpec:
        """Return the method with options and its own settings, for ``find_ticket(method=...)``.

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
        name: Name for ``find_ticket(method=...)`` and the command line.
        distill: Default of :math:`\lambda_{dt}`; 10 is TEDDY's, 0 is no distillation.
        check_values: Called with all options before the search, raises on an invalid value.
        needs: Abilities that a problem must support: ``classes``, one class per row;
            ``node classes``, one per node; or a feature of :data:`teddy.capabilities.FEATURES`.

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
