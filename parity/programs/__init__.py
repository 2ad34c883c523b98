"""Programs in the style of TF1, each one file that does not import this library.

A program uses ``import tensorflow.compat.v1 as tf`` and ``tf.estimator``. Under TensorFlow 2.15
and 1.15 that is the original; here ``estimator_bridge.install()`` has been called before the
program is imported (``parity/environment.py``). A program has

- ``make_estimator(model_dir, **settings)``: its Estimator or TPUEstimator; the settings are
  arguments of ``RunConfig``;
- ``train_input``, ``eval_input``, ``predict_input``: its input functions;
- ``serving_input``: its serving input receiver function; ``SERVED`` is what to feed it;
- ``train_and_evaluate(model_dir)``, in one: the outer loop with exporters;
- ``UNORDERED``, in some: arguments of ``make_estimator`` that make it the race that it was in the
  programs of its kind.

Nothing is left to chance: data come from a seeded numpy generator and are never shuffled, the
graph's seed is set, each random op has an op seed of its own, and where TF1 had no order between a
read and a write of a variable, the program says the order.
"""

from __future__ import annotations

__all__ = ["CONTRIB", "EVERY", "NOT_IN_1X", "PROGRAMS", "RANDOM"]

PROGRAMS = (
    "mlp",
    "mlp_tpu",
    "conv",
    "lstm",
    "encoder",
    "resnet",
    "embedding_bag",
    "regression",
    "dropout",
    "partitioned",
    "warm_start",
    "init_from_checkpoint",
    "gan",
    "keras_model",
    "accumulation",
    "feature_columns",
)

# They use tf.contrib: the original is TensorFlow 1.15.5.
CONTRIB = ("contrib_image", "contrib_text")
EVERY = PROGRAMS + CONTRIB

# TensorFlow 1.15.5 cannot run them: it lacks tf.keras.optimizers.legacy, and tf.compat.v2 below
# tf.compat.v1; and its tf.metrics.mean_per_class_accuracy fails ("Must have updates.shape = ...").
NOT_IN_1X = frozenset({"keras_model", "regression", "resnet"})

# Their training steps draw random numbers. The original restarted its random streams when a run
# was resumed; here they continue. So these are compared with an uninterrupted run.
RANDOM = frozenset({"dropout", "gan"})
