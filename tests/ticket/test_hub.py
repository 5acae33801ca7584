"""Tickets on the Hub: the real client against a stand-in server, and offline."""

from __future__ import annotations

import sys

import pytest
import yaml

import teddy
from cli.command import refused, run_here
from conftest import small_graph
from teddy.errors import InputError
from ticket.hub_server import TOKEN, running

pytest.importorskip("huggingface_hub")

FILE = "ticket.safetensors"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A ticket's file, with the name of a data set that has Markdown and YAML in it."""
    data = small_graph()
    data.name = "a|b: 'c' *d*"
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.6, epochs=2, hidden_channels=8)
    path = tmp_path_factory.mktemp("saved") / "a.ticket"
    ticket.save(path)
    return path


@pytest.fixture
def ticket(saved):
    return teddy.Ticket.load(saved)


def fresh_client(monkeypatch, **environment):
    """The client reads its environment when it is imported."""
    for name in [name for name in sys.modules if name.split(".")[0] == "huggingface_hub"]:
        monkeypatch.delitem(sys.modules, name)
    for name, value in environment.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)


@pytest.fixture
def environment(tmp_path):
    return {
        "HF_HOME": str(tmp_path / "hf"), "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }  # fmt: skip


@pytest.fixture
def hub(monkeypatch, environment):
    with running() as server:
        environment["HF_ENDPOINT"] = server.url
        fresh_client(monkeypatch, **environment)
        monkeypatch.setattr("time.sleep", lambda seconds: None)  # between two of its attempts
        yield server


def files(hub, name="me/x", branch="main"):
    repository = hub.repositories[name]
    return repository.commits[repository.branches[branch]]


def test_a_ticket_round_trips(hub, ticket, saved):
    url = ticket.push_to_hub("me/x")
    assert url == f"{hub.url}/me/x/commit/{hub.repositories['me/x'].branches['main']}"
    assert files(hub)[FILE] == saved.read_bytes()
    assert set(files(hub)) == {FILE, "README.md"}
    assert len(hub.repositories["me/x"].commits) == 2  # the empty one, and both files in one
    again = teddy.Ticket.from_hub("me/x")
    assert again.info == ticket.info
    data = small_graph()
    assert (again.logits(data) == ticket.logits(data)).all()
    assert teddy.Ticket.load("hub:me/x").info == ticket.info


def test_the_card_matches_the_header(hub, ticket):
    ticket.push_to_hub("me/x")
    _, front, text = files(hub)["README.md"].decode().split("---\n", 2)
    metadata = yaml.safe_load(front)
    assert metadata["library_name"] == "teddy-glt"
    assert {"graph-lottery-ticket", "teddy", "gcn"} <= set(metadata["tags"])
    (result,) = metadata["model-index"][0]["results"]
    assert result["dataset"]["name"] == "a|b: 'c' *d*"
    assert result["metrics"][0]["value"] == round(ticket.info.ticket.test, 4)
    from huggingface_hub import ModelCard

    (evaluation,) = ModelCard(f"---\n{front}---\n{text}").data.eval_results
    assert (evaluation.metric_type, evaluation.dataset_name) == ("accuracy", "a|b: 'c' *d*")
    edges, weights = ticket.info.edges, ticket.info.weights
    assert f"| edges | {edges.total} | {edges.kept} (49%) |" in text
    assert f"| weights | {weights.total} | {weights.kept} (40%) |" in text
    assert 'Ticket.from_hub("me/x")' in text
    assert r"# gcn on a\|b: 'c' \*d\*" in text


def test_a_revision_is_a_separate_branch(hub, ticket):
    ticket.push_to_hub("me/x", revision="v2")
    assert files(hub) == {}
    assert FILE in files(hub, branch="v2")
    assert teddy.Ticket.from_hub("me/x", revision="v2").info == ticket.info
    assert teddy.Ticket.load("hub:me/x@v2").info == ticket.info
    with pytest.raises(InputError, match=f"hub:me/x: has no {FILE}"):
        teddy.Ticket.from_hub("me/x")
    with pytest.raises(InputError, match="hub:me/x: no revision 'v3'"):
        teddy.Ticket.from_hub("me/x", revision="v3")
    ticket.push_to_hub("me/x", revision="v2")  # a branch that is there


def test_a_public_repository_is_not_taken_for_private(hub, ticket):
    ticket.push_to_hub("me/secret", private=True)
    assert hub.repositories["me/secret"].private
    ticket.push_to_hub("me/secret", private=True)
    with pytest.raises(InputError, match="no such repository, or no access"):
        teddy.Ticket.from_hub("me/secret", token="hf_another")
    ticket.push_to_hub("me/x")
    commits = dict(hub.repositories["me/x"].commits)
    with pytest.raises(InputError, match="hub:me/x: is public"):
        ticket.push_to_hub("me/x", private=True)
    assert hub.repositories["me/x"].commits == commits


def test_failures_raise_a_clear_message_and_commit_nothing(hub, ticket, monkeypatch):
    def line(repo="me/x", **settings):
        with pytest.raises(InputError) as error:
            ticket.push_to_hub(repo, **settings)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert "expected owner/name" in line("me/x/y")
    assert "expected owner/name" in line("")
    assert "status 403 (the token has no permission)" in line("other/x")
    assert "status 401 (the token has no permission)" in line(token="hf_another")
    assert hub.repositories == {}
    for part, reason in (
        ("/lfs/", "the Hub refused with status 400"),
        ("/commit/", "the Hub refused with status 400"),
        ("/validate-yaml", "the Hub cannot be used (Invalid metadata in README.md."),
    ):
        hub.refuse = {part: 400}
        assert f"hub:me/x: {reason}" in line()
        assert files(hub) == {}
    hub.refuse = {}
    fresh_client(monkeypatch, HF_TOKEN=None)
    asked = len(hub.asked)
    assert "no token" in line()
    assert len(hub.asked) == asked


def test_non_tickets_are_refused(hub, ticket, saved):
    with pytest.raises(InputError, match="hub:me/none: no such repository"):
        teddy.Ticket.from_hub("me/none")
    ticket.push_to_hub("me/x")
    files(hub)[FILE] = b"something else"
    with pytest.raises(InputError, match="not a ticket file"):
        teddy.Ticket.from_hub("me/x")


def test_the_cache_serves_without_a_network(hub, ticket, monkeypatch):
    ticket.push_to_hub("me/x")
    teddy.Ticket.from_hub("me/x")
    fresh_client(monkeypatch, HF_HUB_OFFLINE="1")
    asked = len(hub.asked)
    assert teddy.Ticket.from_hub("me/x").info == ticket.info
    with pytest.raises(InputError, match="hub:me/y: not in the cache"):
        teddy.Ticket.from_hub("me/y")
    with pytest.raises(InputError, match="hub:me/x: the Hub cannot be used"):
        ticket.push_to_hub("me/x")
    assert len(hub.asked) == asked
    # No network, without having said so: a port that nothing listens at.
    fresh_client(monkeypatch, HF_HUB_OFFLINE=None, HF_ENDPOINT="http://127.0.0.1:9")
    with pytest.raises(InputError, match="hub:me/y: not in the cache, and the Hub cannot be reach"):
        teddy.Ticket.from_hub("me/y")
    with pytest.raises(InputError, match="hub:me/x: the Hub cannot be used"):
        ticket.push_to_hub("me/x")
    assert teddy.Ticket.from_hub("me/x").info == ticket.info


def test_without_the_library_the_message_names_the_package(ticket, monkeypatch):
    monkeypatch.setattr("teddy.ticket.hub.find_spec", lambda name: None)
    for call in (ticket.push_to_hub, teddy.Ticket.from_hub):
        with pytest.raises(InputError, match=r"pip install 'teddy-glt\[hub\]'"):
            call("me/x")


def test_the_commands(hub, saved, tmp_path):
    done = run_here("push", saved, "me/x", "--private", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{hub.url}/me/x/commit/")
    assert hub.repositories["me/x"].private
    done = run_here("inspect", "hub:me/x", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"method": "teddy"' in done.stdout
    for command in (["export", "hub:me/x", "a.parquet"], ["bench", "hub:me/x"]):
        assert "expected its graph" in refused(run_here(*command, cwd=tmp_path))
    assert "no such repository" in refused(run_here("predict", "hub:me/none", cwd=tmp_path))
    (tmp_path / "no.ticket").write_bytes(b"no ticket")
    asked = len(hub.asked)
    assert "not a ticket file" in refused(run_here("push", "no.ticket", "me/y", cwd=tmp_path))
    assert len(hub.asked) == asked
