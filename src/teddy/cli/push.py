"""``teddy push``: a ticket to the Hugging Face Hub."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Argument

from teddy.cli.options import Load, load_files, option
from teddy.cli.ticket_data import TicketFile


def push(
    ticket: TicketFile,
    repo: Annotated[str, Argument(help="Repository owner/name, created if it does not exist.")],
    private: Annotated[
        bool, option("Output", "Private repository, if it is created.", "--private")
    ] = False,
    revision: Annotated[
        str | None, option("Output", "Branch, created if it does not exist.")
    ] = None,
    load: Load = None,
) -> None:
    """Push a ticket and its model card to the Hugging Face Hub.

    `hub:owner/name` then names the ticket in the other commands.

    Examples:
        teddy push my.ticket me/citeseer-ticket
        teddy push my.ticket me/citeseer-ticket --private
        teddy push my.ticket me/citeseer-ticket --revision seed-1
    """
    from teddy.ticket import hub
    from teddy.ticket.file import read_ticket

    load_files(load)
    info = read_ticket(ticket).info  # a damaged file is an error before anything is sent
    typer.echo(hub.push(hub.local_file(ticket), info, repo, private, revision))
