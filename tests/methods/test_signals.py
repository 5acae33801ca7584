"""Searches whose edges are chosen by what the dense model says, and by several scores."""

from __future__ import annotations

import copy

import pytest
import torch

import teddy
from conftest import small_graph
from teddy.errors import InputError
from teddy.methods import make_problem
from teddy.methods.auto import SCORES_TO_TRY
from teddy.methods.signals import isolated_logits, signals_of
from teddy.models import GCN
from teddy.settings import Settings

SHORT = {"epochs": 4, "hidden_channels": 8, "distill": 0.0}


def problem(data=None, model="gcn", store=None, **more):
    data = small_graph() if data is None else data
    settings = Settings.from_dict({"hidden_channels": 8, "epochs": 4, **more})
    return make_problem(data, model, settings, store=store)


def test_labels_are_those_of_training_nodes():
    data = small_graph()
    labels = signals_of(problem(data), ["labels"]).labels
    assert torch.equal(labels[data.train_mask], data.y[data.train_mask])
    assert (labels[~data.train_mask] == -1).all()


@pytest.mark.parametrize("model", ["gcn", "gat", "gin", "sage", "unimp", "nagphormer"])
def test_isolated_logits_are_those_of_the_dense_model_on_a_graph_without_edges(model):
    known = problem(model=model)
    found = isolated_logits(known)
    network = known.dense_model.eval()
    with torch.no_grad():
        expected = network(known.data.x, torch.empty(2, 0, dtype=torch.long))
    assert torch.allclose(found, expected, atol=1e-5)
    assert not torch.allclose(found, known.dense().logits, atol=1e-3)


def test_isolated_logits_are_the_same_where_the_dense_model_was_trained_elsewhere():
    first = problem()
    expected = isolated_logits(first)
    second = problem(store=first.store)
    second.store._entries.pop("alone")  # as if only the dense model had been needed
    assert torch.equal(isolated_logits(second), expected)


@pytest.mark.parametrize(
    "method", ["gain", "serving", "agreement", "k-agreement", "label-propagation"]
)
def test_a_ticket_chosen_by_the_dense_model(method, tmp_path):
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, method=method, **SHORT)
    assert ticket.info.score == method
    assert ticket.info.edges.kept == ticket.info.edges.total // 2
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.verify(data)["test"] == ticket.info.ticket.test
    assert torch.equal(again.apply(data).edge_index, ticket.apply(data).edge_index)


def test_only_training_labels_choose(monkeypatch):
    """Labels of other nodes may be anything: the same edges."""
    data = small_graph()
    other = copy.copy(data)
    other.y = torch.where(data.train_mask, data.y, (data.y + 1) % 3)
    # The best epoch is chosen on validation labels, so that the dense models are those of the last.
    monkeypatch.setattr("teddy.training.checkpoint.State.add", _last)
    one, two = (
        teddy.find_ticket(d, "gcn", 0.5, 0.5, method="gain", **SHORT) for d in (data, other)
    )
    assert torch.equal(one.keep, two.keep)


def _last(self, epoch, model, counts=True):
    self.history.append(epoch)
    self.best = epoch
    self.best_weights = copy.deepcopy(model.state_dict())


def test_your_own_module():
    ticket = teddy.find_ticket(
        small_graph(), lambda: GCN(12, 3, hidden_channels=8), 0.5, 0.5, method="gain", epochs=4
    )
    assert ticket.info.score == "gain"


def test_features_choose_in_a_grown_graph_and_a_dense_model_does_not():
    data = small_graph()
    by_features, by_model = (
        teddy.find_ticket(data, "gcn", 0.5, 0.5, method=m, inductive=True, **SHORT)
        for m in ("cosine", "gain")
    )
    graph, keep = by_features.prune(data)
    expected = teddy.prune_edges(graph.pairs, 0.5, "cosine", num_nodes=40, x=data.x)
    assert torch.equal(keep, expected)
    graph, keep = by_model.prune(data)
    both = data.train_mask[graph.pairs].all(dim=0)
    assert keep[~both].all()  # new edges stay
    assert torch.equal(keep[both], by_model.keep)
    by_model.verify(data)


def test_a_changed_graph():
    data, changed = small_graph(), small_graph(1)
    by_features, by_model = (
        teddy.find_ticket(data, "gcn", 0.5, 0.5, method=m, **SHORT) for m in ("cosine", "gain")
    )
    graph, keep = by_features.transfer(changed).prune(changed)
    expected = teddy.prune_edges(graph.pairs, 0.5, "cosine", num_nodes=40, x=changed.x)
    assert torch.equal(keep, expected)
    with pytest.raises(InputError, match="chosen by gain by a score of the trained dense model"):
        by_model.transfer(changed)
    assert by_model.transfer(changed, "none").keep.all()


def test_other_tasks_have_no_classes_to_agree_on():
    data = small_graph()
    data.y = data.y.float()
    with pytest.raises(InputError, match="task regression does not support score agreement"):
        teddy.find_ticket(data, "gcn", 0.5, 0.5, method="agreement", task="regression", **SHORT)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, method="cosine", task="regression", **SHORT)
    assert ticket.info.score == "cosine"


