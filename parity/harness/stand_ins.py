"""Stand-ins for private helpers of the original with which many tests inspect results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge import ModeKeys
from estimator_bridge.training.metrics import write_results

__all__ = [
    "DEFAULT_SERVING_KEY",
    "EXPORT_TAG_MAP",
    "WRAP_INPUT_FN_INTO_WHILE_LOOP",
    "assert_no_hooks",
    "assert_simple_summaries",
    "initialize_variables",
    "load_global_step_from_checkpoint_dir",
    "write_dict_to_summary",
]

EXPORT_TAG_MAP = {
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
    ModeKeys.TRAIN: [tf.compat.v1.saved_model.tag_constants.TRAINING],
    ModeKeys.EVAL: ["eval"],
}
# The original's choice between two ways to feed a TPU; here there is only one. Tests set it.
WRAP_INPUT_FN_INTO_WHILE_LOOP = False
DEFAULT_SERVING_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def load_global_step_from_checkpoint_dir(directory: str) -> int:
    """Returns the global step of a folder's newest checkpoint; 0 if there is none."""
    latest = tf.train.latest_checkpoint(directory)
    return int(tf.train.load_variable(latest, "global_step")) if latest else 0


def write_dict_to_summary(
    output_dir: str, dictionary: Mapping[str, Any], current_global_step: int
) -> None:
    """Writes the event file of an evaluation with these results."""
    write_results(output_dir, {**dictionary, "global_step": current_global_step}, None)


def initialize_variables(
    test_case: tf.test.TestCase, scaffold: tf.compat.v1.train.Scaffold
) -> None:
    """Initializes the default session's variables and tables as a scaffold does."""
    scaffold.finalize()
    session = tf.compat.v1.get_default_session()
    for operation in (scaffold.init_op, scaffold.local_init_op):
        session.run(operation)
    for name in (scaffold.ready_for_local_init_op, scaffold.ready_op):
        test_case.assertEqual(0, session.run(name).size, "variables are not initialized")
    test_case.assertIsNotNone(scaffold.saver)


def assert_simple_summaries(
    test_case: tf.test.TestCase, expected: Mapping[str, float], serialized: bytes, tol: float = 1e-6
) -> None:
    """Compares a Summary's scalars with a test's expected values, by tag."""
    summary = tf.compat.v1.Summary.FromString(serialized)
    values = {value.tag: value.simple_value for value in summary.value}
    test_case.assertAllClose(dict(expected), values, rtol=tol, atol=tol)


def assert_no_hooks(test_case: tf.test.TestCase, spec: Any) -> None:
    """Checks that a spec has no training hooks."""
    test_case.assertEmpty(spec.training_chief_hooks)
    test_case.assertEmpty(spec.training_hooks)
