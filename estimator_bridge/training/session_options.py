"""Applies the settings of RunConfig's session_config to the TF2 runtime.

A TF1 session had its own threads and its own graph optimizer. TF2 has one of each per process, so
these settings affect everything that the process runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["apply_session_config"]

_configs: set[bytes] = set()

# Defaults of every session, or settings of a cluster's session: ignoring them changes nothing.
_HARMLESS = {
    "allow_soft_placement",  # TF2's default; False is the proto's default, and means nothing
    "cluster_def",
    "device_filters",
    "isolate_session_state",
    "log_device_placement",
}
_HARMLESS_REWRITES = {"meta_optimizer_iterations"}


def apply_session_config(config: Any) -> None:
    """Applies a ConfigProto to this process, each content once.

    Threads and devices can be set only before TensorFlow has started. One warning names the
    settings that come too late or have no counterpart in TF2.

    Args:
      config: a ``tf.compat.v1.ConfigProto``, or None.
    """
    if config is None or config.SerializeToString(deterministic=True) in _configs:
        return
    _configs.add(config.SerializeToString(deterministic=True))
    with eager_mode():
        rejections = _Rejections()
        _apply_threads(config, rejections)
        _apply_devices(config, rejections)
        _apply_graph_options(config.graph_options, rejections)
        if config.log_device_placement:
            tf.debugging.set_log_device_placement(True)
    rejections.none_of(
        config,
        _HARMLESS
        | {"device_count", "gpu_options", "graph_options"}
        | {"inter_op_parallelism_threads", "intra_op_parallelism_threads"},
    )
    rejections.warn()


class _Rejections:
    """Collects the settings that cannot be applied, each with the reason."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def attempt(self, name: str, set_it: Callable[[], Any]) -> None:
        """Applies a setting that must precede TensorFlow's start."""
        try:
            set_it()
        except RuntimeError:
            self._reasons.append(
                f"{name} (TensorFlow has started already: make the Estimator before anything "
                "that computes)"
            )

    def none_of(self, message: Any, names: set[str], prefix: str = "") -> None:
        """Collects the fields of a message that are set and unknown."""
        for field, _ in message.ListFields():
            if field.name not in names:
                self._reasons.append(f"{prefix}{field.name} (no counterpart in TF2)")

    def warn(self) -> None:
        """Logs all collected settings in one warning."""
        if self._reasons:
            logging.warning(
                "RunConfig's session_config has settings without effect: %s.",
                "; ".join(self._reasons),
            )


def _apply_threads(config: Any, rejections: _Rejections) -> None:
    for name, getter, setter in (
        (
            "intra_op_parallelism_threads",
            tf.config.threading.get_intra_op_parallelism_threads,
            tf.config.threading.set_intra_op_parallelism_threads,
        ),
        (
            "inter_op_parallelism_threads",
            tf.config.threading.get_inter_op_parallelism_threads,
            tf.config.threading.set_inter_op_parallelism_threads,
        ),
    ):
        value = getattr(config, name)
        if value and getter() != value:
            rejections.attempt(f"{name}: {value}", lambda s=setter, n=value: s(n))  # type: ignore[misc]


def _apply_devices(config: Any, rejections: _Rejections) -> None:
    gpus = tf.config.list_physical_devices("GPU")
    options = config.gpu_options
    visible = gpus
    if options.visible_device_list:
        numbers = [int(number) for number in options.visible_device_list.split(",")]
        visible = [gpus[number] for number in numbers if number < len(gpus)]
    if "GPU" in config.device_count:
        visible = visible[: config.device_count["GPU"]]
    if visible != gpus:
        rejections.attempt(
            "device_count and gpu_options.visible_device_list",
            lambda: tf.config.set_visible_devices(visible, "GPU"),
        )
    if options.allow_growth:
        for gpu in visible:
            rejections.attempt(
                "gpu_options.allow_growth",
                lambda gpu=gpu: tf.config.experimental.set_memory_growth(gpu, True),  # type: ignore[misc]
            )
    if gpus:  # programs set a share of GPU memory on any machine; without GPUs nothing is lost
        rejections.none_of(options, {"allow_growth", "visible_device_list"}, "gpu_options.")


def _apply_graph_options(options: Any, rejections: _Rejections) -> None:
    optimizer = options.optimizer_options
    if optimizer.global_jit_level > 0:  # ON_1 and ON_2; OFF is -1
        tf.config.optimizer.set_jit("autoclustering")
    rewrites = {}
    unknown = set()
    for field, value in options.rewrite_options.ListFields():
        if field.name in _REWRITES:
            rewrites[field.name] = _is_on(field, value)
        elif field.name not in _HARMLESS_REWRITES:
            unknown.add(field.name)
    if rewrites:
        tf.config.optimizer.set_experimental_options(rewrites)
    names = {field.name for field, _ in options.rewrite_options.ListFields()} - unknown
    rejections.none_of(options.rewrite_options, names, "graph_options.rewrite_options.")
    rejections.none_of(optimizer, {"global_jit_level"}, "graph_options.optimizer_options.")
    rejections.none_of(options, {"optimizer_options", "rewrite_options"}, "graph_options.")


# The names of tf.config.optimizer.set_experimental_options, which are those of the proto.
_REWRITES = {
    "arithmetic_optimization",
    "auto_mixed_precision",
    "constant_folding",
    "debug_stripper",
    "dependency_optimization",
    "disable_meta_optimizer",
    "disable_model_pruning",
    "function_optimization",
    "implementation_selector",
    "layout_optimizer",
    "loop_optimization",
    "min_graph_nodes",
    "pin_to_host_optimization",
    "remapping",
    "scoped_allocator_optimization",
    "shape_optimization",
}


def _is_on(field: Any, value: Any) -> Any:
    """Converts a rewriter's Toggle (DEFAULT, ON, OFF, AGGRESSIVE, ...) to TF2's bool."""
    if field.enum_type is None:
        return value
    return field.enum_type.values_by_number[value].name != "OFF"
