"""Outputs of fixed names leave a user's file alone, whatever name the library uses."""

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.own_files import (
    log_once,
    output_to_read,
    own_output,
    record_output,
    replace_output,
)
from estimator_bridge.training.monitoring.run_record import (
    Point,
    RunRecord,
    read_record,
    write_record,
)
from models.common.saved_files import saved_output

v1 = tf.compat.v1
# The original writes these, over whatever has the name, or names them by the step.
ORIGINAL = re.compile(r"checkpoint|graph\.pbtxt|(?:model|input)\.ckpt-.*")


@pytest.mark.parametrize("name", ["report.html", "run.yaml", "generated.png", "no_ending"])
def test_a_users_file_stays(name, tmp_path, caplog):
    path, stem = tmp_path / name, os.path.splitext(name)[0]
    path.write_bytes(b"a user's")
    for content in (b"first", b"second"):
        target = Path(replace_output(str(path), content))
        assert target.name == name.replace(stem, f"{stem}.estimator_bridge", 1)
        assert target.read_bytes() == content
        assert path.read_bytes() == b"a user's"
    assert output_to_read(str(path)) == str(target)
    lines = [line for line in caplog.messages if "did not write" in line]
    assert len(lines) == 1
    assert name in lines[0]


def test_its_own_file_is_replaced_and_an_edited_one_is_not(tmp_path):
    path = str(tmp_path / "report.html")
    assert [replace_output(path, content) for content in (b"1", b"2")] == [path, path]
    shutil.copytree(tmp_path, tmp_path.with_name("copied"))
    copied = str(tmp_path.with_name("copied") / "report.html")
    assert replace_output(copied, b"3") == copied
    Path(path).write_bytes(b"2, with a user's remark")
    other = replace_output(path, b"4")
    Path(other).write_bytes(b"4, with a remark")
    third = replace_output(path, b"5")
    names = ["report.html", "report.estimator_bridge.html", "report.estimator_bridge-2.html"]
    assert [os.path.basename(each) for each in (path, other, third)] == names
    assert [Path(each).read_bytes()[:1] for each in (path, other, third)] == [b"2", b"4", b"5"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_what_is_no_file_stays_and_is_not_read(make, tmp_path):
    path = tmp_path / "report.html"
    make(path)
    (tmp_path / ".estimator_bridge.report.html.wrote").write_text('{"sha256": ["0"]}')
    assert replace_output(str(path), b"own") == str(tmp_path / "report.estimator_bridge.html")


@pytest.mark.parametrize("record", [b"", b"\xff", b"[]", b'{"sha256": 3}', b'{"sha256": [3]}'])
def test_a_damaged_record_shows_nothing(record, tmp_path):
    path = str(tmp_path / "report.html")
    replace_output(path, b"own")
    (tmp_path / ".estimator_bridge.report.html.wrote").write_bytes(record)
    assert own_output(path) != path
    assert Path(path).read_bytes() == b"own"


def test_a_kill_between_record_and_file_is_no_users_edit(tmp_path):
    path = str(tmp_path / "report.html")
    replace_output(path, b"old")
    record_output(path, b"new")
    assert own_output(path) == path


def test_another_programs_monitor_json(tmp_path):
    path = tmp_path / "monitor.json"
    path.write_text('{"videos": [1]}')
    record = RunRecord(points=(Point(1, 0.5),))
    write_record(str(tmp_path), record)
    assert read_record(str(tmp_path)).points == record.points
    assert path.read_text() == '{"videos": [1]}'
    assert json.loads((tmp_path / "monitor.estimator_bridge.json").read_text())["points"]


def test_a_file_of_models_that_a_user_wrote(tmp_path):
    (tmp_path / "run.yaml").write_text("mine")
    with saved_output(str(tmp_path / "run.yaml")) as place:
        Path(place).write_text("own")
    assert (tmp_path / "run.yaml").read_text() == "mine"
    assert (tmp_path / "run.estimator_bridge.yaml").read_text() == "own"


def model_fn(features, labels, mode):
    weights = v1.get_variable("weights", [4])
    loss = tf.reduce_mean(tf.square(features["x"] * weights - 1.0))
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, {"y": features["x"]}, loss, train_op)


def run_everything(folder):
    """Trains, evaluates, predicts and exports, with all that the library writes beside."""

    def examples():
        return tf.data.Dataset.from_tensors({"x": np.ones([1], np.float32)}).repeat(4)

    def receiver():
        x = v1.placeholder(tf.float32, [1])
        return eb.export.ServingInputReceiver({"x": x}, {"x": x})

    config = eb.RunConfig(save_checkpoints_steps=2, keep_checkpoint_max=1)
    estimator = eb.Estimator(model_fn, str(folder), config)
    eb.train_and_evaluate(
        estimator,
        eb.TrainSpec(
            examples, max_steps=4, hooks=[eb.training.CheckpointInputPipelineHook(estimator)]
        ),
        eb.EvalSpec(
            examples, steps=1, exporters=eb.LatestExporter("latest", receiver, exports_to_keep=1)
        ),
    )
    monitor = eb.training.Monitor(report=True)
    estimator.train(examples, steps=2, hooks=[monitor])
    list(estimator.predict(examples))
    estimator.export_saved_model(str(folder / "export"), receiver)
    log_once(str(folder), "%s: %s", ["mentioned"])


def test_whatever_name_the_library_uses_a_users_file_of_that_name_is_kept(tmp_path, monkeypatch):
    """The names are read from a first run, so new outputs are tried too."""
    monkeypatch.setenv("ESTIMATOR_BRIDGE_MONITOR", "1")
    run_everything(tmp_path / "first")
    unique = re.compile(r"tfevents|\d{10}|[0-9a-f]{32}")
    names = [
        path.relative_to(tmp_path / "first")
        for path in (tmp_path / "first").rglob("*")
        if path.is_file() and not unique.search(str(path)) and not ORIGINAL.match(path.name)
    ]
    assert {"report.html", "monitor.json"} <= {str(name) for name in names}
    users = {}
    for name in names:
        path = tmp_path / "second" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        users[name] = f"a user's {name}".encode()
        path.write_bytes(users[name])
    run_everything(tmp_path / "second")
    contents = [path.read_bytes() for path in (tmp_path / "second").rglob("*") if path.is_file()]
    assert [str(name) for name, content in users.items() if content not in contents] == []
    for name in ("report.html", "monitor.json"):
        assert (tmp_path / "second" / name).read_bytes() == users[Path(name)]
