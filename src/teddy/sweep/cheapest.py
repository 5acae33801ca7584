"""``search_serving``: the ticket that is cheapest to serve, within a tolerance of dense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from teddy.capabilities import check_combination
from teddy.errors import InputError
from teddy.methods.combination import problem_parts
from teddy.methods.make_problem import load_data
from teddy.methods.plugin import read_model
from teddy.methods.sparsity_level import SparsityLevel
from teddy.methods.spec import MethodSpec
from teddy.models.source import ModelSource
from teddy.settings import Settings
from teddy.sparsity import check_count
from teddy.store.atomic import StrPath, check_writable, write_atomically
from teddy.sweep.candidates import Candidates, Progress
from teddy.sweep.run import source_of
from teddy.sweep.search import search_sparsest
from teddy.sweep.sequential import SequentialTest
from teddy.sweep.sparsest import SearchResult, SparsestPair
from teddy.ticket import Ticket
from teddy.ticket.operations import OPERATIONS
from teddy.ticket.serving_speed import ServingCost, serving_cost

#: Choices of edges that are tried by default; weights stay dense.
METHODS = tuple(
    f"{score}:only=edges" for score in ("teddy", "degree-high", "k-neighbor", "gain", "serving")
)


@dataclass(frozen=True)
class ServedTicket:
    """An accepted ticket and its cost.

    Attributes:
        method: The method, with its options.
        answer: Its levels and test metric.
        cost: What its server gathers.
    """

    method: str
    answer: SparsestPair
    cost: ServingCost


@dataclass(frozen=True)
class ServingSearch:
    """Result of a search for the cheapest ticket.

    Attributes:
        searches: The search of each method.
        tickets: The accepted tickets, cheapest first.
        batch: Nodes of a query.
        confidence: Probability that no accepted ticket is below dense by more than the tolerance.
    """

    searches: list[SearchResult]
    tickets: list[ServedTicket]
    batch: int
    confidence: float

    @property
    def cheapest(self) -> ServedTicket | None:
        """Ticket whose server sums the fewest messages, or None."""
        return self.tickets[0] if self.tickets else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``teddy search --minimise serving --json`` prints it."""
        return {
            "minimise": "serving",
            "query_nodes": self.batch,
            "confidence": self.confidence,
            "tickets": [
                {
                    "method": ticket.method,
                    **ticket.answer.tried.to_dict(),
                    "ticket_seed": ticket.answer.seed,
                    "test": asdict(ticket.answer.test),
                    "cost": asdict(ticket.cost),
                }
                for ticket in self.tickets
            ],
            "searches": [search.to_dict() for search in self.searches],
        }


def search_serving(
    dataset: str,
    model: str,
    out: StrPath,
    *,
    methods: Sequence[str] = METHODS,
    batch: int = 64,
    confidence: float = 0.95,
    settings: Settings | None = None,
    ticket: StrPath | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> ServingSearch:
    """Find the ticket that is cheapest to serve and not worse than the dense model.

    Each method is searched for its sparsest accepted levels by :func:`search_sparsest`. Sparser
    levels are subsets of denser ones, so these are the cheapest of the method. Their tickets are
    compared by the messages that a server sums for queries about random nodes, which is counted,
    not timed. The methods share the error probability, so that the answer is within the tolerance
    with the given confidence.

    Args:
        dataset: Name or path of the graph.
        model: The model.
        out: Folder of a sweep, which is created.
        methods: The methods, with options; the same one once.
        batch: Nodes of a query.
        confidence: Probability that no accepted ticket is below dense by more than the tolerance.
        settings: Settings of all trainings.
        ticket: File for the cheapest ticket.
        progress: Called with the name of the work, the finished amount and the total.
        options: Other arguments of :func:`search_sparsest`, such as ``tolerance``.

    Example:
        >>> import tempfile
        >>> from teddy.training import TrainConfig
        >>> settings = Settings(TrainConfig(epochs=2), model_options={"hidden_channels": 8})
        >>> found = search_serving("citeseer", "gcn", tempfile.mkdtemp(), seeds=2, levels=[10],
        ...     methods=["teddy:only=edges", "random:only=edges"], tolerance=30, settings=settings)
        >>> found.cheapest.method, found.cheapest.cost.edges, found.cheapest.cost.dense_edges
        ('teddy:only=edges', 342.8, 1174.7)
    """
    settings = settings or Settings()
    specs = list(dict.fromkeys(MethodSpec.parse(method) for method in methods))
    check_count(batch, "batch")
    SequentialTest(1.0, confidence=confidence)  # raises if it is no probability
    if not specs:
        raise InputError("got no methods, expected at least one")
    if options.get("frontier"):
        raise InputError("frontier is not supported by a search for the cheapest ticket")
    if ticket is not None:
        check_writable(ticket)
    data, made = load_data(source_of(dataset), settings), read_model(model)
    parts = [OPERATIONS["serve"], *problem_parts(data, made, settings)]
    for spec in specs:
        level = SparsityLevel(0.5, 0.5)
        check_combination([*parts, *spec.method.parts(level, **dict(spec.options))])
    batch = min(batch, data.num_nodes)
    module = ModelSource(made, {}, data).own_module()
    searches, tickets = [], []
    for spec in specs:
        named = None if progress is None else partial(_of_method, progress, str(spec))
        result = search_sparsest(
            dataset, model, out, method=str(spec), settings=settings, progress=named,
            confidence=1 - (1 - confidence) / len(specs), **options,
        )  # fmt: skip
        jobs, plugins = options.get("jobs", 1), options.get("plugins", ())
        candidates = Candidates(dataset, model, spec, out, settings, jobs, plugins, named)
        for answer in result.answers:
            file = candidates.ticket(answer.tried.point, answer.seed)
            cost = serving_cost(Ticket.load(file, module), data, batch)
            tickets.append((ServedTicket(str(spec), answer, cost), file))
        searches.append(replace(result, computed=result.computed + candidates.computed))
    tickets.sort(key=lambda pair: (pair[0].cost.edges, pair[0].cost.nodes))
    if ticket is not None and tickets:
        write_atomically(ticket, tickets[0][1].read_bytes())
    return ServingSearch(searches, [served for served, _ in tickets], batch, confidence)


def _of_method(progress: Progress, method: str, what: str, done: int, total: int) -> None:
    progress(f"{method}, {what}", done, total)
