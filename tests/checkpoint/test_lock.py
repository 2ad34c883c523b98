import json
import os
import shutil
import socket
import subprocess
import sys
import time

import pytest
import tensorflow as tf

from estimator_bridge.checkpoint import (
    check_model_dir,
    check_own_training,
    lock,
    lock_files,
    lock_holder,
    only_training,
)
from estimator_bridge.checkpoint.lock import LOCK_FILE
from estimator_bridge.errors import ModelDirInUseError, ModelDirLostError

# Trains in another process, as far as the lock can tell; without TensorFlow, which takes seconds.
HOLDER = """
import fcntl, json, os, socket, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
file.write(json.dumps({"host": socket.gethostname(), "process": os.getpid(),
                       "started": time.time() - 7200, "id": "other"}))
file.flush()
print("locked", flush=True)
time.sleep(60)
"""


def foreign(path, **changes):
    """Leaves the lock of a training on another machine."""
    holder = {"host": "elsewhere", "process": 7, "started": time.time(), "id": "a", "beat": 1}
    (path / LOCK_FILE).write_text(json.dumps({**holder, **changes}))


def holder(path):
    """Returns the holder of the lock."""
    return json.loads((path / LOCK_FILE).read_text())


@pytest.fixture
def shared_disk(monkeypatch):
    monkeypatch.setattr(lock_files, "is_shared_disk", lambda path: True)


def test_another_process_is_refused_and_a_dead_ones_lock_is_taken_over(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_holder, "_uptime", lambda: 1e6)  # of a machine just started, less
    path = str(tmp_path / LOCK_FILE)
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(ModelDirInUseError) as error, only_training(str(tmp_path)):
            pytest.fail("two trainings at a time")
        other.kill()
    assert f"by process {other.pid} on {socket.gethostname()}, for 2 hours" in str(error.value)
    assert "use another model_dir" in str(error.value)
    assert os.path.exists(path)
    with only_training(str(tmp_path)):
        assert json.loads((tmp_path / LOCK_FILE).read_text())["process"] == os.getpid()
    assert os.listdir(tmp_path) == []


def test_a_second_training_of_the_same_process_is_refused(tmp_path):
    with (
        only_training(str(tmp_path)),
        pytest.raises(ModelDirInUseError, match=f"process {os.getpid()} "),
        only_training(str(tmp_path)),
    ):
        pytest.fail("two trainings at a time")
    with pytest.raises(KeyError), only_training(str(tmp_path)):
        raise KeyError
    with only_training(str(tmp_path)):
        assert (tmp_path / LOCK_FILE).exists()


def test_a_refusal_does_not_end_the_lock(tmp_path):
    """A POSIX lock ends with the first descriptor of its file that the process closes."""
    with only_training(str(tmp_path)):
        with pytest.raises(ModelDirInUseError), only_training(str(tmp_path)):
            pytest.fail("two trainings at a time")
        code = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | 4)"
        other = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / LOCK_FILE)],
            capture_output=True,
            check=False,
        )
        assert b"BlockingIOError" in other.stderr


def test_on_a_local_disk_what_another_machine_left_is_of_the_dead(tmp_path):
    foreign(tmp_path)  # a container of another name, on this disk
    with only_training(str(tmp_path), sleep=lambda secs: pytest.fail("waited")):
        assert holder(tmp_path)["process"] == os.getpid()


def test_on_a_shared_disk_signs_of_life_are_waited_for(tmp_path, shared_disk, caplog):
    caplog.set_level("INFO", logger="tensorflow")
    foreign(tmp_path)
    waits = []
    with only_training(str(tmp_path), sleep=waits.append):
        assert sum(waits) == 30
    assert "locked by process 7 on elsewhere: waiting up to 30 s" in caplog.text

    foreign(tmp_path)

    def beat(seconds):
        foreign(tmp_path, beat=2)

    with (
        pytest.raises(ModelDirInUseError, match="process 7 on elsewhere"),
        only_training(str(tmp_path), sleep=beat),
    ):
        pytest.fail("two trainings at a time")


def test_on_a_shared_disk_signs_of_life_are_given(tmp_path, shared_disk, monkeypatch):
    monkeypatch.setattr(lock, "_BEAT_SECS", 0.01)
    with only_training(str(tmp_path)):
        deadline = time.monotonic() + 20
        while json.loads((tmp_path / LOCK_FILE).read_text() or "{}").get("beat", 0) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_without_locks_the_last_of_two_that_start_together_has_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lock_files, "_locked_descriptor", lambda model_dir, folder: None)
    with only_training(str(tmp_path), sleep=lambda secs: None):
        pass
    with (
        pytest.raises(ModelDirInUseError, match="process 7 on elsewhere"),
        only_training(str(tmp_path), sleep=lambda secs: foreign(tmp_path, id="b")),
    ):
        pytest.fail("two trainings at a time")
    # What a process of this machine left that is no more, or was this one.
    for process in (os.getpid(), 2**22 + 1):
        foreign(tmp_path, host=socket.gethostname(), process=process)
        with only_training(str(tmp_path), sleep=lambda secs: None):
            assert holder(tmp_path)["process"] == os.getpid()


