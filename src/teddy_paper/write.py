"""Files of a result: each table as CSV, and everything as Markdown and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from teddy.store.atomic import write_atomically
from teddy_paper.published import CLAIMS
from teddy_paper.reproduction import REPRODUCTIONS, Finding, Reproduction, Result, ResultTable

#: Verdicts on a claim, as text.
VERDICTS = {True: "true", False: "false", None: "can't tell"}


def write_result(entry: Reproduction, result: Result, folder: Path, images: Sequence[Path]) -> Path:
    """Write all files of a result; return its Markdown page."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in result.tables:
        write_atomically(folder / f"{table.name}.csv", to_csv(table).encode())
    plain = {
        "name": entry.name,
        "made_by": result.made_by,
        "places": entry.places,
        "findings": [describe_finding(finding) for finding in result.findings],
        "notes": list(result.notes),
    }
    write_atomically(folder / "findings.json", (json.dumps(plain, indent=1) + "\n").encode())
    page = folder / "README.md"
    write_atomically(page, to_markdown(entry, result, images).encode())
    return page


def write_index(folder: Path) -> Path:
    """Write one page with all claims of the paper and their findings in a folder."""
    parts = ["# Every claim of the paper, on our runs"]
    for name in REPRODUCTIONS:
        file = folder / name / "findings.json"
        if not file.is_file():
            continue
        entry, findings = REPRODUCTIONS[name], json.loads(file.read_text())["findings"]
        parts.append(f"## [{entry.title}]({name}/README.md)")
        if findings:
            rows = [[f["text"], f["place"], f["says"], f["evidence"]] for f in findings]
            parts.append(_markdown(("the paper says", "in", "on our runs", "seen"), rows))
    page = folder / "README.md"
    write_atomically(page, ("\n\n".join(parts) + "\n").encode())
    return page


def to_csv(table: ResultTable) -> str:
    """Convert a table to CSV, with numbers to six digits and empty unknown values.

    Example:
        >>> to_csv(ResultTable("t", "", ("a", "b"), [["x", 1 / 3], ["y", None]]))
        'a,b\\nx,0.333333\\ny,\\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([_number(value, ".6g") for value in row])
    return buffer.getvalue()


def to_markdown(entry: Reproduction, result: Result, images: Sequence[Path]) -> str:
    """Convert a result to a page of claims, findings, charts and tables."""
    where = f" ({', '.join(entry.places)})" if entry.places else ""
    parts = [f"# {entry.title}{where}", f"Made by {result.made_by}."]
    if result.findings:
        claims = [describe_finding(finding) for finding in result.findings]
        rows = [
            [f"“{c['text']}” ({c['place']})", c["says"], c["evidence"], c["note"]] for c in claims
        ]
        parts.append(_markdown(("the paper says", "on our runs", "seen", "to be known"), rows))
    parts.extend(result.notes)
    parts.extend(f"![{path.stem}]({path.name})" for path in images if path.suffix == ".png")
    for table in result.tables:
        link = f"[{table.name}.csv]({table.name}.csv)"
        parts += [f"## {table.title}", link, _markdown(table.columns, table.rows)]
    return "\n\n".join(parts) + "\n"


def describe_finding(finding: Finding) -> dict[str, Any]:
    """Plain data of a finding, with the claim's text.

    Example:
        >>> describe_finding(Finding("toy-one-hop-ties", True, "seen"))["says"]
        'true'
    """
    claim = next(claim for claim in CLAIMS if claim.id == finding.claim)
    source = {"text": claim.text, "place": claim.place, "note": claim.note}
    return {**asdict(finding), **source, "says": VERDICTS[finding.holds]}


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [columns, ["---"] * len(columns)]
    lines += [[_number(value, ".2f") for value in row] for row in rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _number(value: Any, digits: str) -> str:
    if value is None:
        return ""
    # Rounded first, so that rounding errors of 0 are written as 0.
    return format(round(value, 9) + 0.0, digits) if isinstance(value, float) else str(value)
