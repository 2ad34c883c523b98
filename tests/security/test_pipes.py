"""A pipe, a socket, a device or a folder in place of a file: no reader waits, or fills memory.

Each reader runs with an alarm, so one that blocks fails here instead of hanging the tests.
"""

import contextlib
import os
import signal
import socket

import pytest
import tensorflow as tf
from absl import flags as absl_flags

import estimator_bridge as eb
from estimator_bridge.checkpoint import latest_checkpoint
from estimator_bridge.commands.cli import main
from estimator_bridge.errors import CheckpointError, DataError
from estimator_bridge.export.assets import copy_assets_extra
from estimator_bridge.own_files import read_note
from estimator_bridge.prediction.binary_rows import image_rows, record_rows
from estimator_bridge.prediction.rows import BadRow
from estimator_bridge.records.manifest import read_manifest
from estimator_bridge.records.npz_arrays import read_npz
from estimator_bridge.training.event_files import scalars_by_step
from estimator_bridge.weights import read_table
from flags.config_file import with_config
from flags.validate import FlagsError

SECS = 120


def listening_socket(path):
    server = socket.socket(socket.AF_UNIX)
    with contextlib.chdir(os.path.dirname(path)) if hasattr(contextlib, "chdir") else _in(path):
        server.bind(os.path.basename(path))  # whose full path may be too long
    server.close()


@contextlib.contextmanager
def _in(path):
    before = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        yield
    finally:
        os.chdir(before)


THINGS = {
    "pipe": os.mkfifo,
    "endless device": lambda path: os.symlink("/dev/zero", path),
    "folder": os.mkdir,
    "socket": listening_socket,
}


@pytest.fixture(autouse=True)
def alarm():
    def blocked(signum, frame):
        raise AssertionError(f"it still reads after {SECS} s")

    before = signal.signal(signal.SIGALRM, blocked)
    signal.alarm(SECS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def rows_of(read):
    def call(path):
        bad = [row for row in read(path) if isinstance(row, BadRow)]
        assert bad
        raise DataError(str(bad[0]))

    return call


def configured(path):
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_integer("steps", 1, "", flag_values=values)
    values(["p"])
    with_config(["p", f"--config={path}"], values)


REFUSALS = (DataError, CheckpointError, OSError, FlagsError, tf.errors.OpError, ValueError)
# What each reader has as its file's name.
REFUSED = {
    "records": ("a.tfrecord", rows_of(record_rows)),
    "image": ("a.png", rows_of(image_rows)),
    "manifest": ("manifest.json", lambda path: read_manifest(os.path.dirname(path))),
    "npz": ("a.npz", read_npz),
    "table of weights": ("table.txt", read_table),
    "config": ("run.yaml", configured),
    "asset": ("a.txt", lambda path: copy_assets_extra({"x": path}, os.path.dirname(path) + "/out")),
}


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("reader", REFUSED)
def test_it_is_refused(reader, thing, tmp_path):
    name, read = REFUSED[reader]
    path = str(tmp_path / name)
    THINGS[thing](path)
    with pytest.raises(REFUSALS):
        read(path)
    assert os.path.lexists(path)


def report(path):
    eb.training.write_report(os.path.dirname(path))


PASSED_OVER = {
    "monitor.json": ("monitor.json", report),
    "run.yaml in a report": ("run.yaml", report),
    "report.html": ("report.html", report),
    "picture": ("a.png", report),
    "events": ("events.out.tfevents.1.x", lambda path: scalars_by_step(f"{path[:-1]}*")),
    "note": ("note", lambda path: read_note(path, dict)),
    "source": ("a.py", lambda path: main(["check", os.path.dirname(path)])),
    "notebook": ("a.ipynb", lambda path: main(["check", os.path.dirname(path)])),
}


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("reader", PASSED_OVER)
def test_it_is_passed_over(reader, thing, tmp_path):
    name, read = PASSED_OVER[reader]
    THINGS[thing](str(tmp_path / name))
    read(str(tmp_path / name))
    assert [each for each in os.listdir(tmp_path) if each.startswith(name)]


@pytest.mark.parametrize("thing", ["pipe", "endless device", "socket"])
def test_the_list_of_checkpoints(thing, tmp_path):
    THINGS[thing](str(tmp_path / "checkpoint"))
    with pytest.raises(OSError, match="is a pipe or a device"):
        latest_checkpoint(str(tmp_path))
