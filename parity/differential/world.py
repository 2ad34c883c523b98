"""The environment of a case: TensorFlow with Estimator, the mode, and quiet logs.

The worker calls ``enter`` before it imports the first case.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import random
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its kernels differ between releases

import numpy as np

from parity import environment

__all__ = ["CORES", "IS_ORIGINAL", "V2_OFF", "begin_case", "case", "enter"]

IS_ORIGINAL = environment.IS_ORIGINAL
V2_OFF = False
CORES = 0


def enter(mode: str, cores: int) -> None:
    """Prepares this process for the cases of one mode.

    Args:
      mode: 'v2on', 'v2off' or 'cores'.
      cores: the emulated cores that mode 'cores' is about; the original has none.
    """
    global V2_OFF, CORES  # noqa: PLW0603 - one process is in one mode, from here to its end
    V2_OFF = mode == "v2off"
    if not IS_ORIGINAL:
        import estimator_bridge

        if mode == "cores":
            CORES = cores
            estimator_bridge.runtime.emulate_cores(cores)
        estimator_bridge.install()
    tf = importlib.import_module("tensorflow.compat.v1")
    if V2_OFF:
        tf.disable_v2_behavior()
    tf.get_logger().setLevel(logging.ERROR)
    logging.getLogger("estimator_bridge").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    np.set_printoptions(precision=6)


def begin_case() -> bool:
    """Makes the process as it was at its start: each case is a program of its own.

    The original's predictions keep their graph as the thread's default one while they are open. An
    open one that nobody holds any more ends here.

    Returns:
      Whether it could be done; otherwise the remaining cases need another process.
    """
    gc.collect()
    np.random.seed(0)
    random.seed(0)
    try:
        importlib.import_module("tensorflow.compat.v1").reset_default_graph()
    except AssertionError:  # within a graph that an earlier case has left
        return False
    return True


def case(function=None, **facts):
    """Marks a case; ``catalogue.Case`` says what the facts are, and reads them from the source."""
    return function or (lambda function: function)
