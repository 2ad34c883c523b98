"""Starts this machine's TPU in a process of its own first, where that may end the process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from estimator_bridge.base.tpu_presence import attached_chip
from estimator_bridge.base.tpu_vm import USES_PJRT, is_set
from estimator_bridge.errors import AcceleratorNotFoundError

__all__ = ["check_local_start"]

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
import tensorflow as tf
cluster = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.tpu.experimental.initialize_tpu_system(cluster)
"""


def check_local_start(limit_secs: float, program: str = _PROGRAM) -> None:
    """Checks that starting the TPU of this machine does not end the process.

    libtpu ends it with a segmentation fault where PJRT is asked for and there is no chip. A machine
    that shows its chips is not probed: a TPU belongs to one process at a time.

    Args:
      limit_secs: the probe is ended after this time, and proves nothing then.
      program: starts the TPU.

    Raises:
      AcceleratorNotFoundError: the probe's process was ended.
    """
    if not is_set(os.environ, USES_PJRT) or attached_chip(os.environ) is not None:
        return
    try:
        code = subprocess.run(
            [sys.executable, "-c", program, json.dumps(sys.path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_secs,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return
    if code < 0:
        raise AcceleratorNotFoundError(
            f"This machine shows no TPU chip, and {USES_PJRT} is set: TensorFlow ended a process "
            f"that started the TPU, by {signal.Signals(-code).name}. Without a TPU, run: unset "
            f"{USES_PJRT} TF_PLUGGABLE_DEVICE_LIBRARY_PATH. With one, pass its device files "
            "(/dev/accel*, /dev/vfio) to the container."
        )
