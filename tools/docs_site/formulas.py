"""Formulas of pages as MathML: ``$...$`` in a sentence, blocks in ```` ```math ````."""

from __future__ import annotations

import re

from tools.docs_site.pages import outside_fences
from tools.docs_site.roles import mathml

BLOCK = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A code span, which stays as it is, or a formula, as GitHub delimits it.
INLINE = re.compile(r"`[^`]*`|(?<![\\$\w])\$(?=\S)([^$`]+?)(?<=\S)\$(?![\w$])")


def typeset(text: str) -> str:
    """Replace the formulas of a page; code spans and other fences stay as they are.

    Example:
        >>> typeset("The score $x^2$, not `$x$`")
        'The score <math ...><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>, not `$x$`'
        >>> typeset("```math\\nx\\n```")
        '\\n<math ... display="block"><mrow><mi>x</mi></mrow></math>\\n'
    """
    text = BLOCK.sub(lambda block: f"\n{mathml(block[1], 'block')}\n", text)
    return outside_fences(text, lambda line: INLINE.sub(_inline, line))


def _inline(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else mathml(match[1])
