"""Commands whose help lists options in panels."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

#: Panels of options, in the order of the help; those of the command itself come first.
PANELS = ("Task", "Data", "Model", "Pruning", "Training", "Distillation", "Machine")


class PanelCommand(TyperCommand):
    """A command whose help has a section for each panel of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, the command's own options, then those of each panel."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        sections |= {panel: [] for panel in PANELS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None)
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections[panel or usual].append(record)
        for panel, records in sections.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)
