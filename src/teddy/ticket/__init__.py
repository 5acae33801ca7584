"""A ticket: kept edges, sparse weights and the metadata to use and to check them.

Predictions, compilation, export and the file format are here.
"""

from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.info import Accuracy, Count, Macs, TicketInfo
from teddy.ticket.ticket import Ticket

__all__ = ["Accuracy", "CompiledTicket", "Count", "Macs", "Ticket", "TicketInfo"]
