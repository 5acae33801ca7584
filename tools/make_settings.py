"""Write docs/settings.md from the declared settings.

python tools/make_settings.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

from teddy.cli.printing import PANELS
from teddy.settings import ENTRIES, MODEL_ENTRIES, Entry
from teddy.store.atomic import write_atomically
from teddy.tasks import TASKS

OUT = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings
Every setting of a search, made from its declaration by `python tools/make_settings.py`. The name is the keyword of `teddy.find_ticket` and, with dashes, the option of `teddy find`, `sweep`, `search`, `tune` and `reproduce`: `weight_scope="matrix"`, `--weight-scope matrix`. In a sweep a method may have its own value of those marked *per method*: `teddy:temperature=2`. Every method has two more options, `only=edges` or `only=weights` (the other part stays dense) and `weight_level=i` (the level of the weights, whatever that of the edges is). Settings of the panel Data are arguments of `teddy.load_dataset` in Python. Options of one model, method or task alone follow its name, as in `nagphormer:hops=3`, and `teddy list` prints them.

Settings of a training also come as an object, `train=teddy.TrainConfig(epochs=200, lr=0.01)`; a method and a task likewise, `method=teddy.UGS(stride=5)`, `task=teddy.LinkPrediction(dimensions=64)`.
"""  # noqa: E501


def default_text(entry: Entry) -> str:
    if entry.default is None or entry.default == ():
        return ""
    return f"`{str(entry.default).lower() if entry.kind is bool else entry.default}`"


def line(entry: Entry) -> str:
    checked = bool(entry.choices) or entry.kind in (int, float, bool)
    allowed = entry.expected() if checked else ""
    mark = " *per method*" if entry.per_method else ""
    cells = f"`{entry.name}`{mark}", entry.help, default_text(entry), allowed
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page() -> str:
    """The page.

    Example:
        >>> "| `epochs` | Epochs of each training. | `200` |" in page()
        True
    """
    lines, entries = [HEAD], [*ENTRIES.values(), *MODEL_ENTRIES.values()]
    for panel in PANELS:
        lines += [f"## {panel}", "| setting | meaning | default | values |", "|---|---|---|---|"]
        lines += [line(entry) for entry in entries if entry.panel == panel]
        lines.append("")
    lines += ["## Tasks", "| task | metric | options |", "|---|---|---|"]
    for name in TASKS:
        options = ", ".join(f"`{key}={value}`" for key, value in TASKS[name].defaults().items())
        lines.append(f"| `{name}` | {TASKS[name].metric} | {options} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    write_atomically(OUT, page().encode())


if __name__ == "__main__":
    main()
