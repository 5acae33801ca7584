"""Whether a statement about many comparisons holds, counting with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teddy.sweep.statistics import Difference
from teddy_paper.reproduction import Finding

#: A ticket is stable if no level is further below dense, in points.
STABLE = 2.0


def all_above(
    claim: str, found: Sequence[Difference | None], what: str, least: float = 0
) -> Finding:
    """Judge that every difference is above a number.

    False takes a difference of three seeds or more whose 95% interval lies below it; true takes
    all that the claim is about, computed and with their means above. Else the runs can't tell.

    Example:
        >>> found = [Difference(1.0, 0.5, 1.5, 3), Difference(0.2, -0.5, 0.9, 3), None]
        >>> finding = all_above("accuracy-beats-baselines", found, "TEDDY minus UGS")
        >>> finding.holds, finding.evidence
        (None, 'TEDDY minus UGS: above 0 in 2 of 2, clearly in 1, clearly below in 0 (+0.2 to +1.0
        points); 1 of 3 not computed')
    """
    known = [difference for difference in found if difference is not None]
    if not known:
        return Finding(claim, None, f"{what}: not computed")
    above = sum(d.mean > least for d in known)
    clearly = sum(d.clearly_above(least) for d in known)
    below = sum(d.clearly_below(least) for d in known)
    means = [d.mean for d in known]
    holds = False if below else (above == len(found)) or None
    text = (
        f"{what}: above {least:g} in {above} of {len(known)}, clearly in {clearly}, clearly below "
        f"in {below} ({min(means):+.1f} to {max(means):+.1f} points)"
    )
    return Finding(claim, holds, text + missing(found))


def share(claim: str, found: Sequence[bool | None], what: str, least: float = 1.0) -> Finding:
    """Judge that a share of all cases is so; what isn't computed could be either way.

    Example:
        >>> share("accuracy-more-than-half", [True, True, None], "above dense", 0.5).holds
        True
        >>> share("accuracy-more-than-half", [True, None, None], "above dense", 0.5).holds is None
        True
    """
    known = [case for case in found if case is not None]
    if not known:
        return Finding(claim, None, f"{what}: not computed")
    yes, unknown, total = sum(known), len(found) - len(known), len(found)
    enough = (
        (lambda count: count == total) if least == 1.0 else (lambda count: count > least * total)
    )
    holds = True if enough(yes) else (None if enough(yes + unknown) else False)
    return Finding(claim, holds, f"{what} in {yes} of {len(known)}{missing(found)}")


def missing(found: Sequence[Any]) -> str:
    """How many aren't there, in words; nothing if all are.

    Example:
        >>> missing([1, None]), missing([1])
        ('; 1 of 2 not computed', '')
    """
    absent = sum(case is None for case in found)
    return f"; {absent} of {len(found)} not computed" if absent else ""
