"""Write docs/settings.md from the declared settings.

python tools/make_settings.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

from teddy.settings import ENTRIES, MODEL_ENTRIES, PANELS, Entry
from teddy.store.atomic import write_atomically
from teddy.tasks import TASKS

OUT = Path(__file__).parents[1] / "docs" / "settings.md"
HEAD = """# Settings
All settings of a search, for Python and the command line. `python tools/make_settings.py` makes this page from the declarations in the code.

```python
>>> import teddy
>>> data = teddy.load_dataset("citeseer")
>>> ticket = teddy.find_ticket(
...     data, "gcn", epochs=2, hidden_channels=8, weight_scope="matrix")
>>> train = teddy.TrainConfig(epochs=2, lr=0.01)      # the same as objects
>>> ticket = teddy.find_ticket(data, "gcn", hidden_channels=8, train=train)

```
```sh
teddy find citeseer --model gcn --epochs 2 --weight-scope matrix
teddy sweep citeseer --methods teddy,teddy:temperature=2 --out runs/settings
```
- **Names.** The name is the keyword of `teddy.find_ticket`; with dashes it is the option of `teddy find`, `sweep`, `search`, `tune` and `reproduce`. `split`, `data_dir`, `nodes`, `task`, `directed` and `target` are also arguments of `teddy.load_dataset`.
- ***Per method*** marks settings that a method of a sweep can set for itself, as `teddy:temperature=2`. Every method also has `only=edges` or `only=weights` (the other part stays dense) and `weight_level=i` (another level for the weights).
- **Options of one model, method or task** follow its name, as in `nagphormer:hops=3`; `teddy list` prints them.
- **Objects.** `train=teddy.TrainConfig(...)`, `method=teddy.UGS(stride=5)` and `task=teddy.LinkPrediction(dimensions=64)` work too.
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
    for panel in [panel for panel in PANELS if any(e.panel == panel for e in entries)]:
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
