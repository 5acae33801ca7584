"""Pages of the reference: the public names of each subpackage, and the commands."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tools.docs_site.roles import ROLE, inline

SOURCE = Path(__file__).parents[2] / "src"
#: A package's docstring without a heading of its own.
BARE = ["    options:", "      members: false", "      show_root_heading: false",
        "      show_root_toc_entry: false", ""]  # fmt: skip


@cache
def tree(module: str) -> ast.Module:
    path = SOURCE.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text())


def subpackages() -> list[str]:
    """Subpackages with public names: packages of the library, the command line apart.

    Example:
        >>> subpackages()[:2]
        ['data', 'graph']
    """
    found = (path.parent.name for path in SOURCE.glob("teddy/*/__init__.py"))
    return sorted(subpackage for subpackage in found if subpackage != "cli")


def imported(module: str) -> dict[str, str]:
    """Names that a module takes from modules of its own package, and which.

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
    """Names in ``__all__``; those imported under TYPE_CHECKING where it is made from them.

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


def summary(module: str, name: str) -> str:
    """First paragraph of the docstring of a name, from where it is defined.

    Example:
        >>> summary("teddy.prune", "prune_edges")
        'Choose the kept edges (Algorithm 1, *Searching Subgraph*).'
    """
    origin = imported(module).get(name)
    if origin is not None:
        return summary(origin, name)
    for node in tree(module).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
    return ""


def public_paths(module: str) -> list[str]:
    """Where the public names of a subpackage are; one that a file is called, too, is in that file.

    Example:
        >>> public_paths("teddy.methods")[5:7]
        ['teddy.methods.find_ticket', 'teddy.methods.make_problem.make_problem']
    """
    homes = imported(module)
    return [
        f"{module}.{name}.{name}" if homes.get(name) == f"{module}.{name}" else f"{module}.{name}"
        for name in exported(module)
    ]


def subpackage_page(subpackage: str) -> str:
    """The subpackage's docstring, its public names, and those of the packages in it."""
    module = f"teddy.{subpackage}"
    lines = [f"# {module}", f"::: {module}", *BARE]
    lines += [f"::: {path}\n" for path in public_paths(module)]
    for package in sorted(SOURCE.glob(f"teddy/{subpackage}/*/__init__.py")):
        inner = f"{module}.{package.parent.name}"
        names = [name for name in imported(inner) if name not in exported(module)]
        lines += [f"## {inner}", f"::: {inner}", *BARE]
        lines += [f"::: {imported(inner)[name]}.{name}\n" for name in names]
    return "\n".join(lines)


def top_page() -> str:
    """The names of ``teddy`` itself, each with its line, linked to its subpackage."""
    lines = ["# teddy", "What most programs need; the subpackages have the rest.", ""]
    lines += ["| name | |", "|---|---|"]
    for name in exported("teddy"):
        origin = imported("teddy")[name]
        said = ROLE.sub(r"`\2`", inline(summary(origin, name)))
        lines.append(f"| [`{name}`][{origin}.{name}] | {said} |")
    lines += ["", "::: teddy.errors.InputError"]
    return "\n".join(lines)


def command_page() -> str:
    """Every command as it explains itself."""
    import typer.main
    from typer.testing import CliRunner

    from teddy.cli.app import app

    group = typer.main.get_command(app)
    lines = ["# Command line", "What `teddy COMMAND --help` prints.", ""]
    for name in group.commands:  # type: ignore[attr-defined]
        help_ = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "92"}, prog_name="teddy")
        lines += [f"## teddy {name}", "```text", help_.stdout.strip(), "```", ""]
    return "\n".join(lines)
