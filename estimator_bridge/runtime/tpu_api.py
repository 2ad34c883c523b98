"""Makes TensorFlow's API for TPUs know the devices that replace a TPU's cores."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.base.tensorflow_namespaces import tensorflow_namespaces
from estimator_bridge.runtime.core_systems import shut_down_cores, start_cores
from estimator_bridge.runtime.local_clusters import LocalClusterResolver
from estimator_bridge.runtime.strategy_on_cores import STRATEGIES, local_cluster
from estimator_bridge.tensorflow_private.cores import runs_on_cores

__all__ = ["make_tpu_api_know_cores"]


def make_tpu_api_know_cores() -> None:
    """Lets programs start cores, and make a TPUStrategy on them, by TensorFlow's own names.

    For a TPU's resolver each name does what it did. A repeated call changes nothing.
    """
    for _, namespace in tensorflow_namespaces():
        tensorflow: Any = namespace
        _replace(tensorflow.config, "experimental_connect_to_cluster", _connect)
        _replace(tensorflow.tpu.experimental, "initialize_tpu_system", _initialize)
        _replace(tensorflow.tpu.experimental, "shutdown_tpu_system", _shut_down)
    for of_tensorflow, on_cores in STRATEGIES.items():
        # The class itself stays, so that isinstance() and earlier imports of it still hold.
        of_tensorflow.__new__ = _maker(of_tensorflow, on_cores)
    tf.tpu.experimental.embedding.TPUEmbedding.__new__ = _make_embedding


def _connect(
    own: Callable[..., Any], cluster_spec_or_resolver: Any = None, *args: Any, **kwargs: Any
) -> Any:
    if isinstance(cluster_spec_or_resolver, LocalClusterResolver):
        return None  # the devices are in this process
    return own(cluster_spec_or_resolver, *args, **kwargs)


def _initialize(own: Callable[..., Any], cluster_resolver: Any = None) -> Any:
    cluster = local_cluster(cluster_resolver)
    return start_cores(cluster) if cluster else own(cluster_resolver)


def _shut_down(own: Callable[..., Any], cluster_resolver: Any = None) -> Any:
    cluster = local_cluster(cluster_resolver)
    return shut_down_cores(cluster) if cluster else own(cluster_resolver)


def _replace(namespace: Any, name: str, function: Callable[..., Any]) -> None:
    own = getattr(namespace, name)
    if hasattr(own, "of_tensorflow"):
        return

    @functools.wraps(own)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        return function(own, *args, **kwargs)

    replacement.of_tensorflow = own  # type: ignore[attr-defined]
    setattr(namespace, name, replacement)


def _maker(of_tensorflow: Any, on_cores: Any) -> Callable[..., Any]:
    def make(cls: Any, tpu_cluster_resolver: Any = None, *args: Any, **kwargs: Any) -> Any:
        del args, kwargs  # __init__ gets them too
        cluster = local_cluster(tpu_cluster_resolver)
        if cluster is None or issubclass(cls, on_cores):
            return object.__new__(cls)
        if cls is not of_tensorflow:
            raise NotImplementedError(
                f"{cls.__name__} is derived from {of_tensorflow.__name__}, and got the resolver of "
                f"{cluster.description()}. Only TensorFlow's own TPUStrategy runs there: pass the "
                "resolver to tf.distribute.TPUStrategy, or run on a TPU."
            )
        return object.__new__(on_cores)

    return make


def _make_embedding(cls: Any, *args: Any, **kwargs: Any) -> Any:
    del args, kwargs
    if runs_on_cores(tf.distribute.get_strategy()):
        raise NotImplementedError(
            "TPUEmbedding keeps tables in the embedding hardware of a TPU, which the cores of this "
            "TPUStrategy lack. Make the tables with tf_keras.layers.Embedding in the strategy's "
            "scope, make TPUEmbedding outside of it, or run on a TPU."
        )
    return object.__new__(cls)
