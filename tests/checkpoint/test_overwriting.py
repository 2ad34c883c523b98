import os

import numpy as np
import pytest
import tensorflow as tf
from engine import v1

from estimator_bridge.checkpoint import (
    CheckpointingSession,
    check_checkpoint,
    load_variable,
    overwriting,
    publishing,
)
from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import default_strategy


@pytest.fixture(params=[True, False], ids=["sharded", "alone"])
def saved(request, tmp_path):
    """A session, its saver, a variable, and the path of its first checkpoint."""
    with trace_graph() as graph:
        variable = v1.get_variable("v", [3], initializer=v1.ones_initializer())
        saver = v1.train.Saver(sharded=request.param)
        init = v1.global_variables_initializer()
    session = CheckpointingSession(graph, default_strategy())
    with session:
        session.run(init)
        path = saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
        yield session, saver, variable, path


def test_a_checkpoint_replaces_another_of_its_name(saved, tmp_path):
    session, saver, variable, path = saved
    before = sorted(os.listdir(tmp_path))
    variable.load(np.array([1, 2, 3], np.float32), session)
    assert saver.save(session, str(tmp_path / "model.ckpt"), global_step=7) == path
    assert load_variable(path, "v").tolist() == [1, 2, 3]
    assert sorted(os.listdir(tmp_path)) == before
    saver.restore(session, path)
    assert session.run(variable).tolist() == [1, 2, 3]


@pytest.mark.parametrize("renamed", [0, 1], ids=["before", "between the files"])
def test_one_that_is_not_changed_is_whole_at_any_moment(saved, tmp_path, monkeypatch, renamed):
    session, saver, variable, path = saved
    rename, done = publishing.move_over, []

    def killed(*args, **kwargs):
        if len(done) == renamed:
            raise KeyboardInterrupt
        done.append(rename(*args, **kwargs))

    monkeypatch.setattr(publishing, "move_over", killed)
    monkeypatch.setattr(publishing, "_finish", lambda *args: None)
    # As for a variable in parts, whose values are not compared.
    monkeypatch.setattr(overwriting, "has_present_values", lambda *args: False)
    with pytest.raises(KeyboardInterrupt):
        saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
    check_checkpoint(path, {"v": ([3], tf.float32)})
    assert load_variable(path, "v").tolist() == [1, 1, 1]
    saver.restore(session, path)
    assert session.run(variable).tolist() == [1, 1, 1]


def test_shards_of_another_number_are_set_aside(saved, tmp_path):
    session, saver, _, path = saved
    os.rename(path + ".data-00000-of-00001", path + ".data-00000-of-00002")
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
    assert load_variable(path, "v").tolist() == [1, 1, 1]
    assert not os.path.exists(path + ".data-00000-of-00002")
    assert os.path.exists(path + ".data-00000-of-00002.set_aside-1")


def test_other_calls_are_those_of_any_session(saved):
    session, *_ = saved
    with pytest.raises(ValueError, match="cannot be interpreted"):
        session.run("nowhere:0", {"save/Const:0": "text"})
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run("v:0", {"save/Const:0": "text"})


def stats(path):
    return {
        suffix: (info.st_ino, info.st_mtime_ns)
        for suffix in (".index", ".data-00000-of-00001")
        for info in [os.stat(path + suffix)]
    }


def test_the_same_values_are_not_written_again(saved, tmp_path):
    session, saver, variable, path = saved
    before = stats(path)
    os.remove(path + ".meta")
    assert saver.save(session, str(tmp_path / "model.ckpt"), global_step=7) == path
    assert stats(path) == before
    assert os.path.exists(path + ".meta")
    variable.load(np.array([1, 1, -1], np.float32), session)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
    assert load_variable(path, "v").tolist() == [1, 1, -1]


def flip(path, place):
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("place", [0, 11])
def test_a_damaged_value_is_written_again(saved, tmp_path, place):
    session, saver, _, path = saved
    flip(path + ".data-00000-of-00001", place)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
    assert load_variable(path, "v").tolist() == [1, 1, 1]


@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
def test_a_file_that_was_cut_short_is_written_again(saved, tmp_path, suffix):
    session, saver, _, path = saved
    os.truncate(path + suffix, os.path.getsize(path + suffix) - 1)
    saver.save(session, str(tmp_path / "model.ckpt"), global_step=7)
    assert load_variable(path, "v").tolist() == [1, 1, 1]