def test_a_lock_that_is_no_text_is_overwritten(tmp_path):
    (tmp_path / LOCK_FILE).write_bytes(b"\xff\x00")
    with only_training(str(tmp_path)):
        assert holder(tmp_path)["process"] == os.getpid()


@pytest.mark.parametrize(
    "content",
    [b"[" * 4000, b'{"host": 1}', b"7", b"", b'{"host": 1, "process": 1, "started": "x", "id": 2}'],
)
def test_a_damaged_lock_is_overwritten(content, tmp_path):
    (tmp_path / LOCK_FILE).write_bytes(content)
    with only_training(str(tmp_path)):
        assert holder(tmp_path)["process"] == os.getpid()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("user", path)])
def test_what_is_not_a_lock_is_left_alone(make, tmp_path):
    make(tmp_path / LOCK_FILE)
    before = (tmp_path / LOCK_FILE).lstat()
    with pytest.raises(ModelDirInUseError, match="move it away"), only_training(str(tmp_path)):
        pytest.fail("locked a thing of the user's")
    assert os.listdir(tmp_path) == [LOCK_FILE]
    assert (tmp_path / LOCK_FILE).lstat().st_ino == before.st_ino


@pytest.mark.parametrize(
    ("seconds", "age"),
    [(-7200, ""), (86400 - 1.7e9, ""), (30, ", for 30 seconds"), (7200, ", for 2 hours"),
     (10 * 365 * 86400, "")],
)  # fmt: skip
def test_an_age_that_cannot_be_is_not_told(seconds, age, monkeypatch):
    """The clock has been set since that training started."""
    monkeypatch.setattr(lock_holder, "_uptime", lambda: 86400.0)
    other = lock_holder.new_holder()
    monkeypatch.setattr(time, "time", lambda: other.started + seconds)
    assert f"process {os.getpid()} on {other.host}{age}. Two" in str(lock_holder.in_use("m", other))


def remove(path):
    shutil.rmtree(path)


def rename(path):
    path.rename(path.parent / "moved")


def replace(path):
    rename(path)
    path.mkdir()


def replace_by_a_copy(path):
    shutil.copytree(path, path.parent / "copy")
    rename(path)
    (path.parent / "copy").rename(path)


def rename_the_parent(path):
    path.parent.rename(path.parent.parent / "moved")


def remove_the_lock(path):
    (path / LOCK_FILE).unlink()


def replace_the_lock(path):
    remove_the_lock(path)
    foreign(path)


LOSSES = {
    remove: "was removed, and nothing is in its place now",
    rename: "moved', and nothing is in its place now",
    replace: "moved', and another folder is in its place now",
    replace_by_a_copy: "moved', and another folder is in its place now",
    rename_the_parent: "moved/model', and nothing is in its place now",
    remove_the_lock: "is still there, but its lock, .estimator_bridge.lock, was removed",
    replace_the_lock: "is still there, but its lock, .estimator_bridge.lock, was replaced",
}


