"""TensorBoard, MLflow and wandb, for real: what they have written is read back."""

from __future__ import annotations

import json

import pytest

from teddy.errors import InputError
from teddy.tracking import MLflow, TensorBoard, Wandb, as_trackers
from tracking.test_tracking import Notes, find

SEEN = {"dense/loss", "dense/val", "sparse/loss", "sparse/val"}


def values(notes, name):
    return [(step, logged[name]) for step, logged in notes.epochs if name in logged]


def scalars(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder))
    found.Reload()
    return {
        name: [(event.step, event.value) for event in found.Scalars(name)]
        for name in found.Tags()["scalars"]
    }, found.summary_metadata


def test_tensorboard_has_every_epoch_and_the_summary(tmp_path):
    pytest.importorskip("tensorboard")
    notes = Notes()
    ticket = find([TensorBoard(tmp_path / "runs" / "x"), notes])
    seen, metadata = scalars(tmp_path / "runs" / "x" / "seed-0")
    assert set(seen) >= SEEN
    for name in SEEN:
        assert seen[name] == [(step, pytest.approx(value)) for step, value in values(notes, name)]
    assert seen["final/ticket_test"] == [(0, pytest.approx(ticket.info.ticket.test))]
    assert seen["final/edges_kept"] == [(0, ticket.info.edges.kept)]
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    content = metadata["_hparams_/session_start_info"].plugin_data.content
    params = HParamsPluginData.FromString(content).session_start_info.hparams
    assert params["model"].string_value == "gcn"
    assert params["graph_sparsity"].number_value == 0.1
    assert params["loader"].string_value == "None"


def test_tensorboard_shows_the_last_search_in_a_folder(tmp_path):
    pytest.importorskip("tensorboard")
    find(TensorBoard(tmp_path), seed=1)
    find(as_trackers(f"tensorboard:{tmp_path}"), seed=1, epochs=2)
    seen, _ = scalars(tmp_path / "seed-1")
    assert [step for step, _ in seen["dense/val"]] == [0, 1]
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "x"):
        with pytest.raises(InputError, match="cannot be created"):
            TensorBoard(folder)


@pytest.fixture(params=["file", pytest.param("sqlite", marks=pytest.mark.slow)])
def store(request, tmp_path, monkeypatch):
    """MLflow's client with a temporary store."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    place = tmp_path / "mlflow"
    mlflow.set_tracking_uri(place.as_uri() if request.param == "file" else f"sqlite:///{place}.db")
    yield mlflow.MlflowClient
    mlflow.set_tracking_uri(before)


def test_mlflow_has_every_epoch_and_the_summary(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notes = Notes()
    client = store()
    ticket = find([MLflow("tickets"), notes])
    (run,) = client.search_runs([client.get_experiment_by_name("tickets").experiment_id])
    assert run.info.run_name == "data-gcn-teddy-seed-0"
    assert run.info.status == "FINISHED"
    assert run.data.params["model"] == "gcn"
    assert run.data.params["graph_sparsity"] == "0.1"
    assert run.data.metrics["ticket_test"] == pytest.approx(ticket.info.ticket.test)
    for name in SEEN:
        history = client.get_metric_history(run.info.run_id, name)
        found = sorted((metric.step, metric.value) for metric in history)
        assert found == [(step, pytest.approx(value)) for step, value in values(notes, name)]

    def stop(phase, epoch, share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find("mlflow", progress=stop)
    (failed,) = client.search_runs([client.get_experiment_by_name("teddy").experiment_id])
    assert failed.info.status == "FAILED"
    assert set(failed.data.metrics) == {"dense/loss", "dense/val"}


def records(folder):
    """Records of an offline wandb run: protobufs in LevelDB's log format."""
    from wandb.proto.wandb_internal_pb2 import Record

    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    data, place, parts = path.read_bytes(), 7, b""
    while place < len(data):
        left = 32768 - place % 32768
        if left < 7:  # the rest of a block, too short for a header
            place += left
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield Record.FromString(parts)
            parts = b""


def test_wandb_has_every_epoch_and_the_summary(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")

    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    notes = Notes()
    ticket = find([Wandb("tickets", mode="offline"), notes])
    wandb.teardown()  # its process writes the last of it when it ends
    history, summary, config = [], {}, {}

    def key(item):
        return item.key or "/".join(item.nested_key)

    for record in records(tmp_path):
        kind = record.WhichOneof("record_type")
        if kind == "run":
            assert record.run.project == "tickets"
            config |= {key(i): json.loads(i.value_json) for i in record.run.config.update}
        if kind == "history":
            history.append({key(i): json.loads(i.value_json) for i in record.history.item})
        if kind == "summary":
            summary |= {key(i): json.loads(i.value_json) for i in record.summary.update}
    assert config["model"] == "gcn"
    assert config["graph_sparsity"] == 0.1
    for name in SEEN:
        found = [(row["epoch"], row[name]) for row in history if name in row]
        assert found == [(step, pytest.approx(value)) for step, value in values(notes, name)]
    assert summary["ticket_test"] == pytest.approx(ticket.info.ticket.test)
    assert as_trackers("wandb")[0].project == "teddy"
