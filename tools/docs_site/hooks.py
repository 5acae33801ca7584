"""Hooks of MkDocs: add pages from outside docs/, and fix links to them."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from tools.docs_site.formulas import typeset
from tools.docs_site.notebook import to_markdown
from tools.docs_site.pages import (
    OUTSIDE,
    ROOT,
    file_page,
    linked_files,
    place,
    relink,
    sessions,
    spaced,
    titled,
)
from tools.docs_site.reference import api_page, command_page, extension_page

#: Pages made from docstrings and commands.
GENERATED = ("api.md", "extend.md", "commands.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not Markdown files under docs/."""
    written = [(f.src_uri, f.content_string) for f in files if f.src_uri.endswith(".md")]
    written += [(uri, (ROOT / path).read_text()) for uri, path in OUTSIDE.items()]
    made = {uri: (ROOT / path).read_text() for uri, path in OUTSIDE.items()}
    for notebook in sorted((ROOT / "docs").glob("*.ipynb")):
        made[f"{notebook.stem}.md"] = to_markdown(notebook)
    made |= dict(zip(GENERATED, (api_page(), extension_page(), command_page()), strict=True))
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    linked = linked_files([*written, *made.items()])
    sources = dict.fromkeys(path for path in linked if (ROOT / path).exists())
    for folder in [path for path in sources if (ROOT / path).is_dir()]:
        inside = (p for p in sorted((ROOT / folder).iterdir()) if p.is_file())
        sources |= dict.fromkeys(p.relative_to(ROOT).as_posix() for p in inside)
    for path in sources:
        page = File.generated(
            config, place(path), content=file_page(path), inclusion=InclusionLevel.NOT_IN_NAV
        )
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Adapt a page to the site: formulas, links, blank lines, sessions."""
    uri = page.file.src_uri
    if uri.startswith("files/"):  # source files are linked, not searched
        page.meta["search"] = {"exclude": True}
    elif uri in GENERATED or uri.startswith(("results", "changelog")):  # explanations rank first
        page.meta["search"] = {"boost": 0.2}
    if uri.startswith("files/") or uri in GENERATED:
        return spaced(markdown)
    return sessions(titled(spaced(relink(typeset(markdown), uri))))
