"""Tickets: kept edges, sparse weights and metadata in one file.

A ticket predicts, is compiled and exported, and is transferred to a changed graph.
"""

from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.header import (
    EdgeCounts,
    GraphInfo,
    GraphPart,
    GraphSetInfo,
    HeteroInfo,
    InductiveInfo,
    LinkInfo,
    ModelInfo,
    RelationInfo,
    TaskInfo,
    TransferInfo,
)
from teddy.ticket.info import Accuracy, Count, Macs, TicketInfo
from teddy.ticket.ticket import Ticket

__all__ = [
    "Accuracy",
    "CompiledTicket",
    "Count",
    "EdgeCounts",
    "GraphInfo",
    "GraphPart",
    "GraphSetInfo",
    "HeteroInfo",
    "InductiveInfo",
    "LinkInfo",
    "Macs",
    "ModelInfo",
    "RelationInfo",
    "TaskInfo",
    "Ticket",
    "TicketInfo",
    "TransferInfo",
]
