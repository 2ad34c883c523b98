"""Probes of Keras 2 (tf_keras)."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_bridge.tensorflow_private.keras import (
    add_sample_weights,
    compile_arguments,
    compiled_metrics,
    counts_steps_itself,
    hypers,
    is_graph_network,
    keras_mask,
    keras_optimizer_name,
    keras_seed_source,
    make_function_of_mode,
    make_train_function,
    metric_update,
    model_targets,
    set_keras_mask,
    set_model_inputs,
    track,
    training_metrics,
    was_initialized,
)
from tooling.tensorflow_probes.registry import check, new_graph, probe

v1 = tf.compat.v1
_train = v1.train


def _model() -> Any:
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@probe("keras_seed_source")
def _seeds() -> None:
    check(isinstance(keras_seed_source(), threading.local), "it is none of a thread's")


@probe("keras_mask", "set_keras_mask")
def _mask() -> None:
    with new_graph():
        tensor, mask = tf.zeros([2, 3]), tf.constant([True])
        set_keras_mask(tensor, mask)
        check(keras_mask(tensor) is mask, "another mask")
        out = tf_keras.layers.Embedding(4, 2, mask_zero=True)(tf.zeros([1, 3], tf.int32))
        check(keras_mask(out).dtype == tf.bool, "a layer's mask is elsewhere")


@probe("is_graph_network", "compile_arguments", "compiled_metrics", "training_metrics",
        "metric_update", "make_train_function", "track", "hypers", "was_initialized",
        "keras_optimizer_name", "counts_steps_itself", "set_model_inputs",
        "add_sample_weights", "make_function_of_mode", "model_targets")  # fmt: skip
def _keras_model() -> None:
    with new_graph():
        model = _model()
        check(is_graph_network(model), "a Sequential has no known inputs")
        check(compile_arguments(model)["loss"] == "mse", "arguments of compile")
        check([m.name for m in compiled_metrics(model)] == ["mae"], "metrics of compile")
        x = tf.zeros([4, 2])
        track(model, _train.get_or_create_global_step(), "step_of_the_probe")
        functional = tf_keras.Sequential([tf_keras.layers.Dense(1)])
        set_model_inputs(functional, x)
        inputs = tf_keras.Input(tensor=x)
        copy = tf_keras.Model(inputs, tf_keras.layers.Dense(1)(inputs))
        copy.compile(tf_keras.optimizers.legacy.SGD(0.5), "mse", metrics=["mae"],
                     target_tensors=[tf.zeros([4, 1])])  # fmt: skip
        add_sample_weights(copy, [tf.ones([4])])
        make_train_function(copy)
        check(copy.train_function.updates_op is not None, "the training step")
        check(make_function_of_mode(copy, "train") is not None, "the step of a mode")
        for mode in ("eval", "infer"):
            check(make_function_of_mode(copy, mode) is None, "a step that trains nothing")
        check(len(model_targets(copy)) == 1, "the targets of compile")
        updates = [metric_update(metric) for metric in training_metrics(copy)]
        check(updates and all(update is not None for update in updates), "metrics' updates")
        check("learning_rate" in hypers(copy.optimizer), "the learning rate")
        check(keras_optimizer_name(copy.optimizer) == "SGD", "an optimizer's name")
        counts_steps_itself(tf_keras.optimizers.legacy.SGD())
        check(not was_initialized(SimpleNamespace()), "an object counts as initialized")
