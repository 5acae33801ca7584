"""Nothing above tasks asks which kind of problem it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import teddy

SOURCE = Path(teddy.__file__).parent
ABOVE = ("training", "ticket", "tracking", "methods", "sweep", "report", "cli")

#: Tests of the kind of problem that must not occur outside its subpackage.
QUESTIONS = (
    r"info\.(links|graphs|hetero)\b",
    r"isinstance\([^)]*\b(LinkKind|GraphKind|HeteroKind|LinkHead|Readout)\b",
    r"\bkind\.name [!=]=",
    r"task\.name [!=]= \"",
    r"\"edge_label_index\" (not )?in ",
)

#: A header holds the fields of the built-in kinds.
ALLOWED = {"ticket/info.py"}


@pytest.mark.parametrize("folder", ABOVE)
def test_no_module_branches_on_the_kind_of_problem(folder):
    found = []
    for file in sorted((SOURCE / folder).rglob("*.py")):
        name = file.relative_to(SOURCE).as_posix()
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if name not in ALLOWED and any(re.search(question, line) for question in QUESTIONS):
                found.append(f"{name}:{number}: {line.strip()}")
    assert found == []
