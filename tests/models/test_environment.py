"""train.py's checks before TensorFlow is imported: TF_CONFIG, memory, disks."""

import errno
import json
import os
import subprocess
import sys

import pytest

from models.common.environment import require_valid_tf_config
from models.common.errors import UserError
from models.common.folders import require_writable
from models.common.memory import require_memory, total_memory

GOOD = {"cluster": {"chief": ["h:1"]}, "task": {"type": "chief", "index": 0}}


@pytest.mark.parametrize("text", ["", "{}", json.dumps(GOOD), json.dumps({"task": {"index": "0"}})])
def test_a_valid_tf_config(text):
    require_valid_tf_config({"TF_CONFIG": text})
    require_valid_tf_config({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{x", "is not JSON: Expecting property name"),
        ("[" * 100000, "is nested too deeply"),
        ("3", "is a JSON number, not an object"),
        ('{"cluster": null}', "has a null as 'cluster', not an object"),
        ('{"task": "worker"}', "has a string as 'task', not an object"),
        ('{"task": {"index": "first"}}', "has 'first' as the task's index, not a whole number"),
        ('{"task": {"index": 1.5}}', "has 1.5 as the task's index"),
        ('{"task": {"index": null}}', "has None as the task's index"),
    ],
)
def test_a_broken_tf_config(text, message):
    with pytest.raises(UserError) as raised:
        require_valid_tf_config({"TF_CONFIG": text})
    assert message in str(raised.value)
    assert '"task": {"type": "chief", "index": 0}' in str(raised.value)


def test_a_broken_tf_config_is_not_shown():
    with pytest.raises(UserError) as raised:
        require_valid_tf_config({"TF_CONFIG": '{"auth_token": "abc" x'})
    assert "abc" not in str(raised.value)


def test_a_batch_that_does_not_fit():
    require_memory("train_batch_size", 100, 10, 1000)
    require_memory("train_batch_size", 100, 10, None)
    with pytest.raises(UserError, match=r"--train_batch_size=101: .* Use at most 100, "):
        require_memory("train_batch_size", 101, 10, 1000)


def test_this_machine_has_memory():
    assert total_memory() > 2**28


def test_a_full_disk_is_told_from_a_missing_permission(tmp_path, monkeypatch):
    def full(dir):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(UserError, match=r"No space left on device\. Free some space"):
        require_writable(str(tmp_path), "model_dir")


def test_the_checks_need_no_tensorflow():
    check = (
        "import sys, models.common.environment, models.common.memory, models.common.folders; "
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
