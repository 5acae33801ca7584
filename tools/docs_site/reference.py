"""Pages of the reference: the public objects, the extension points and the commands."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
#: Groups of the API page: names of ``teddy``, then other public objects that belong to them.
GROUPS: dict[str, tuple[str, ...]] = {
    "Find a ticket": ("find_ticket", "find_over_seeds"),
    "Use a ticket": ("Ticket", "ticket", "serving"),
    "Prune edges": ("prune_edges", "SparsifyEdges", "edge_scores", "graph_health"),
    "Prune weights": ("L0Projected", "project_l0_", "distillation_loss"),
    "Your own model": ("accelerate",),
    "Methods": ("Teddy", "UGS", "WDGLT", "Auto"),
    "Tasks": (
        "Classification", "Multilabel", "Regression", "LinkPrediction", "GraphClassification",
    ),
    "Settings": ("TrainConfig", "WeightBudget", "Settings"),
    "Data": ("load_dataset", "split_links", "links_of", "graph_set"),
    "Errors": ("InputError",),
}  # fmt: skip
#: Subpackages that programs extend, or drive from Python, by their titles on the second page.
EXTENSIBLE = {
    "Methods": "methods", "Edge scores": "prune", "Models": "models", "Tasks": "tasks",
    "Trackers": "tracking", "Data sets": "data", "Loaders and training": "training",
    "Weights": "weights", "Graphs": "graph", "Sweeps and search": "sweep",
    "Edge tables": "scale",
}  # fmt: skip
#: A package's docstring without a heading of its own.
BARE = ["    options:", "      members: false", "      show_root_heading: false",
        "      show_root_toc_entry: false", ""]  # fmt: skip


@cache
def tree(module: str) -> ast.Module:
    path = SOURCE.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text())


def imported(module: str) -> dict[str, str]:
    """Return the names that a module imports from its own package, with their modules.

    Example:
        >>> imported("teddy.scale")["sparsify_table"]
        'teddy.scale.sparsify'
    """
    nodes = ast.walk(tree(module))
    return {
        alias.name: node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module is not None
        if f"{node.module}.".startswith(f"{module}.")
        for alias in node.names
    }  # fmt: skip


def exported(module: str) -> list[str]:
    """Return the names in ``__all__``, or those imported under TYPE_CHECKING.

    Example:
        >>> exported("teddy.scale")
        ['ENGINES', 'TABLE_SCORES', 'sparsify_table']
    """
    for node in tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            if isinstance(node.value, ast.List):
                return [str(ast.literal_eval(item)) for item in node.value.elts]
            return sorted(imported(module), key=str.lower)
    return []


def public_paths(module: str) -> list[str]:
    """Return the paths of the public names of a subpackage.

    Example:
        >>> public_paths("teddy.methods")[5:7]
        ['teddy.methods.find_ticket', 'teddy.methods.make_problem.make_problem']
    """
    homes = imported(module)
    return [
        f"{module}.{name}.{name}" if homes.get(name) == f"{module}.{name}" else f"{module}.{name}"
        for name in exported(module)
    ]


def api_page() -> str:
    """Return the page of all public objects of ``teddy``, in groups."""
    rest = set(exported("teddy")) - {name for group in GROUPS.values() for name in group}
    groups = {**GROUPS, "More": tuple(sorted(rest))} if rest else GROUPS
    lines = [
        "# API", "The public objects of `teddy`. To add a method, a score, a model or a task, "
        "see [Extension points](extend.md).", "",
    ]  # fmt: skip
    for title, names in groups.items():
        lines += [f"## {title}", ""]
        for name in names:
            if (SOURCE / "teddy" / name).is_dir():
                paths = [path for path in public_paths(f"teddy.{name}") if not in_api(path)]
            else:
                paths = [f"teddy.{name}"]
            lines += [f"::: {path}\n" for path in paths]
    return "\n".join(lines)


def in_api(path: str) -> bool:
    """Return True if ``teddy`` itself has the object at a path of a subpackage.

    Example:
        >>> in_api("teddy.tasks.Regression"), in_api("teddy.tasks.Task")
        (True, False)
    """
    return path.rpartition(".")[2] in exported("teddy")


def extension_page() -> str:
    """Return the page of the other public objects, for programs that extend the library."""
    lines = [
        "# Extension points", "Classes, functions and registries to add your own method, score, "
        "model, task or tracker, and to run sweeps and prune tables from Python. "
        "[Contributing](contributing.md) shows the file and the line that each needs; "
        "the [API](api.md) page has what most programs use.", "",
    ]  # fmt: skip
    for title, subpackage in EXTENSIBLE.items():
        module = f"teddy.{subpackage}"
        lines += [f"## {title}", f"::: {module}", *BARE]
        lines += [f"::: {path}\n" for path in public_paths(module) if not in_api(path)]
        for package in sorted(SOURCE.glob(f"teddy/{subpackage}/*/__init__.py")):
            inner = f"{module}.{package.parent.name}"
            names = [name for name in imported(inner) if name not in exported(module)]
            lines += [f"::: {imported(inner)[name]}.{name}\n" for name in names]
    return "\n".join(lines)


def command_page() -> str:
    """Return the page with the help text of every command."""
    import typer.main
    from typer.testing import CliRunner

    from teddy.cli.app import app

    group = typer.main.get_command(app)
    lines = ["# Commands", "The output of `teddy COMMAND --help`.", ""]
    for name in group.commands:  # type: ignore[attr-defined]
        help_ = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "80"}, prog_name="teddy")
        lines += [f"## teddy {name}", "```text", help_.stdout.strip(), "```", ""]
    return "\n".join(lines)
