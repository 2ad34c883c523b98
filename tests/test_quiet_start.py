"""The messages of TensorFlow while it is loaded."""

import os
import subprocess
import sys

import pytest

from estimator_bridge.base import quiet_start

PROGRAM = """
import os, sys
from estimator_bridge.quiet_start import quietly
with quietly():
    os.write(2, b"WARNING: All log messages before absl::InitializeLog() is called are written\\n")
    os.write(2, b"I0000 00:00:1700000000.123456    42 port.cc:1] chatter I\\n")
    os.write(2, b"E0000 00:00:1700000000.123456    42 cuda_platform.cc:1] chatter E\\n")
    os.write(2, b"2024-01-01 10:00:00.123456: W tensorflow/x.cc:1] chatter W\\n")
    os.write(2, b"E0000 00:00:1700000000.123456    42 gpu.cc:1] a real error\\n")
    print("worth reading", file=sys.stderr)
    if "raise" in sys.argv:
        raise RuntimeError("broken install")
print("after", os.environ["TF_CPP_MIN_LOG_LEVEL"], file=sys.stderr)
"""


def run(program, *arguments, **environment):
    inherited = {
        name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"
    }
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env={**inherited, **environment},
        check=False,
    ).stderr


def test_chatter_is_dropped_and_errors_and_the_rest_are_passed_on():
    error, reading, after = run(PROGRAM).splitlines()
    assert error.endswith("gpu.cc:1] a real error")
    assert (reading, after) == ("worth reading", "after 2")


@pytest.mark.parametrize(
    ("level", "chatter", "errors"), [("0", "IEW", 1), ("1", "EW", 1), ("2", "", 1), ("3", "", 0)]
)
def test_a_user_who_sets_the_level_gets_what_it_lets_through(level, chatter, errors):
    output = run(PROGRAM, TF_CPP_MIN_LOG_LEVEL=level)
    assert [f"chatter {letter}" in output for letter in "IEW"] == [x in chatter for x in "IEW"]
    assert output.count("a real error") == errors
    assert output.endswith(f"worth reading\nafter {level}\n")


def test_an_error_inside_is_seen():
    text = run(PROGRAM, "raise")
    assert "worth reading" in text
    assert "RuntimeError: broken install" in text


def test_tensorflow_loads_and_runs_without_a_word():
    """Its own processes, as the lines come once a process and before any setting is read."""
    program = """
from estimator_bridge.quiet_start import quietly, settle_devices
with quietly():
    import tensorflow as tf
    settle_devices()
tf.constant(1) + 1
"""
    assert run(program) == ""
    loud = run(program, TF_CPP_MIN_LOG_LEVEL="0")
    assert "port.cc" in loud or "cpu_feature_guard" in loud


def test_any_program_that_imports_the_library_first_is_quiet():
    program = """
import estimator_bridge
import tensorflow as tf
print(int(tf.constant(1) + 1))
"""
    assert run(program) == ""
    loud = run(program, TF_CPP_MIN_LOG_LEVEL="0")
    assert "port.cc" in loud or "cpu_feature_guard" in loud


def test_nothing_is_hidden_where_tensorflow_may_kill_its_process(monkeypatch, tmp_path):
    """Without AVX its last line is the only one that says why."""
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(quiet_start, "_CPU_INFO", str(file))
    monkeypatch.setattr(quiet_start.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(quiet_start.importlib.metadata, "version", _no_such_package)
    file.write_text("processor : 0\nflags : fpu sse sse2 avx avx2\n")
    assert not quiet_start._may_abort()
    file.write_text("processor : 0\nflags : fpu sse sse2\n")
    assert quiet_start._may_abort()
    file.unlink()
    assert not quiet_start._may_abort()
    monkeypatch.setattr(quiet_start.importlib.metadata, "version", lambda name: "2.20.0")
    assert quiet_start._may_abort()


def _no_such_package(name):
    raise quiet_start.importlib.metadata.PackageNotFoundError(name)
