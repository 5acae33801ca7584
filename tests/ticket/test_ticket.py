from __future__ import annotations

import errno
import itertools
import json
import os
import resource
import subprocess
import sys

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn
from torch_geometric import nn as pyg

import teddy
from conftest import small_graph
from teddy.atomic import write_atomically
from teddy.edges import SimpleGraph
from teddy.models import MODELS, build_model
from teddy.ticket.file import _digest


@pytest.fixture
def data():
    return small_graph()


@pytest.fixture
def ticket(data):
    return teddy.find_ticket(data, "gcn", 0.5, 0.6, epochs=5, hidden=8)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_ticket_is_the_same_ticket(name, data, tmp_path):
    ticket = teddy.find_ticket(data, name, 0.5, 0.6, epochs=5, hidden=8)
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.info == ticket.info
    assert torch.equal(again.keep, ticket.keep)
    for (key, ours), theirs in zip(
        again.model.state_dict().items(), ticket.model.state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs), key
    assert torch.equal(again.logits(data), ticket.logits(data))
    again.save(tmp_path / "b.ticket")
    assert (tmp_path / "a.ticket").read_bytes() == (tmp_path / "b.ticket").read_bytes()


def test_repr_is_one_short_line(ticket):
    total, kept = ticket.info.edges.total, ticket.info.edges.kept
    expected = f"Ticket(data, gcn, edges={kept}/{total}, weights=48/120, test="
    assert repr(ticket).startswith(expected)
    assert len(repr(ticket)) < 100


def test_a_ticket_scores_what_it_says(ticket, data):
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test
    assert ticket.evaluate(data)["val"] == ticket.info.ticket.val
    assert ticket.verify(data)["test"] == ticket.info.ticket.test


def test_verify_notices_another_split(ticket, data):
    data.y = (data.y + 1) % 3
    with pytest.raises(teddy.InputError, match="expected the recorded"):
        ticket.verify(data)


def test_applying_it_keeps_its_edges_whatever_their_order(ticket, data):
    data.edge_weight = torch.arange(float(data.num_edges))
    order = torch.randperm(data.num_edges, generator=torch.Generator().manual_seed(0))
    shuffled = data.clone()
    shuffled.edge_index = data.edge_index[:, order]
    shuffled.edge_weight = data.edge_weight[order]
    a, b = ticket.apply(data), ticket.apply(shuffled)
    assert sorted(a.edge_weight.tolist()) == sorted(b.edge_weight.tolist())
    torch.testing.assert_close(ticket.logits(data), ticket.logits(shuffled))


def test_the_file_holds_the_non_zeros_only(ticket, tmp_path):
    ticket.save(tmp_path / "a.ticket")
    tensors = load_file(tmp_path / "a.ticket")
    values = sum(t.numel() for key, t in tensors.items() if key.endswith("/values"))
    assert values == ticket.info.weights.kept == 120 - 72
    assert tensors["edges"].dtype == torch.uint8


def test_a_rewired_graph_of_the_same_size_is_an_error(ticket, data):
    graph, _ = SimpleGraph.of(data.edge_index, 40)
    pairs = graph.pairs.clone()
    missing = next(
        p for p in itertools.combinations(range(40), 2) if list(p) not in pairs.t().tolist()
    )
    pairs[:, 0] = torch.tensor(missing)
    other = data.clone()
    other.edge_index = pairs
    with pytest.raises(teddy.InputError, match="the ticket belongs to"):
        ticket.predict(other)


@pytest.mark.parametrize("name", MODELS)
def test_the_listing_of_the_edges_does_not_matter(name, data):
    """Once, twice, shuffled, with duplicates and self-loops: the same ticket, the same logits."""
    once = SimpleGraph.of(data.edge_index, 40)[0].pairs
    loops = torch.arange(40).expand(2, 40)
    listings = [data.edge_index, once, once.flip(0).flip(1), torch.cat([once, loops, once], dim=1)]
    tickets, logits = [], []
    for edge_index in listings:
        listed = data.clone()
        listed.edge_index = edge_index
        tickets.append(teddy.find_ticket(listed, name, 0.5, 0.6, epochs=5, hidden=8))
        logits.append(tickets[0].logits(listed))
    for ticket, z in zip(tickets[1:], logits[1:], strict=True):
        assert ticket.info == tickets[0].info
        assert torch.equal(z, logits[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.x.double(),
        lambda d: d.x.to_sparse_coo(),
        lambda d: d.x.to(torch.bfloat16).float(),
    ],
)
def test_what_finds_a_ticket_can_use_it(change, data):
    data.x, data.y = change(data), data.y[:, None]
    ticket = teddy.find_ticket(data, "gcn", epochs=3, hidden=8)
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_evaluate_looks_at_each_mask(ticket, data):
    right = ticket.predict(data) == data.y
    for name, mask in (
        ("train", data.train_mask),
        ("val", data.val_mask),
        ("test", data.test_mask),
    ):
        expected = 100 * float(right[mask].double().mean())
        assert ticket.evaluate(data)[name] == pytest.approx(expected)


