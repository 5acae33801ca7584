"""``teddy push``: a ticket to the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument, Option

from teddy.cli.options import Load, load_files
from teddy.cli.ticket_data import TicketFile


def push(
    ticket: TicketFile,
    repo: Annotated[str, Argument(help="owner/name; it is made unless it is there.")],
    private: Annotated[
        bool, Option("--private", help="Only its owner may see the repository.")
    ] = False,
    revision: Annotated[str | None, Option(help="A branch; it is made unless it is there.")] = None,
    load: Load = None,
) -> None:
    """Put a ticket and a card of it on the Hugging Face Hub; `hub:owner/name` reads it."""
    from teddy.ticket import hub
    from teddy.ticket.file import read_ticket

    load_files(load)
    info = read_ticket(ticket).info  # whole and a ticket, or an error before anything is sent
    typer.echo(hub.push(hub.local_file(ticket), info, repo, private, revision))