@pytest.fixture
def model_dir(tmp_path, monkeypatch):
    """A folder whose loss is noticed at each check, not only every two seconds."""
    monkeypatch.setattr(lock, "_CHECK_SECS", 0.0)
    path = tmp_path / "parent" / "model"
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize(("lose", "text"), LOSSES.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_the_loss_of_the_folder_or_its_lock_is_noticed(lose, text, model_dir):
    with only_training(str(model_dir)):
        check_own_training()
        check_model_dir(str(model_dir / "model.ckpt-1"))
        lose(model_dir)
        for _ in range(2):
            with pytest.raises(ModelDirLostError) as error:
                check_own_training()
            assert f"model_dir {str(model_dir)!r}" in str(error.value)
            assert text in str(error.value)
            with pytest.raises(ModelDirLostError):
                check_model_dir(str(model_dir / "model.ckpt-2"))
        check_model_dir(f"{model_dir}-of-another/model.ckpt-2")
        check_model_dir("model.ckpt-2")
    check_own_training()
    check_model_dir(str(model_dir / "model.ckpt-3"))


def test_between_steps_the_disk_is_asked_every_two_seconds(model_dir, monkeypatch):
    monkeypatch.setattr(lock, "_CHECK_SECS", 2.0)
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    training = lock._Training(str(model_dir), lock_holder.new_holder(), time.monotonic)
    looks = []
    monkeypatch.setattr(training, "look", lambda: looks.append(now[0]))
    training.file = lock_files.LockFile()
    training.file.needs_signs_of_life = False
    for now[0] in (101, 101.9, 102, 102.5, 103.9, 104.1, 104.2):
        training.look_now_and_then()
    assert looks == [102, 104.1]


def test_only_the_own_lock_is_removed(model_dir):
    for lose, left in ((replace_the_lock, [LOCK_FILE]), (rename, [])):
        with only_training(str(model_dir)):
            lose(model_dir)
        assert os.listdir(model_dir.parent / "moved" if left == [] else model_dir) == left
        if left:
            assert holder(model_dir)["host"] == "elsewhere"
            remove_the_lock(model_dir)


def test_a_second_training_starts_where_the_first_has_lost_its_folder(model_dir):
    with only_training(str(model_dir)):
        replace(model_dir)
        with only_training(str(model_dir)):  # its own folder is in place
            check_own_training()
            check_model_dir(str(model_dir / "model.ckpt-1"))
            assert holder(model_dir)["process"] == os.getpid()
        with pytest.raises(ModelDirLostError):
            check_own_training()
        assert os.listdir(model_dir) == []
        assert os.listdir(model_dir.parent / "moved") == [LOCK_FILE]


def test_a_link_that_leads_elsewhere_is_noticed(model_dir):
    link = model_dir.parent / "link"
    link.symlink_to(model_dir)
    with only_training(str(link)):
        with pytest.raises(ModelDirInUseError), only_training(str(model_dir)):
            pytest.fail("two trainings at a time")
        link.unlink()
        link.symlink_to(model_dir.parent)
        with pytest.raises(ModelDirLostError, match="model', to which this name no longer leads"):
            check_own_training()
    assert os.listdir(model_dir) == []


def test_a_relative_path_is_written_to_only_if_it_leads_to_the_folder(model_dir, monkeypatch):
    monkeypatch.chdir(model_dir.parent)
    with only_training("model"):
        os.chdir("/")  # a hook may, for a while
        check_own_training()
        with pytest.raises(ModelDirLostError, match="Use an absolute path"):
            check_model_dir("model/model.ckpt-2")
        os.chdir(model_dir.parent)
        check_model_dir("model/model.ckpt-2")
        rename(model_dir)
        with pytest.raises(ModelDirLostError, match="was renamed to"):
            check_model_dir("model/model.ckpt-2")


def test_a_copy_of_the_folder_does_not_end_the_lock(model_dir):
    """A copy closes a descriptor of the lock file, with which a POSIX lock ends."""
    code = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | 4)"
    command = [sys.executable, "-c", code, str(model_dir / LOCK_FILE)]
    with only_training(str(model_dir)):
        shutil.copytree(model_dir, model_dir.parent / "copy")
        check_own_training()
        other = subprocess.run(command, capture_output=True, check=False)
        assert b"BlockingIOError" in other.stderr


def test_a_lock_that_another_process_has_taken_meanwhile_is_lost(model_dir):
    path = str(model_dir / LOCK_FILE)
    with only_training(str(model_dir)):
        shutil.copytree(model_dir, model_dir.parent / "copy")
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE
        ) as other:
            assert other.stdout.readline() == b"locked\n"
            with pytest.raises(ModelDirLostError, match="another training holds its lock"):
                check_own_training()
            other.kill()


def test_a_forked_copy_of_a_training_does_not_end_its_lock(model_dir):
    with only_training(str(model_dir)):
        (training,) = lock._held_here.values()
        training.file.remove(lock_holder.Holder("vm", os.getpid() + 1, 0.0, training.holder.id))
        assert os.listdir(model_dir) == [LOCK_FILE]


def test_on_a_shared_disk_whose_inodes_change_the_content_counts(
    model_dir, shared_disk, monkeypatch
):
    monkeypatch.setattr(lock, "_BEAT_SECS", 3600.0)
    with only_training(str(model_dir)):
        replace_by_a_copy(model_dir)  # as it would look
        check_model_dir(str(model_dir))
        foreign(model_dir)
        with pytest.raises(ModelDirLostError, match="another folder is in its place"):
            check_model_dir(str(model_dir))
    assert holder(model_dir)["host"] == "elsewhere"


def test_the_thread_of_a_shared_disk_notices_a_loss(model_dir, shared_disk, monkeypatch):
    monkeypatch.setattr(lock, "_BEAT_SECS", 0.01)
    with only_training(str(model_dir)):
        replace_the_lock(model_dir)
        deadline = time.monotonic() + 20
        with pytest.raises(ModelDirLostError):
            while time.monotonic() < deadline:
                check_own_training()
                time.sleep(0.01)
    assert holder(model_dir)["beat"] == 1, "the other's lock was overwritten"


@pytest.mark.parametrize("other", [None, "another training"])
def test_on_an_object_store_a_lost_lock_is_noticed_and_left(other, monkeypatch):
    folder = f"ram://lock-{other}"
    tf.io.gfile.makedirs(folder)
    path = f"{folder}/{LOCK_FILE}"
    with only_training(folder, sleep=lambda secs: None):
        check_model_dir(f"{folder}/model.ckpt-1")
        tf.io.gfile.remove(path)
        if other:
            text = lock_holder.text_of(lock_holder.Holder("elsewhere", 7, 0.0, "b"))
            with tf.io.gfile.GFile(path, "w") as file:
                file.write(text.decode())
        with pytest.raises(ModelDirLostError, match="process 7 on elsewhere" if other else "rem"):
            check_model_dir(f"{folder}/model.ckpt-2")
    assert tf.io.gfile.exists(path) == bool(other)