def test_bad_data_for_a_ticket_are_said_clearly(ticket, data):
    data.x[3, 4] = torch.nan
    with pytest.raises(teddy.InputError, match=r"x\[3, 4\] is nan"):
        ticket.predict(data)
    with pytest.raises(teddy.InputError, match="got str, expected a Data"):
        ticket.predict("citeseer")


def test_tied_and_shared_tensors_are_saved_once(data, tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (nn.Linear(12, 12, bias=False) for _ in range(3))
            self.b.weight = self.c.weight = self.a.weight
            self.out = nn.Linear(12, 3)
            self.register_buffer("one", torch.ones(2))
            self.register_buffer("same", self.one)

        def forward(self, x, edge_index):
            return self.out(self.c(self.b(self.a(x))))

    ticket = teddy.find_ticket(data, Tied, 0.5, 0.6, epochs=3)
    ticket.save(tmp_path / "a")
    assert sum(key.startswith("weight/a") for key in load_file(tmp_path / "a")) == 2
    assert not [key for key in load_file(tmp_path / "a") if key.startswith("weight/b")]
    again = teddy.Ticket.load(tmp_path / "a", model=Tied)
    assert torch.equal(again.logits(data), ticket.logits(data))


def test_a_model_of_ours_given_as_a_module_loads_without_it(data, tmp_path):
    ticket = teddy.find_ticket(data, build_model("gcn", 12, 3, hidden=8), 0.5, 0.6, epochs=3)
    ticket.save(tmp_path / "a")
    assert torch.equal(teddy.Ticket.load(tmp_path / "a").logits(data), ticket.logits(data))


def test_a_new_ticket_has_the_rights_of_a_new_file(ticket, tmp_path):
    (tmp_path / "plain").touch()
    ticket.save(tmp_path / "a")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_followed(ticket, tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    ticket.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert teddy.Ticket.load(tmp_path / "real").info == ticket.info


def forge(path, change):
    """Change the header of a ticket and sign it anew."""
    with safe_open(path, "pt") as file:
        header = json.loads(file.metadata()["teddy"])
    tensors = load_file(path)
    del header["sha256"]
    header = change(header) or header
    header["sha256"] = _digest(header, tensors)
    save_file(tensors, path, {"teddy": json.dumps(header, sort_keys=True)})


FORGERIES = {
    "no info": lambda h: h.pop("info") and None,
    "info a list": lambda h: h.update(info=[]),
    "no edges": lambda h: h["info"].pop("edges") and None,
    "edges as text": lambda h: h["info"]["edges"].update(total="many"),
    "too many edges": lambda h: h["info"]["edges"].update(total=10**15),
    "negative edges": lambda h: h["info"]["edges"].update(total=-5),
    "wrong kept": lambda h: h["info"]["edges"].update(kept=3),
    "no shapes": lambda h: h.pop("shapes") and None,
    "wrong shape": lambda h: h["shapes"].update({"weights.0": [3, 3]}),
    "huge shape": lambda h: h["shapes"].update({"weights.0": [10**9, 10**9]}),
    "unknown model": lambda h: h["info"]["model"].update(name="gnn"),
    "other hidden": lambda h: h["info"]["model"]["options"].update(hidden=9),
}


@pytest.mark.parametrize("how", FORGERIES)
def test_a_signed_file_that_makes_no_sense_is_an_error_of_one_line(how, ticket, tmp_path):
    path = tmp_path / "a.ticket"
    ticket.save(path)
    forge(path, FORGERIES[how])
    with pytest.raises(teddy.InputError, match=str(path)) as caught:
        teddy.Ticket.load(path)
    assert "\n" not in str(caught.value)


def test_a_header_of_a_later_version_is_read(ticket, tmp_path):
    path = tmp_path / "a.ticket"
    ticket.save(path)
    forge(path, lambda h: h["info"].update(news=1))
    assert teddy.Ticket.load(path).info == ticket.info


def test_another_graph_is_an_error(ticket, data):
    other = data.clone()
    first = other.edge_index[:, 0]
    gone = (other.edge_index.sort(dim=0).values == first.sort().values[:, None]).all(dim=0)
    other.edge_index = other.edge_index[:, ~gone]
    with pytest.raises(teddy.InputError, match="the ticket belongs to data with 40 nodes"):
        ticket.predict(other)
    with pytest.raises(teddy.InputError, match="got another graph with 50 nodes"):
        ticket.predict(small_graph(nodes=50))


def test_other_features_are_an_error(ticket, data):
    data.x = data.x[:, :5]
    with pytest.raises(teddy.InputError, match="expects 12 features, got 5"):
        ticket.predict(data)


def test_a_module_of_the_users_own_needs_itself_to_load(data, tmp_path):
    torch.manual_seed(0)
    module = nn.ModuleList([pyg.GCN(12, 8, num_layers=2, out_channels=3, norm="batch_norm")])[0]
    ticket = teddy.find_ticket(data, module, 0.5, 0.6, epochs=5)
    path = tmp_path / "a.ticket"
    ticket.save(path)
    with pytest.raises(teddy.InputError, match=r"its model is a torch_geometric.*GCN, expected"):
        teddy.Ticket.load(path)
    again = teddy.Ticket.load(path, model=module)
    assert torch.equal(again.logits(data), ticket.logits(data))  # running statistics included
    with pytest.raises(teddy.InputError, match="the weights don't fit"):
        teddy.Ticket.load(path, model=pyg.GCN(12, 9, num_layers=2, out_channels=3))


def damage(path, how):
    content = path.read_bytes()
    if how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif how == "one bit":
        path.write_bytes(content[:-3] + bytes([content[-3] ^ 1]) + content[-2:])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_bytes(b"not a ticket at all")
    elif how == "pickle":
        torch.save({"a": 1}, path)
    else:
        with safe_open(path, "pt") as file:
            header = file.metadata()["teddy"]
        tensors = load_file(path)
        if how == "header":
            header = header.replace('"seed": 0', '"seed": 1')
        elif how == "mask":
            tensors["edges"] = tensors["edges"] ^ 1
        elif how == "format":
            header = header.replace('"format": 1', '"format": 99')
        save_file(tensors, path, None if how == "no header" else {"teddy": header})


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("truncated", "not a ticket file, or a damaged one"),
        ("empty", "not a ticket file, or a damaged one"),
        ("text", "not a ticket file, or a damaged one"),
        ("pickle", "not a ticket file, or a damaged one"),
        ("no header", "not a ticket file, or a damaged one"),
        ("one bit", "the checksum doesn't match"),
        ("header", "the checksum doesn't match"),
        ("mask", "the checksum doesn't match"),
        ("format", "ticket format 99, expected 1"),
    ],
)
def test_a_damaged_file_is_an_error_of_one_line(ticket, tmp_path, how, message):
    path = tmp_path / "a.ticket"
    ticket.save(path)
    damage(path, how)
    with pytest.raises(teddy.InputError, match=message) as caught:
        teddy.Ticket.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_errors(tmp_path):
    with pytest.raises(teddy.InputError, match="no such file, expected a ticket"):
        teddy.Ticket.load(tmp_path / "none.ticket")
    with pytest.raises(teddy.InputError, match="no such file, expected a ticket"):
        teddy.Ticket.load(tmp_path)


def test_a_failing_save_leaves_the_old_file_and_no_other(ticket, tmp_path):
    """A limit on the size of files makes the write fail half way."""
    path = tmp_path / "a.ticket"
    path.write_bytes(b"the old one")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        with pytest.raises(teddy.InputError, match="can't be written") as caught:
            ticket.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.strerror(errno.EFBIG) in str(caught.value)
    assert path.read_bytes() == b"the old one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_and_no_other(ticket, full_disk):
    path = full_disk / "a.ticket"
    path.write_bytes(b"the old one")
    with pytest.raises(teddy.InputError, match="No space left on device"):
        write_atomically(path, b"x" * 1_000_000)
    assert path.read_bytes() == b"the old one"
    assert list(full_disk.iterdir()) == [path]


def test_killed_while_writing_leaves_nothing_that_looks_finished(tmp_path):
    """kill -9 just before the new file takes its name."""
    code = (
        "import os, pathlib, signal, sys\n"
        "from teddy.atomic import write_atomically\n"
        "pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(sys.argv[1], b'new')\n"
    )
    path = tmp_path / "a.ticket"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -9
    assert path.read_bytes() == b"old"
    assert list(tmp_path.glob("*.ticket")) == [path]
