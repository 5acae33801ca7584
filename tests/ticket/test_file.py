"""Tickets on disk: what is written, and what a file that is not one does."""

from __future__ import annotations

import errno
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

import teddy
from teddy.store.atomic import write_atomically
from teddy.ticket.file import content_digest


def test_the_file_holds_the_non_zeros_only(ticket, tmp_path):
    ticket.save(tmp_path / "a.ticket")
    tensors = load_file(tmp_path / "a.ticket")
    values = sum(t.numel() for key, t in tensors.items() if key.endswith("/values"))
    assert values == ticket.info.weights.kept == 120 - 72
    assert tensors["edges"].dtype == torch.uint8


@pytest.mark.filterwarnings("ignore:.*the same logits with half of the edges")
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
    header["sha256"] = content_digest(header, tensors)
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
    "other hidden": lambda h: h["info"]["model"]["options"].update(hidden_channels=9),
}


@pytest.mark.parametrize("how", FORGERIES)
def test_an_inconsistent_file_with_a_valid_checksum_raises_a_clear_message(how, ticket, tmp_path):
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
        "from teddy.store.atomic import write_atomically\n"
        "pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(sys.argv[1], b'new')\n"
    )
    path = tmp_path / "a.ticket"
    path.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -9
    assert path.read_bytes() == b"old"
    assert list(tmp_path.glob("*.ticket")) == [path]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("truncated", "not a ticket file, or a damaged one"),
        ("empty", "not a ticket file, or a damaged one"),
        ("text", "not a ticket file, or a damaged one"),
        ("pickle", "not a ticket file, or a damaged one"),
        ("no header", "not a ticket file, or a damaged one"),
        ("one bit", "the checksum does not match"),
        ("header", "the checksum does not match"),
        ("mask", "the checksum does not match"),
        ("format", "ticket format 99, expected 1"),
    ],
)
def test_a_damaged_file_raises_a_clear_message(ticket, tmp_path, how, message):
    path = tmp_path / "a.ticket"
    ticket.save(path)
    damage(path, how)
    with pytest.raises(teddy.InputError, match=message) as caught:
        teddy.Ticket.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
