"""What the paper's text claims of its results."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from teddy.paper.published import ARTEFACTS, check_known


@dataclass(frozen=True)
class Claim:
    """A statement of the text that a result can bear out or not.

    Attributes:
        id: Its short name.
        artefact: What can check it, of :data:`ARTEFACTS`.
        place: The section.
        text: The paper's words, without LaTeX.
        note: Where the paper's own numbers or words don't agree with it; mostly empty.
    """

    id: str
    artefact: str
    place: str
    text: str
    note: str = ""


def claims(artefact: str) -> list[Claim]:
    """What the text says of an artefact.

    Example:
        >>> [claim.id for claim in claims("toy-example")]
        ['toy-one-hop-ties', 'toy-two-hop-order']
    """
    check_known("artefact", artefact, list(ARTEFACTS))
    return [claim for claim in CLAIMS if claim.artefact == artefact]


def _read() -> list[Claim]:
    text = files("teddy.paper").joinpath("claims.csv").read_text(encoding="utf-8")
    return [Claim(**row) for row in csv.DictReader(text.splitlines())]


#: What the text says of the results, in the order of the paper.
CLAIMS: list[Claim] = _read()
