"""Probes of Keras 2 (tf_keras)."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import tensorflow as tf
import tf_keras

from estimator_bridge import tensorflow_private as private
from tooling.tensorflow_probes.registry import check, new_graph, probe

v1 = tf.compat.v1
_train = v1.train


def _model() -> Any:
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@probe("keras_seed_source")
def _seeds() -> None:
    check(isinstance(private.keras_seed_source(), threading.local), "it is none of a thread's")


@probe("keras_mask", "set_keras_mask")
def _mask() -> None:
    with new_graph():
        tensor, mask = tf.zeros([2, 3]), tf.constant([True])
        private.set_keras_mask(tensor, mask)
        check(private.keras_mask(tensor) is mask, "another mask")
        out = tf_keras.layers.Embedding(4, 2, mask_zero=True)(tf.zeros([1, 3], tf.int32))
        check(private.keras_mask(out).dtype == tf.bool, "a layer's mask is elsewhere")


@probe("is_graph_network", "compile_arguments", "compiled_metrics", "training_metrics",
        "metric_update", "make_train_function", "track", "hypers", "was_initialized",
        "keras_optimizer_name", "counts_steps_itself", "set_model_inputs",
        "add_sample_weights", "make_function_of_mode", "model_targets")  # fmt: skip
def _keras_model() -> None:
    with new_graph():
        model = _model()
        check(private.is_graph_network(model), "a Sequential has no known inputs")
        check(private.compile_arguments(model)["loss"] == "mse", "arguments of compile")
        check([m.name for m in private.compiled_metrics(model)] == ["mae"], "metrics of compile")
        x = tf.zeros([4, 2])
        private.track(model, _train.get_or_create_global_step(), "step_of_the_probe")
        functional = tf_keras.Sequential([tf_keras.layers.Dense(1)])
        private.set_model_inputs(functional, x)
        inputs = tf_keras.Input(tensor=x)
        copy = tf_keras.Model(inputs, tf_keras.layers.Dense(1)(inputs))
        copy.compile(tf_keras.optimizers.legacy.SGD(0.5), "mse", metrics=["mae"],
                     target_tensors=[tf.zeros([4, 1])])  # fmt: skip
        private.add_sample_weights(copy, [tf.ones([4])])
        private.make_train_function(copy)
        check(copy.train_function.updates_op is not None, "the training step")
        check(private.make_function_of_mode(copy, "train") is not None, "the step of a mode")
        for mode in ("eval", "infer"):
            check(private.make_function_of_mode(copy, mode) is None, "a step that trains nothing")
        check(len(private.model_targets(copy)) == 1, "the targets of compile")
        updates = [private.metric_update(metric) for metric in private.training_metrics(copy)]
        check(updates and all(update is not None for update in updates), "metrics' updates")
        check("learning_rate" in private.hypers(copy.optimizer), "the learning rate")
        check(private.keras_optimizer_name(copy.optimizer) == "SGD", "an optimizer's name")
        private.counts_steps_itself(tf_keras.optimizers.legacy.SGD())
        check(not private.was_initialized(SimpleNamespace()), "an object counts as initialized")
