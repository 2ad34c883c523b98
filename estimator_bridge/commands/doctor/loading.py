"""Loads TensorFlow in a process of its own, which may be ended or held up by what it loads."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Loaded", "load_tensorflow"]

LIMIT_SECS = 120.0
_MARK = "estimator-bridge doctor: "
_PROGRAM = f"""
import json, sys
sys.path[:] = json.loads(sys.argv[1])
import tensorflow as tf
devices = [(d.device_type, d.name) for d in tf.config.list_physical_devices()]
try:
    from tensorflow.python.framework import kernels
    has_tpus = bool(kernels.get_registered_kernels_for_op("_ConfigureDistributedTPU").kernel)
except (ImportError, AttributeError):
    has_tpus = None
print("\\n" + {_MARK!r} + json.dumps([devices, has_tpus, tf.__file__]), flush=True)
"""


class Loaded(NamedTuple):
    """What came of loading TensorFlow.

    Attributes:
        devices: the devices that it lists, as (type, name).
        problem: what kept it from being loaded.
        has_tpus: whether it has the kernels of TPUs; None if that cannot be seen.
        path: its file.
    """

    devices: list[tuple[str, str]]
    problem: str | None = None
    has_tpus: bool | None = None
    path: str = ""


def load_tensorflow(environ: Mapping[str, str], limit_secs: float = LIMIT_SECS) -> Loaded:
    """Imports TensorFlow in a child process, and lists its devices.

    Args:
        environ: the child's environment variables.
        limit_secs: the child is ended after this time.
    """
    try:
        process = subprocess.run(
            [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
            env={**environ, "TF_CPP_MIN_LOG_LEVEL": environ.get("TF_CPP_MIN_LOG_LEVEL", "2")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_secs,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Loaded(
            [],
            f"TensorFlow was not loaded within {limit_secs:g} s. tensorflow-tpu waits for Google "
            "Cloud's metadata server: elsewhere, set TPU_SKIP_MDS_QUERY=1.",
        )
    for line in reversed(process.stdout.splitlines()):
        if line.startswith(_MARK) and process.returncode == 0:
            devices, has_tpus, path = json.loads(line[len(_MARK) :])
            return Loaded([(kind, name) for kind, name in devices], None, has_tpus, path)
    return Loaded([], f"TensorFlow cannot be loaded: {_how_it_ended(process)}")


def _how_it_ended(process: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in process.stderr.splitlines() if line.strip()]
    last = lines[-1] if lines else "no message"
    if process.returncode >= 0:
        return last
    # A library's own message stands before the stack of the signal.
    message = next((line for line in lines if "not available" in line or "FATAL" in line), last)
    try:
        name = signal.Signals(-process.returncode).name
    except ValueError:
        name = f"signal {-process.returncode}"
    return f"the process ended by {name}: {message}"
