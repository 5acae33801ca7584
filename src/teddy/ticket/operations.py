"""Operations on a ticket, with the tasks that they do not support."""

from __future__ import annotations

from teddy.capabilities import Capabilities, check_combination, reason_against
from teddy.tasks import kind_from, task_from
from teddy.ticket.info import TicketInfo

#: Operations on a ticket, in the order of the docs.
OPERATIONS: dict[str, Capabilities] = {
    part.name: part
    for part in (
        *(Capabilities("use", name) for name in (
            "save and load", "predict", "evaluate", "apply", "compile", "export to ONNX",
            "export to torch.export", "export to Parquet", "speed",
        )),
        Capabilities("use", "serve", {
            "link-prediction": "a server predicts nodes",
            "graph-classification": "a server predicts nodes",
            "heterogeneous": "a server takes a graph with one node type",
            "specformer": "each of its outputs depends on the whole graph",
        }, text="serving of single nodes (Ticket.server)"),
        Capabilities("use", "transfer", {
            "link-prediction": "its links belong to its own graph",
            "graph-classification": "its tickets take any graphs without it",
            "heterogeneous": "use an inductive ticket (inductive=True) for other graphs",
        }, text="Ticket.transfer (--changed)"),
    )
}  # fmt: skip


def check_operation(name: str, info: TicketInfo) -> None:
    """Raise if a ticket's task does not support an operation.

    Args:
        name: A name in :data:`OPERATIONS`.
        info: The ticket's header.
    """
    check_combination(_parts(name, info))


def supports(name: str, info: TicketInfo) -> bool:
    """Return whether a ticket's task supports an operation."""
    return reason_against(_parts(name, info)) is None


def _parts(name: str, info: TicketInfo) -> list[Capabilities]:
    return [OPERATIONS[name], *kind_from(task_from(info.task), info).parts()]
