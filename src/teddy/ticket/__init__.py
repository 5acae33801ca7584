"""The result: kept edges, sparse weights, and all that is needed to use and to check them.

May import: data, edges, weights, models, training.
"""

from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.info import Accuracy, Count, Macs, TicketInfo
from teddy.ticket.ticket import Ticket

__all__ = ["Accuracy", "CompiledTicket", "Count", "Macs", "Ticket", "TicketInfo"]