# The best of several


def test_auto_keeps_the_best_on_validation():
    data = small_graph()
    scores = ("degree-low", "teddy", "gain")
    chosen = teddy.find_ticket(data, "gcn", 0.6, 0.5, method="auto", scores="+".join(scores),
                               **SHORT)  # fmt: skip
    each = {s: teddy.find_ticket(data, "gcn", 0.6, 0.5, method=s, **SHORT) for s in scores}
    val = {s: ticket.info.ticket.val for s, ticket in each.items()}
    assert chosen.info.config["tried"] == val
    best = max(scores, key=lambda s: val[s])
    assert chosen.info.score == best
    assert torch.equal(chosen.keep, each[best].keep)
    assert torch.equal(chosen.logits(data), each[best].logits(data))


def test_auto_resumes_from_a_checkpoint(tmp_path):
    """Trainings of different scores do not resume from each other's checkpoints."""
    data = small_graph()
    kept = teddy.find_ticket(data, "gcn", 0.6, 0.5, method="auto", checkpoint=tmp_path, **SHORT)
    again = teddy.find_ticket(data, "gcn", 0.6, 0.5, method="auto", checkpoint=tmp_path, **SHORT)
    plain = teddy.find_ticket(data, "gcn", 0.6, 0.5, method="auto", **SHORT)
    assert len(set(plain.info.config["tried"].values())) > 1
    assert kept.info.config["tried"] == again.info.config["tried"] == plain.info.config["tried"]
    assert torch.equal(kept.logits(data), plain.logits(data))
    assert torch.equal(again.logits(data), plain.logits(data))


def test_auto_counts_all_its_trainings():
    shares = []
    teddy.find_ticket(
        small_graph(), "gcn", 0.5, 0.5, method="auto", **SHORT,
        progress=lambda phase, epoch, share: shares.append(share),
    )  # fmt: skip
    assert len(shares) == 5 * 4  # the dense model and four scores
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_auto_learns_masks_for_each_score_by_itself(tmp_path):
    """Rounds of one score aren't taken for those of another, whose edges are others."""
    settings = {**SHORT, "weights": "masks", "graph_sparsity": 0.6, "weight_sparsity": 0.1}
    data, scores = small_graph(), ("teddy", "degree-low")
    each = {s: teddy.find_ticket(data, "gcn", method=s, **settings) for s in scores}
    val = {s: ticket.info.ticket.val for s, ticket in each.items()}
    assert len(set(val.values())) == 2
    phases = set()
    for folder in (None, tmp_path, tmp_path):  # in memory, in files, and once more from these
        chosen = teddy.find_ticket(
            data, "gcn", method="auto", scores="+".join(scores), checkpoint=folder,
            progress=lambda phase, epoch, share: phases.add(phase), **settings,
        )  # fmt: skip
        assert chosen.info.config["tried"] == val
        best = each[chosen.info.score]
        assert torch.equal(chosen.logits(data), best.logits(data))
    assert phases >= {"dense", "round teddy 1 of 3", "round degree-low 1 of 3", "sparse teddy"}


def test_auto_compares_on_the_same_grown_graph():
    data = small_graph()
    settings = {**SHORT, "method": "auto", "inductive": True}
    with pytest.raises(InputError, match="cannot try gain: it cannot choose among new edges, as t"):
        teddy.find_ticket(data, "gcn", 0.5, 0.5, scores="teddy+gain", **settings)
    ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, **settings)
    assert "+".join(ticket.info.config["tried"]) == "teddy+random+degree-low"
    for rule, scores in (
        ("training", "teddy+gain"),
        ("scored", "teddy+cosine"),
        ("scored", "gain"),
    ):
        ticket = teddy.find_ticket(data, "gcn", 0.5, 0.5, inference=rule, scores=scores, **settings)
        assert list(ticket.info.config["tried"]) == scores.split("+")


def test_the_time_of_auto_is_that_of_all_its_trainings():
    ticket = teddy.find_ticket(small_graph(), "gcn", 0.5, 0.5, method="auto", **SHORT)
    assert ticket.seconds["search"] > 0
    assert ticket.seconds["round"] == ticket.seconds["search"]  # without rounds of masks


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ("teddy+ugs", "scores has 'ugs', expected names joined by"),
        ("teddy+random+teddy", "scores has 'teddy' 2 times, expected once"),
        (["teddy"], r"scores is \['teddy'\], expected names joined by"),
    ],
)
def test_auto_refuses_unknown_scores(scores, message):
    with pytest.raises(InputError, match=message):
        teddy.find_ticket(small_graph(), method="auto", scores=scores, **SHORT)


def test_a_default_that_is_written_out_is_the_same_search(tmp_path):
    data, settings = small_graph(), {"method": "auto", "epochs": 2, "hidden_channels": 4}
    first = teddy.find_ticket(data, "gcn", checkpoint=tmp_path, **settings)
    again = teddy.find_ticket(data, "gcn", checkpoint=tmp_path, scores=SCORES_TO_TRY, **settings)
    assert again.info == first.info
