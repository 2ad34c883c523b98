"""Prepares TensorFlow for the program when it is first imported."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

from estimator_bridge.base.quiet_start import settle_devices
from estimator_bridge.base.tpu_presence import CORES

__all__ = ["prepare_tensorflow", "split_the_cpu", "start_graphs"]


def prepare_tensorflow(graphs: bool, is_tf1: bool = False) -> None:
    """Installs this library in TensorFlow, and sets the behavior that the program expects.

    Args:
      graphs: whether the program's top level gets graphs, sessions, reference variables and
        `Dimension`, as in TF1. Graphs of an Estimator do not depend on it.
      is_tf1: whether the program is of TF1's dialect, whose layers have the names of TF1.
    """
    from estimator_bridge.legacy.install import install
    from estimator_bridge.legacy.running.bridges.batch_norm import ignore_moments_mask
    from estimator_bridge.legacy.running.bridges.dimensions import accept_old_dimensions
    from estimator_bridge.legacy.running.bridges.sessions import (
        emulate_feeds,
        run_sessions_on_cores,
    )
    from estimator_bridge.legacy.running.bridges.summaries import write_without_tensorboard
    from estimator_bridge.legacy.running.log_filter import filter_startup_messages
    from estimator_bridge.legacy.running.missing_tf1_names import explain_names_of_tf1

    install()
    run_sessions_on_cores()
    emulate_feeds()
    write_without_tensorboard()
    ignore_moments_mask()
    accept_old_dimensions()
    explain_names_of_tf1()
    if graphs:
        start_graphs(is_tf1)
    filter_startup_messages()
    settle_devices()
    if os.environ.get(CORES):
        split_the_cpu(int(os.environ[CORES]))
    # The program will not be rewritten, so deprecation warnings are of no use.
    warnings.filterwarnings("ignore", message=r"`tf\.\S+` is deprecated")


def start_graphs(is_tf1: bool = False) -> None:
    """Gives the program's top level TF1's behavior, also if TensorFlow is loaded already.

    Args:
      is_tf1: whether the program is of TF1's dialect.
    """
    import tensorflow.compat.v1 as tf1

    from estimator_bridge.legacy.tf1.layer_names import name_layers_as_tf1
    from estimator_bridge.legacy.tf1.private_modules import bind_v1_names
    from estimator_bridge.legacy.tf1.variable_truth import make_variables_truthy

    with _without_warnings(tf1.logging):
        tf1.disable_v2_behavior()
    bind_v1_names()
    if is_tf1:
        name_layers_as_tf1()
    make_variables_truthy()


def split_the_cpu(cores: int) -> None:
    """Creates the emulated cores, which must happen before the program's first operation.

    It must not list the devices first, as `estimator_bridge.runtime.emulate_cores` does.
    """
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * cores
    )


@contextlib.contextmanager
def _without_warnings(tf_logging: Any) -> Iterator[None]:
    before = tf_logging.get_verbosity()
    tf_logging.set_verbosity(tf_logging.ERROR)
    try:
        yield
    finally:
        tf_logging.set_verbosity(before)
