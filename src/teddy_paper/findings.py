"""Findings about claims that cover many comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teddy.sweep.statistics import Difference
from teddy_paper.reproduction import Finding

#: A ticket is stable if no level is further below dense, in points.
STABLE = 2.0


def all_above(
    claim: str, differences: Sequence[Difference | None], what: str, least: float = 0
) -> Finding:
    """Check the claim that every difference is above a number.

    False: the 95% interval of a difference of at least three seeds is below it. True: all
    differences of the claim are computed, and their means are above it. None: otherwise.

    Example:
        >>> differences = [Difference(1.0, 0.5, 1.5, 3), Difference(0.2, -0.5, 0.9, 3), None]
        >>> finding = all_above("accuracy-beats-baselines", differences, "TEDDY minus UGS")
        >>> finding.holds, finding.evidence
        (None, 'TEDDY minus UGS: above 0 in 2 of 2, clearly in 1, clearly below in 0 (+0.2 to +1.0
        points); 1 of 3 not computed')
    """
    known = [difference for difference in differences if difference is not None]
    if not known:
        return Finding(claim, None, f"{what}: not computed")
    above = sum(d.mean > least for d in known)
    clearly = sum(d.clearly_above(least) for d in known)
    below = sum(d.clearly_below(least) for d in known)
    means = [d.mean for d in known]
    holds = False if below else (above == len(differences)) or None
    text = (
        f"{what}: above {least:g} in {above} of {len(known)}, clearly in {clearly}, clearly below "
        f"in {below} ({min(means):+.1f} to {max(means):+.1f} points)"
    )
    return Finding(claim, holds, text + missing(differences))


def share(claim: str, cases: Sequence[bool | None], what: str, least: float = 1.0) -> Finding:
    """Check the claim that a share of cases is true; cases that are not computed are unknown.

    Example:
        >>> share("accuracy-more-than-half", [True, True, None], "above dense", 0.5).holds
        True
        >>> share("accuracy-more-than-half", [True, None, None], "above dense", 0.5).holds is None
        True
    """
    known = [case for case in cases if case is not None]
    if not known:
        return Finding(claim, None, f"{what}: not computed")
    yes, unknown, total = sum(known), len(cases) - len(known), len(cases)
    enough = (
        (lambda count: count == total) if least == 1.0 else (lambda count: count > least * total)
    )
    holds = True if enough(yes) else (None if enough(yes + unknown) else False)
    return Finding(claim, holds, f"{what} in {yes} of {len(known)}{missing(cases)}")


def missing(values: Sequence[Any]) -> str:
    """Text with the number of missing values; empty if none is.

    Example:
        >>> missing([1, None]), missing([1])
        ('; 1 of 2 not computed', '')
    """
    absent = sum(value is None for value in values)
    return f"; {absent} of {len(values)} not computed" if absent else ""
