"""Help of the commands: options in panels, examples, and full summaries."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from teddy.registry import unknown_name
from teddy.settings import PANELS

#: Help is as wide as the terminal up to this width, and 80 columns without a terminal.
CONTEXT = {"max_content_width": 110, "help_option_names": ["-h", "--help"]}

_EXAMPLES = "\n\nExamples:\n"


class WithExamples:
    """Help that ends with the section ``Examples:`` of the docstring, one on each line."""

    help: str | None

    @property
    def examples(self) -> list[str]:
        """Example command lines."""
        return examples(self.help)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the description, without the examples."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text((self.help or "").partition(_EXAMPLES)[0])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples as they are."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in self.examples))


class PanelCommand(WithExamples, TyperCommand):
    """A command whose help has a panel for each group of options, and examples at the end."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options of each panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        sections |= {panel: [] for panel in (*PANELS, "Options")}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[panel or usual].append((_value_names(record[0]), record[1]))
        for panel, records in sections.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


class CommandGroup(WithExamples, TyperGroup):
    """The commands, with their full summaries, and a hint for a misspelt one."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each command's name and the first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, summary(self.commands[name].help)) for name in self.list_commands(ctx)]
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named first, or raise."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise unknown_name("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def summary(help_text: str | None) -> str:
    """First paragraph of a help text, on one line.

    Example:
        >>> summary("Find a ticket.\\n\\nIt is saved.")
        'Find a ticket.'
    """
    return " ".join((help_text or "").split("\n\n")[0].split())


def examples(help_text: str | None) -> list[str]:
    """Lines of the section of examples of a help text.

    Example:
        >>> examples("Find a ticket.\\n\\nExamples:\\n    teddy find cora\\n")
        ['teddy find cora']
    """
    lines = (help_text or "").partition(_EXAMPLES)[2].splitlines()
    return [line.strip() for line in lines if line.strip()]


def _value_names(option: str) -> str:
    """An option and the kind of its value, ``--load <path>`` for a repeatable path.

    Example:
        >>> _value_names("--load <list[Path]>"), _value_names("--track <list[str]>")
        ('--load <path>', '--track <str>')
    """
    return option.replace("<list[", "<").replace("]>", ">").replace("<Path>", "<path>")
