"""The differences between TF1's tf and tf.compat.v1."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from estimator_bridge.legacy.api_modules import api_module_v1
from estimator_bridge.legacy.tf1.module_proxy import Changes, ModuleProxy

__all__ = ["MISSING", "VERSION", "namespace_of_tf1", "tensorflow_1"]

# Programs compare it with "1.11" and "2". TF1's last release satisfies all such checks.
VERSION = "1.15.5"


def _version() -> str:
    return VERSION


def _compat_v1() -> ModuleType:
    return tensorflow_1()


def _flags() -> ModuleType:
    from estimator_bridge.legacy.tf1.flags import tf_flags

    return tf_flags()


_OWN: dict[str, str | Callable[[], Any]] = {
    "tensorflow.VERSION": _version,
    "tensorflow.__version__": _version,
    "tensorflow.version.VERSION": _version,
    "tensorflow.app.flags": _flags,
    "tensorflow.contrib": "tensorflow.contrib",
    "tensorflow.data.experimental.CheckpointInputPipelineHook": (
        "estimator_bridge.training.CheckpointInputPipelineHook"
    ),
    "tensorflow.estimator": api_module_v1,
    "tensorflow.flags": _flags,
    "tensorflow.python": "tensorflow.python",
    "tensorflow.core": "tensorflow.core",
    "tensorflow.compat.v1": _compat_v1,
    **{
        f"tensorflow.tpu.{name}": f"estimator_bridge.tpu.{name}"
        for name in (
            "batch_parallel",
            "initialize_system",
            "replicate",
            "rewrite",
            "shard",
            "shutdown_system",
        )
    },
    **{
        f"tensorflow.tpu.experimental.{name}": f"estimator_bridge.tpu_embedding_parameters.{name}"
        for name in (
            "AdagradParameters",
            "AdamParameters",
            "StochasticGradientDescentParameters",
        )
    },
    "tensorflow.config.experimental_list_devices": (
        "estimator_bridge.legacy.tf1.removed_functions.experimental_list_devices"
    ),
}

_REMOVED = "was removed from TensorFlow."
# By full name: advice for names that TF1 had and TensorFlow no longer has.
MISSING = {
    "tensorflow.lite.experimental.nn": (
        f"{_REMOVED} Use tf.lite.TFLiteConverter, which converts Keras' LSTM and RNN layers."
    ),
    **dict.fromkeys(
        (
            "tensorflow.data.experimental.StatsAggregator",
            "tensorflow.data.experimental.StatsOptions",
            "tensorflow.data.experimental.bytes_produced_stats",
            "tensorflow.data.experimental.latency_stats",
        ),
        f"{_REMOVED} Use tf.profiler.experimental to see what an input pipeline costs.",
    ),
    "tensorflow.data.experimental.MapVectorizationOptions": (
        f"{_REMOVED} Leave it out, and call map() after batch()."
    ),
}


@functools.cache
def tensorflow_1() -> ModuleProxy:
    """Returns TF1's tf, one instance for the whole process."""
    import tensorflow.compat.v1

    real = sys.modules["tensorflow.compat.v1"]
    proxy = ModuleProxy("tensorflow", real, Changes(_OWN, MISSING, _wraps, namespace_of_tf1))
    import tensorflow as tf

    proxy.__file__, proxy.__path__ = tf.__file__, tf.__path__
    return proxy


def namespace_of_tf1(name: str) -> ModuleType:
    """Returns TF1's tf or one of its namespaces, by its full name: "tensorflow.train"."""
    namespace: Any = tensorflow_1()
    for part in name.split(".")[1:]:
        namespace = getattr(namespace, part)
    return namespace


def _wraps(name: str, module: ModuleType) -> bool:
    """Returns whether a module is a public API namespace; Keras' namespaces are not wrapped."""
    del name
    return module.__name__.startswith(("tensorflow._api.", "tensorflow.compat.v1."))
