"""The tutorial: run its cells, store their outputs, show it as a page.

    python -m tools.docs_site.notebook docs/tutorial.ipynb

runs the cells in a temporary folder and writes their outputs into the notebook, like Jupyter but
without its packages. Outputs are text and figures of matplotlib.
"""

from __future__ import annotations

import argparse
import ast
import base64
import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """Return a notebook as plain data."""
    notebook: dict[str, Any] = json.loads(path.read_text())
    return notebook


def source(cell: dict[str, Any]) -> str:
    """Return the source of a cell; the format allows text and a list of lines."""
    return "".join(cell["source"])


def run(notebook: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Run the code cells in one namespace; yield the outputs of each."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            value = execute(source(cell), names)
        outputs: list[dict[str, Any]] = []
        if printed.getvalue():
            outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue()})
        if value is not None and not pyplot.get_fignums():
            data = {"text/plain": repr(value)}
            outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
        for number in pyplot.get_fignums():
            picture = io.BytesIO()
            pyplot.figure(number).savefig(picture, format="png", dpi=110, bbox_inches="tight")
            data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
            outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
        pyplot.close("all")
        yield outputs


def execute(code: str, names: dict[str, Any]) -> Any:
    """Run code; return the value of its last expression, if any.

    Example:
        >>> execute("a = 2\\na + 1", {})
        3
    """
    tree, last = ast.parse(code), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    exec(compile(tree, "<cell>", "exec"), names)
    return eval(compile(last, "<cell>", "eval"), names) if last is not None else None


def text_of(outputs: list[dict[str, Any]]) -> str:
    """Return the text outputs of a cell."""
    parts = ["".join(o.get("text", o.get("data", {}).get("text/plain", ""))) for o in outputs]
    return "\n".join(part.rstrip("\n") for part in parts if part)


def to_markdown(path: Path) -> str:
    """Return a notebook as a Markdown page, with its stored outputs."""
    parts = []
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(source(cell))
            continue
        parts.append(f"```python\n{source(cell)}\n```")
        if text_of(cell["outputs"]):
            parts.append(f"```{{.text .output}}\n{text_of(cell['outputs'])}\n```")
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                picture = "".join(output["data"]["image/png"]).replace("\n", "")
                parts.append(f'<img alt="A chart" src="data:image/png;base64,{picture}">')
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Run a notebook and write it with its outputs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("notebook", type=Path)
    path: Path = parser.parse_args().notebook
    notebook, place = read(path), path.resolve()
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for cell, outputs in zip(cells, run(notebook), strict=True):
            cell["outputs"] = outputs
    place.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
