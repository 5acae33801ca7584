"""Documentation: examples and commands run as written, links lead to files."""

from __future__ import annotations

import doctest
import re
import shutil
from importlib import import_module

import pytest
from tools.check_docs.blocks import ROOT, Command, blocks, commands, mentions, pages
from tools.check_docs.programs import DocumentationError, check
from tools.check_docs.shorter import shortened

from cli.command import run_forked


def text_of(page):
    return (ROOT / page).read_text()


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class NearChecker(doctest.OutputChecker):
    """Accept results of training on another machine: 3 points away, 5% of large counts."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        same_text = NUMBER.sub("", want).split() == NUMBER.sub("", got).split()
        return same_text and all(map(self.near, NUMBER.findall(want), NUMBER.findall(got)))

    @staticmethod
    def near(want, got):
        expected, actual = (float(text.replace(",", "")) for text in (want, got))
        tolerance = 3 if "." in want else 0.05 * expected if expected > 1e7 else 0
        return abs(expected - actual) <= tolerance


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in pages() if "\n>>> " in text_of(page)])
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page == "README.md":  # shows what a training printed
        monkeypatch.setattr(doctest, "OutputChecker", NearChecker)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks(page, text_of(page)):
        if block.file is not None:  # what the examples read
            (tmp_path / block.file).write_text("\n".join([*block.lines, ""]))
    failed, attempted = doctest.testfile(
        str(ROOT / page),
        module_relative=False,
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    assert attempted > 0
    assert failed == 0


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_every_command_is_run_or_parsed(part):
    # In a separate process: what commands load (--load) stays registered.
    argv = ["check_docs", *pages()[part::4]]
    code = f"import runpy, sys; sys.argv = {argv}; "
    code += "runpy.run_module('tools.check_docs', run_name='__main__')"
    done = run_forked(code=code, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(": run" in line for line in done.stdout.splitlines()) > 5


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("teddy find --graph-sparsty 0.5", "No such option"),
        ("teddy find --epochs many", "valid integer"),
        ("teddy fnd citeseer", "fnd"),
        ("teddy push my.ticket", "Missing argument"),
        ("python -m benchmarks.nothing", "No module named"),
        ("torchrun --nproc-per-node 2 -m teddy find --model", "requires an argument"),
        ("make tea", "'tea' is no target"),
        ("pip install 'teddy-glt[magic]'", "'magic' is no extra"),
        ("rm -rf everything", "no rule for 'rm'"),
    ],
)
def test_wrong_commands_are_reported(line, wrong, tmp_path):
    (block,) = blocks("a.md", f"```sh\n{line}\n```")
    (command,) = commands(block)
    with pytest.raises(DocumentationError, match=wrong):
        check(command, tmp_path)


@pytest.mark.parametrize(
    ("span", "how"),
    [
        ("teddy find citeseer --epochs 3", "parsed"),
        ("teddy find --method", "named"),
        ("pip install .", "parsed"),
        ("teddy sweep --summary [--against ugs]", "named"),
        ("teddy sweep --summary [--agains ugs]", None),
        ("teddy find --epoch", None),
    ],
)
def test_partial_commands_in_sentences_are_checked(span, how, tmp_path):
    (command,) = mentions("a.md", f"Say `{span}`, or `teddy.find_ticket`.")
    if how is None:
        with pytest.raises(DocumentationError, match="is no option"):
            check(command, tmp_path)
    else:
        assert check(command, tmp_path) == how


def test_shortened_commands_change_only_by_the_rules():
    words = ["sweep", "citeseer", "--methods", "ugs", "--seeds", "5", "--out", "runs/x"]
    short = shortened(words)
    assert short[:4] == ["sweep", "my-graph/", "--methods", "ugs"]
    assert short[4:8] == ["--seeds", "1", "--out", "runs/x"]
    assert shortened(["sweep", "--summary"]) == ["sweep", "--summary"]
    assert shortened(["predict", "my.ticket"]) == ["predict", "my.ticket"]


def test_a_block_without_a_language_is_wrong(tmp_path):
    from tools.check_docs.__main__ import take

    (block,) = blocks("a.md", "```\nteddy find\n```")
    with pytest.raises(DocumentationError, match="'' is none of"):
        take(block, tmp_path)


@pytest.mark.parametrize("page", [page for page in pages() if not page.startswith("src/")])
def test_code_fits_into_80_columns(page):
    lines = [
        line
        for block in blocks(page, text_of(page))
        if block.language not in ("math", "bibtex")
        for line in block.lines
    ]
    assert [line for line in lines if len(line) > 80] == []


def test_output_goes_where_a_command_sends_it(tmp_path):
    check(Command("a.md", 1, ["teddy", "datasets"], out="sets.txt"), tmp_path)
    assert "citeseer" in (tmp_path / "sets.txt").read_text()


@pytest.mark.parametrize("page", pages())
def test_every_file_that_a_page_links_is_there(page):
    links = [part.split(")")[0] for part in text_of(page).split("](")[1:]]
    for link in links:
        if "://" not in link and not link.startswith("#"):
            assert ((ROOT / page).parent / link.split("#")[0]).exists(), link


def test_the_tables_of_the_readme_are_those_of_the_results():
    from tools.make_readme import filled

    text = text_of("README.md")
    assert filled(text) == text


def test_the_accuracies_of_the_picture_are_those_of_the_results():
    from tools.make_picture import OUT, accuracies

    shown = accuracies()
    picture = OUT.read_text()
    for key in ("dense", "teddy", "random", "teddy without", "random without"):
        assert f"{shown[key]:.1f}%" in picture


def test_a_number_of_the_readme_may_be_near():
    near = NearChecker().check_output
    assert near("test 71.70 (+4.30), 37,753,002\n", "test 70.10 (+2.90), 37,653,002\n", 0)
    assert not near("test 71.70\n", "test 61.70\n", 0)
    assert not near("1,638 of 4,552\n", "1,639 of 4,552\n", 0)
    assert not near("test 71.70\n", "val 71.70\n", 0)


@pytest.mark.parametrize(
    "page",
    sorted((ROOT / "docs" / "results" / "paper").glob("*/README.md")),
    ids=lambda p: p.parent.name,
)
def test_a_page_of_results_has_its_tables_and_pictures(page):
    text = page.read_text()
    links = [part.split(")")[0] for part in text.split("](")[1:]]
    assert links or page.parent.name == "toy-example"
    for link in links:
        assert (page.parent / link).is_file(), link


@pytest.mark.parametrize(
    "module",
    [
        f"tools.{path.parent.name}.{path.stem}"
        for folder in ("check_docs", "docs_site")
        for path in sorted((ROOT / "tools" / folder).glob("[a-z]*.py"))
    ],
)
def test_the_examples_of_the_tools_run(module):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(import_module(module), optionflags=flags).failed == 0
