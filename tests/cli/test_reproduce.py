"""``teddy reproduce`` and ``--report`` as a user runs them."""

from __future__ import annotations

import csv
import json

import pytest

from cli.command import FAST, refused, run_here
from data.test_large_sets import write_arxiv
from teddy.machine import peak_memory
from teddy_paper.large_scale import METHODS
from teddy_paper.published import CLAIMS

SMALL = ["--quick", "--datasets", "citeseer", "--models", "gin", "--seeds", 1, "--levels", "1,2"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The degrees and the extreme regime, coarse and small."""
    folder = tmp_path_factory.mktemp("paper")
    done = run_here("reproduce", "table2", "extreme", *SMALL, "--out", "p", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_where_nothing_could_be_made_nothing_is_written(tmp_path):
    done = run_here("reproduce", "extreme", "macs", "--no-run", "--out", "nowhere", cwd=tmp_path)
    assert done.returncode == 1
    assert [line.split(":")[1].strip() for line in done.stderr.splitlines()] == [
        "without extreme", "without macs"
    ]  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_tables_figures_and_findings_are_written(made):
    folder, result = made
    assert [entry["name"] for entry in result["made"]] == ["degree-importance", "extreme"]
    for name, chart in (("degree-importance", "degree-importance"), ("extreme", "heat-map")):
        place = folder / "p" / name
        assert {f"{name}.csv", f"{chart}.png", f"{chart}.pdf", "findings.json", "README.md"} <= {
            path.name for path in place.iterdir()
        }
        assert f"![{chart}]({chart}.png)" in (place / "README.md").read_text()
        assert json.loads((place / "findings.json").read_text())["findings"]
    with (folder / "p/extreme/extreme.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["method"], row["simulation"]) for row in rows] == [
        ("dense", "0"), ("teddy", "20"), ("teddy", "40"), ("random", "20"), ("random", "40"),
    ]  # fmt: skip
    assert float(rows[1]["ours"]) - float(rows[1]["paper"]) == pytest.approx(
        float(rows[1]["difference"]), abs=1e-3
    )


def test_a_rerun_computes_nothing_and_prints_the_same(made):
    folder, result = made
    cells = {path: path.stat().st_mtime_ns for path in (folder / "p/sweep/cells").iterdir()}
    table = (folder / "p/extreme/extreme.csv").read_bytes()
    again = run_here("reproduce", "table2", "extreme", *SMALL, "--out", "p", "--json", cwd=folder)
    assert json.loads(again.stdout) == result
    assert {p: p.stat().st_mtime_ns for p in (folder / "p/sweep/cells").iterdir()} == cells
    assert (folder / "p/extreme/extreme.csv").read_bytes() == table


def test_without_a_run_pages_can_go_to_another_folder(made):
    folder, _ = made
    done = run_here("reproduce", "pruned-degrees", *SMALL, "--out", "p", "--artefacts", "docs",
               "--no-run", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "): can't tell; too coarse to judge" in " ".join(done.stdout.split())
    assert (folder / "docs/pruned-degrees/README.md").is_file()


def test_one_page_has_all_claims(made):
    folder, result = made
    assert result["index"] == "p/README.md"
    text = (folder / "p/README.md").read_text()
    for name, title in (("degree-importance", "degree"), ("extreme", "xtreme")):
        assert f"{name}/README.md)" in text
        assert title in text
    claims = [c for c in CLAIMS if c.artefact in ("degree-importance", "extreme")]
    assert claims
    assert all(claim.text in text for claim in claims)


def test_a_dry_run_lists_missing_cells_and_computes_nothing(made):
    folder, _ = made
    cells = sorted((folder / "p/sweep/cells").iterdir())
    for levels, missing in (("1,2", 0), ("1,2,3", 2)):
        arguments = ["degree-importance", *SMALL[:-1], levels, "--out", "p", "--dry-run"]
        done = run_here("reproduce", *arguments, "--json", cwd=folder)
        (row,) = json.loads(done.stdout)["plan"]
        assert row["to_compute"] == missing
        assert row["cells"] >= 4 + missing
        assert "degree-importance" in run_here("reproduce", *arguments, cwd=folder).stdout
    assert sorted((folder / "p/sweep/cells").iterdir()) == cells


def test_the_folder_of_a_reproduction_can_be_reported(made):
    folder, _ = made
    done = run_here("report", "p", "-o", "p.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "p.html").is_file()


def test_existing_results_are_not_overwritten_without_a_sweep(made):
    folder, _ = made
    before = (folder / "p/extreme/extreme.csv").read_bytes()
    done = run_here("reproduce", "extreme", *SMALL, "--out", "typo", "--artefacts", "p", "--no-run",
               cwd=folder)  # fmt: skip
    assert "typo/sweep: has no results" in refused(done)
    done = run_here("reproduce", "extreme", "--datasets", "citeseer", "--out", "p", "--no-run",
               cwd=folder)  # fmt: skip
    assert "holds results with" in refused(done)
    assert (folder / "p/extreme/extreme.csv").read_bytes() == before
    assert not (folder / "typo").exists()


def test_reproductions_without_the_requested_methods_are_skipped(made):
    folder, _ = made
    both = ["degree-importance", "extreme", *SMALL, "--methods", "teddy", "--out", "p", "--json"]
    done = run_here("reproduce", *both, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert [entry["name"] for entry in json.loads(done.stdout)["made"]] == ["extreme"]


def test_a_page_records_its_versions_and_command(made):
    folder, _ = made
    text = (folder / "p/extreme/README.md").read_text()
    assert "`teddy reproduce extreme --quick`; 40 epochs, hidden 32" in text
    assert "torch" in text


def test_the_order_of_levels_does_not_matter(made):
    folder, _ = made
    found = []
    for levels in ("1,2", "2,1"):
        arguments = ["--out", "p", "--no-run", "--artefacts", f"a{levels}", "--json"]
        done = run_here(
            "reproduce", "degree-importance", *SMALL[:-1], levels, *arguments, cwd=folder
        )
        found.append(json.loads(done.stdout)["made"][0]["findings"])
    assert found[0] == found[1]


def test_a_full_run_does_not_mix_with_a_quick_one(made):
    folder, _ = made
    done = run_here("reproduce", "extreme", "--datasets", "citeseer", "--out", "p", cwd=folder)
    assert "holds results with epochs 40, got 200" in refused(done)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table4"], "'table4' is not reproduced, expected one of: "),
        (["tabel1"], "unknown table or figure 'tabel1'"),
        (["extreme", "--seeds", "0"], "seeds is 0, expected a whole number from 1"),
        (["extreme", "--epochs", "0"], "epochs is 0, expected a whole number from 1"),
        (["extreme", "--levels", "0"], "levels is '0', expected at least one above 0"),
        (["extreme", "--levels", "x"], "unknown level 'x', expected"),
        (["extreme", "--datasets", "nope"], "datasets has 'nope', expected some of: cora"),
        (["extreme", "--models", "nope"], "unknown model 'nope'"),
        (["extreme", "--methods", "nope"], "unknown method 'nope'"),
        (["extreme", "--datasets", "citeseer", "--methods", "ugs"], "extreme has none of the"),
        (["all", "nonsense"], "unknown table or figure 'nonsense'"),
        (["extreme", "--jobs", "0"], "jobs is 0"),
    ],
)
def test_bad_input_prints_a_clear_message(arguments, message, tmp_path):
    assert message in refused(run_here("reproduce", *arguments, cwd=tmp_path))
    assert not list(tmp_path.iterdir())


def test_without_a_name_it_lists_all_reproductions(tmp_path):
    done = run_here("reproduce", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("extreme", "Table 1", "attribution", "ours"):
        assert word in done.stdout


def test_find_and_sweep_make_the_page_directly(tmp_path):
    done = run_here("find", *FAST, "--seeds", 2, "--report", "f.html", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["report"] == "f.html"
    done = run_here("sweep", *FAST, "--levels", "0,1", "--seeds", 1, "--out", "s", "--report",
               "s.html", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    for page in ("f.html", "s.html"):
        text = (tmp_path / page).read_text()
        assert text.startswith("<!doctype html>")
        assert "citeseer" in text
    where = "nowhere/x.html"
    for command in ("find", "sweep"):
        assert "nowhere" in refused(run_here(command, *FAST, "--report", where, cwd=tmp_path))


def test_large_scale_has_its_own_data_sets(tmp_path):
    """By its name only, on the readable ones of arxiv and Reddit; the others are printed."""
    write_arxiv(tmp_path / "sets" / "ogbn_arxiv")
    arguments = ["--quick", "--levels", 5, "--seeds", 1, "--data-dir", "sets", "--out", "out"]
    done = run_here("reproduce", "large-scale", *arguments, "--datasets", "arxiv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gcn:hidden_channels=16:num_layers=3" in done.stdout
    costs = list(csv.DictReader((tmp_path / "out/large-scale/costs.csv").open()))
    assert len(costs) == 2 * len(METHODS)
    if peak_memory() is not None:
        assert all(0.05 < float(row["peak memory GB"]) < 16 for row in costs)
    wrong = run_here("reproduce", "large-scale", "--datasets", "cora", cwd=tmp_path)
    assert "datasets has 'cora', expected some of: arxiv, arxiv-surrogate" in refused(wrong)
    plan = run_here("reproduce", "all", "--dry-run", "--json", "--quick", cwd=tmp_path)
    assert "large-scale" not in plan.stdout
