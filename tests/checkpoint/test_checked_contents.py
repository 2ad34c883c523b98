"""A checkpoint whose files have not changed is checked once, and any change is noticed."""

import os
import shutil
import time

import pytest
from test_restore_checks import SHAPES, edit, expect, save

from estimator_bridge.checkpoint import (
    CheckpointMismatchError,
    DamagedCheckpointError,
    check_checkpoint,
    checked_contents,
)
from estimator_bridge.errors import CheckpointError


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A checkpoint that was checked, and whose files have rested since."""
    path = save(tmp_path / "model.ckpt")
    monkeypatch.setattr(checked_contents, "_SETTLED_NS", 10**7)  # longer than a tick of the clock
    rest()
    check_checkpoint(path, expect(SHAPES))
    return path


def rest():
    time.sleep(0.05)


def flip(content):
    """Returns content of the same size."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


def overwrite(path, content):
    """Changes a file in place, and hides it as well as anybody can."""
    status = os.stat(path)
    with open(path, "r+b") as file:
        file.write(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def count_checks(monkeypatch):
    checks, check = [], checked_contents.check_intact
    monkeypatch.setattr(
        checked_contents, "check_intact", lambda path: checks.append(path) or check(path)
    )
    return checks


def test_files_that_stay_are_checked_once(path, monkeypatch):
    checks = count_checks(monkeypatch)
    check_checkpoint(path, expect(SHAPES))
    assert not checks
    with pytest.raises(CheckpointMismatchError, match="is float32"):  # what is wanted is compared
        check_checkpoint(path, expect({"dense/bias": [3]}))


def test_files_that_have_just_been_written_are_checked_each_time(tmp_path, monkeypatch):
    path, checks = save(tmp_path / "model.ckpt"), count_checks(monkeypatch)
    for _ in range(2):
        check_checkpoint(path, expect(SHAPES))
    assert len(checks) == 2


def test_an_index_that_was_changed_in_place_is_noticed(path):
    with open(path + ".index", "rb") as file:
        content = file.read()
    overwrite(path + ".index", flip(content))
    rest()
    with pytest.raises(DamagedCheckpointError):
        check_checkpoint(path, expect(SHAPES))


def test_another_checkpoint_of_that_name_is_noticed(path, tmp_path):
    other = save(tmp_path / "other.ckpt", {"other": [4]})
    for ending in (".index", ".data-00000-of-00001"):
        shutil.copystat(path + ending, other + ending)
        os.replace(other + ending, path + ending)
    rest()
    with pytest.raises(CheckpointError, match="belongs to another model"):
        check_checkpoint(path, expect(SHAPES))


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_a_missing_or_shorter_file_is_noticed(path, ending):
    edit(path + ending, lambda content: content[:-20])
    rest()
    with pytest.raises(CheckpointError):
        check_checkpoint(path, expect(SHAPES))
    os.remove(path + ending)
    with pytest.raises(CheckpointError, match="missing"):
        check_checkpoint(path, expect(SHAPES))


def test_a_second_set_of_data_files_is_noticed(path):
    shutil.copy(path + ".data-00000-of-00001", path + ".data-00000-of-00002")
    with pytest.raises(CheckpointError, match="missing"):
        check_checkpoint(path, expect(SHAPES))
