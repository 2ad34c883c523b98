"""Each error is also of the type that the original raises there."""

import json
import os
from pathlib import Path

import pytest
import tensorflow as tf
from goldens.errors import error_cases
from goldens.errors.estimators import ones

import estimator_bridge as eb

HERE = Path(__file__).resolve().parent.parent / "goldens" / "errors"

ORIGINAL = json.loads((HERE / "errors.json").read_text())["raised"]

# The original went on with what is an error here.
GOES_ON_THERE = {
    "export_another_shape",  # a resource variable took a value of any shape
    "restore_another_shape",
    "returned_for_another_mode",
    "tpu_unknown_pipeline",
}
# Of another type, for a reason.
DIFFERS = {
    "classifier_of_labels_of_letters": ValueError,  # said before the step; there a kernel's
    "restore_empty_data": tf.errors.DataLossError,  # OutOfRangeError would end a training's input
    "tpu_nothing_returned": ValueError,  # there None had no attribute
}


@pytest.fixture(scope="module")
def raised():
    """Returns the errors raised here, by case."""
    eb.install()
    before = tf.compat.v1.logging.get_verbosity()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    try:
        return error_cases.provoke(tf.compat.v1.estimator)
    finally:
        tf.compat.v1.logging.set_verbosity(before)


def test_the_cases_are_those_that_were_recorded():
    assert list(ORIGINAL) == error_cases.Cases.names()
    assert {name for name, kinds in ORIGINAL.items() if kinds is None} == GOES_ON_THERE


@pytest.mark.parametrize("name", error_cases.Cases.names())
def test_errors_have_the_originals_types(raised, name):
    if name in DIFFERS:
        assert DIFFERS[name].__name__ in raised[name]
        assert not set(ORIGINAL[name]) <= set(raised[name])
    else:
        assert set(ORIGINAL[name] or ["ValueError"]) <= set(raised[name])


def test_a_variable_that_is_not_there_is_caught_as_programs_do(tmp_path):
    cases = error_cases.Cases(tf.compat.v1.estimator)
    with pytest.raises(tf.errors.NotFoundError, match="Key v not found in checkpoint") as caught:
        cases.make(folder=cases.trained).get_variable_value("v")
    assert isinstance(caught.value, eb.errors.CheckpointError)
    assert isinstance(caught.value, ValueError)
    assert caught.value.message in str(caught.value)
    assert caught.value.error_code == tf.errors.NOT_FOUND
    path = os.path.join(tmp_path, "file")
    Path(path).touch()
    with pytest.raises(tf.errors.FailedPreconditionError, match="must be a folder") as caught:
        cases.make(folder=path).train(ones)
    assert isinstance(caught.value, NotADirectoryError)
