import os
import shutil

import pytest
import tensorflow as tf
from test_restore_checks import edit, save

from estimator_bridge.checkpoint import (
    UnreadableCheckpointError,
    check_still_writable,
    check_writable,
    latest_checkpoint,
    list_variables,
    load_variable,
    remove_leftovers,
)
from estimator_bridge.checkpoint import folder as folder_module
from estimator_bridge.errors import CheckpointError
from estimator_bridge.own_files import make_own_folder, new_token


def write_state(folder, newest, *others):
    lines = [f'model_checkpoint_path: "{newest}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in (*others, newest)]
    (folder / "checkpoint").write_text("\n".join(lines))


@pytest.fixture
def model_dir(tmp_path):
    folder = tmp_path / "model"
    for step in (5, 10):
        save(folder / f"model.ckpt-{step}")
    write_state(folder, "model.ckpt-10", "model.ckpt-5")
    return folder


def test_the_latest_is_the_newest(model_dir, tmp_path):
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-10")
    moved = tmp_path / "moved"
    model_dir.rename(moved)
    assert latest_checkpoint(moved) == str(moved / "model.ckpt-10")


def test_without_any_there_is_none(tmp_path):
    assert latest_checkpoint(tmp_path) is None
    assert latest_checkpoint(tmp_path / "not there") is None


def test_a_moved_folder_with_absolute_paths_is_found(model_dir, tmp_path):
    write_state(model_dir, model_dir / "model.ckpt-10")
    moved = tmp_path / "moved"
    shutil.move(model_dir, moved)
    assert latest_checkpoint(moved) == str(moved / "model.ckpt-10")


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_an_incomplete_one_is_passed_over_with_a_warning(model_dir, ending, caplog):
    os.remove(f"{model_dir}/model.ckpt-10{ending}")
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-5")
    assert "model.ckpt-10 is not there (missing" in caplog.text
    assert "taking" in caplog.text


@pytest.mark.parametrize(
    ("ending", "change"),
    [
        (".index", lambda b: b""),
        (".index", lambda b: b[: len(b) // 2]),
        (".data-00000-of-00001", lambda b: b[:-1]),
    ],
)
def test_one_whose_writing_was_cut_off_is_passed_over(model_dir, ending, change, caplog):
    edit(f"{model_dir}/model.ckpt-10{ending}", change)
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-5")
    assert "model.ckpt-10 is damaged" in caplog.text


def test_one_that_the_state_file_does_not_name_is_better_than_none(model_dir, caplog):
    save(model_dir / "input.ckpt-7")  # a position of the input is no model
    save(model_dir / "input_worker_1.ckpt-8")
    write_state(model_dir, "model.ckpt-20")
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-10")
    assert "model.ckpt-20 is not there" in caplog.text


def test_a_missing_shard_makes_it_incomplete(model_dir):
    start = f"{model_dir}/model.ckpt-10.data-0000"
    os.rename(start + "0-of-00001", start + "0-of-00002")
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-5")
    shutil.copy(start + "0-of-00002", start + "1-of-00002")
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-10")


def test_none_of_those_named_is_an_error(model_dir):
    for file in model_dir.glob("model.ckpt*"):
        file.unlink()
    with pytest.raises(CheckpointError) as error:
        latest_checkpoint(model_dir)
    message = str(error.value)
    assert "names checkpoints that are not there" in message
    assert "model.ckpt-10" in message
    assert "model.ckpt-5" in message
    assert "To train from the start, use another model_dir" in message


def test_checkpoints_without_the_file_that_names_them_are_found(model_dir, caplog):
    (model_dir / "checkpoint").unlink()
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-10")
    assert f"{model_dir}/checkpoint is not there; taking {model_dir}/model.ckpt-10" in caplog.text
    edit(f"{model_dir}/model.ckpt-10.data-00000-of-00001", lambda b: b[:-1])
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-5")
    edit(f"{model_dir}/model.ckpt-5.data-00000-of-00001", lambda b: b[:-1])
    with pytest.raises(CheckpointError, match=r"holds checkpoints, but not a whole one: .*ckpt-10"):
        latest_checkpoint(model_dir)


def test_one_that_may_not_be_read_is_not_called_damaged(model_dir, monkeypatch):
    """Root may read everything, so the refusal is TensorFlow's own, raised by hand."""
    refusal = tf.errors.PermissionDeniedError(None, None, f"{model_dir}; Permission denied")
    listed = tf.io.gfile.listdir

    def refused(path):
        if path == str(model_dir):
            raise refusal
        return listed(path)

    monkeypatch.setattr(tf.io.gfile, "listdir", refused)
    with pytest.raises(UnreadableCheckpointError, match=r"may not be read: .*denied") as error:
        load_variable(f"{model_dir}/model.ckpt-10", "dense/kernel")
    assert "delete" not in str(error.value)
    assert "the right to read" in str(error.value)


@pytest.mark.parametrize("name", ["a[b]", "a\\b"])
def test_a_folder_whose_name_is_a_pattern_is_refused_before_anything_is_written(tmp_path, name):
    with pytest.raises(ValueError, match="Use a folder of another name"):
        check_writable(tmp_path / name)
    assert not (tmp_path / name).exists()
    save(tmp_path / name / "model.ckpt-1")
    with pytest.raises(UnreadableCheckpointError, match="Rename the folder"):
        load_variable(f"{tmp_path}/{name}/model.ckpt-1", "dense/kernel")


STATES = {
    "noise": b"\x00\x01\xff not a state",
    "nothing": b"",
    "a half": b'model_checkpoint_path: "model.ck',
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_without_a_state_file_to_go_by_the_highest_step_counts(model_dir, state, caplog):
    save(model_dir / "model.ckpt-9")
    (model_dir / "checkpoint").write_bytes(state)
    assert latest_checkpoint(model_dir) == str(model_dir / "model.ckpt-10")
    assert "checkpoint is damaged; taking" in caplog.text


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_damaged_state_file_and_nothing_else_is_an_error(tmp_path, state):
    (tmp_path / "checkpoint").write_bytes(state)
    with pytest.raises(CheckpointError, match="checkpoint is damaged: it must be a text file"):
        latest_checkpoint(tmp_path)


def test_variables_are_read_from_a_checkpoint_or_a_folder(model_dir):
    for path in (str(model_dir), f"{model_dir}/model.ckpt-10"):
        assert list_variables(path) == [
            ("dense/bias", [2]),
            ("dense/kernel", [3, 2]),
            ("empty", [0]),
        ]
        value = load_variable(path, "dense/kernel")
        assert value.shape == (3, 2)
        assert (load_variable(path, "dense/kernel:0") == value).all()


def test_a_misspelled_variable_is_an_error_with_what_is_near(model_dir):
    with pytest.raises(CheckpointError, match=r"dense/kernal not found.*Similar names: dense/k"):
        load_variable(str(model_dir), "dense/kernal")
    with pytest.raises(CheckpointError, match=r"Key zzz not found.*It has dense/bias, dense/k"):
        load_variable(str(model_dir), "zzz")


def test_reading_where_there_is_nothing_to_read(tmp_path, model_dir):
    with pytest.raises(CheckpointError, match="Couldn't find a checkpoint in the folder"):
        list_variables(str(tmp_path))
    with pytest.raises(CheckpointError, match=r"no whole checkpoint .*nowhere: missing"):
        load_variable(str(tmp_path / "nowhere"), "a")
    edit(f"{model_dir}/model.ckpt-10.data-00000-of-00001", lambda b: b[:-1])
    with pytest.raises(CheckpointError, match="is damaged: Read less bytes"):
        load_variable(f"{model_dir}/model.ckpt-10", "dense/kernel")


def test_a_writable_folder_is_made_and_left_empty(tmp_path):
    check_writable(tmp_path / "new" / "folder")
    check_writable(str(tmp_path / "new" / "folder"))
    assert os.listdir(tmp_path / "new" / "folder") == []


@pytest.mark.parametrize("below", ["", "run", "run/1"])
def test_a_file_in_the_way_is_named(tmp_path, below):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(NotADirectoryError, match=rf"must be a folder, but '{file}' is a file"):
        check_writable(str(file / below))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (tf.errors.PermissionDeniedError, PermissionError),
        (tf.errors.ResourceExhaustedError, OSError),
    ],
)
def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch, error, kind):
    def refuse(*args, **kwargs):
        raise error(None, None, "Read-only file system")

    monkeypatch.setattr(tf.io.gfile.GFile, "write", refuse)
    with pytest.raises(kind, match=rf"model_dir '{tmp_path}' cannot be written to: Read-only"):
        check_writable(str(tmp_path))


def test_what_killed_processes_left_is_removed_if_it_is_ours(model_dir, caplog):
    foreign = {
        "checkpoint.tmp" + "0a" * 16, "model.ckpt-15.new.index", "graph.pbtxt.new",
        "vgg.ckpt-3.data-00000-of-00001", "input.ckpt-5.index.tempstate1",
    }  # fmt: skip
    for name in foreign:
        (model_dir / name).write_text("mine")
    (model_dir / "results-2024_temp").mkdir()
    (model_dir / "results-2024_temp" / "notes.txt").write_text("a month of work")
    (model_dir.parent / "victim").mkdir()
    (model_dir.parent / "victim" / "part-00000").write_text("mine")
    (model_dir / "model.ckpt-1_temp").symlink_to("../victim")
    before = {path.name for path in model_dir.iterdir()}
    token = new_token()
    ours = model_dir / f".estimator_bridge.staging-training-{'0' * 8}-7-{token}"
    make_own_folder(str(ours), token)
    (ours / f"{token}.model.ckpt-20_temp").mkdir()
    (ours / f"{token}.model.ckpt-20_temp" / "part-00000").write_text("")
    for _ in range(2):
        remove_leftovers(str(model_dir))
    after = {path.name for path in model_dir.iterdir()}
    assert after == before | {".estimator_bridge.mentioned"}
    assert (model_dir / "results-2024_temp" / "notes.txt").read_text() == "a month of work"
    assert (model_dir.parent / "victim" / "part-00000").read_text() == "mine"
    assert caplog.text.count("files that a killed process may have left") == 1


def test_a_folder_that_was_writable_is_asked_for_again(tmp_path, monkeypatch):
    folder, probes = tmp_path / "new", []
    monkeypatch.setattr(
        folder_module, "check_writable", lambda path: (probes.append(path), check_writable(path))
    )
    for _ in range(3):
        check_still_writable(folder)
    assert probes == [folder]
    folder.rmdir()
    check_still_writable(folder)
    assert folder.is_dir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # as for who may not write there
    check_still_writable(folder)
    assert probes == [folder] * 3
