import json
import os
import socket
import subprocess
import sys
import time

import pytest

from estimator_bridge.checkpoint import lock, lock_files, lock_holder, only_training
from estimator_bridge.checkpoint.lock import LOCK_FILE
from estimator_bridge.errors import ModelDirInUseError

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
