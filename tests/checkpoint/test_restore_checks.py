import os

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.checkpoint import (
    check_checkpoint,
    describe_variables,
    explained_read_errors,
    load_variable,
)
from estimator_bridge.errors import CheckpointError

v1 = tf.compat.v1
SHAPES = {"dense/kernel": [3, 2], "dense/bias": [2], "empty": [0]}


def make_variables(shapes, dtype=tf.float32):
    return [v1.get_variable(name, shape, dtype) for name, shape in shapes.items()]


def save(prefix, shapes=None, extra=lambda: None):
    with tf.Graph().as_default(), v1.Session() as session:
        make_variables(shapes or SHAPES)
        extra()
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(prefix))


def expect(shapes, dtype=tf.float32):
    return {name: (shape, dtype) for name, shape in shapes.items()}


@pytest.fixture
def path(tmp_path):
    return save(tmp_path / "model.ckpt")


def edit(path, change):
    """Changes the bytes of a file; None removes it."""
    with open(path, "rb") as file:
        changed = change(file.read())
    os.remove(path)
    if changed is not None:
        with open(path, "wb") as file:
            file.write(changed)


def test_a_whole_checkpoint_of_the_model_passes(path):
    check_checkpoint(path, expect(SHAPES))
    check_checkpoint(path, expect({"dense/bias": [2]}))  # the rest is not the model's
    check_checkpoint(path, {"dense/bias": (tf.TensorShape([None]), np.float32)})
    check_checkpoint(path, {})


def test_any_type_that_variables_have_passes(tmp_path):
    def others():
        for dtype in (tf.bfloat16, tf.float16, tf.bool, tf.int64, tf.uint8):
            zeros = v1.zeros_initializer()
            v1.get_variable(f"of_{dtype.name}", [3], dtype, zeros)
        v1.get_variable("text", [], tf.string, v1.constant_initializer("words"))

    path = save(tmp_path / "model.ckpt", extra=others)
    check_checkpoint(path, {**expect(SHAPES), "of_bfloat16": ([3], tf.bfloat16)})
    check_checkpoint(path, {"text": ([], tf.string)})


def test_a_partitioned_variable_is_described_as_it_is_saved(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("table", [6, 2], partitioner=v1.fixed_size_partitioner(2))
        described = describe_variables(v1.global_variables())
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    assert described == {"table": ([6, 2], tf.float32)}
    check_checkpoint(path, described)


def test_variables_are_described_by_name():
    with tf.Graph().as_default():
        described = describe_variables(make_variables(SHAPES))
    assert described == {k: (tf.TensorShape(v), tf.float32) for k, v in SHAPES.items()}


DAMAGE = {
    "data cut off": (".data-00000-of-00001", lambda b: b[:-1], "31 bytes, but .* need 32"),
    "data emptied": (".data-00000-of-00001", lambda b: b"", "0 bytes, but .* need 32"),
    "index of noise": (".index", lambda b: os.urandom(len(b)), "not an sstable"),
    "index cut off": (".index", lambda b: b[: len(b) // 2], "not an sstable"),
    "index emptied": (".index", lambda b: b"", "too short"),
    "index changed": (".index", lambda b: b[:30] + bytes([b[30] ^ 1]) + b[31:], "cannot be parsed"),
}


@pytest.mark.parametrize(("ending", "change", "reason"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_seen_before_anything_is_restored(path, ending, change, reason):
    edit(path + ending, change)
    with pytest.raises(CheckpointError, match=f"{path} is damaged: .*{reason}.* delete them"):
        check_checkpoint(path, expect(SHAPES))


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
@settings(deadline=None, max_examples=25)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_file_may_be_cut_off_anywhere(tmp_path_factory, ending, share):
    path = save(tmp_path_factory.mktemp("cut") / "model.ckpt")
    edit(path + ending, lambda b: b[: int(share * len(b))])
    with pytest.raises(CheckpointError, match="is damaged"):
        check_checkpoint(path, expect(SHAPES))


@pytest.mark.parametrize("ending", [".index", ".data-00000-of-00001"])
def test_a_missing_file_is_named(path, ending):
    edit(path + ending, lambda _: None)
    with pytest.raises(
        CheckpointError, match=rf"no whole checkpoint {path}: missing .*\{ending[:6]}"
    ):
        check_checkpoint(path, expect(SHAPES))


def test_damage_that_only_a_restore_sees_is_explained(path):
    edit(path + ".data-00000-of-00001", lambda b: bytes([b[0] ^ 1]) + b[1:])
    check_checkpoint(path, expect(SHAPES))
    with tf.Graph().as_default(), v1.Session() as session:
        make_variables(SHAPES)
        message = rf"{path} is damaged: .*Checksum does not match"
        with pytest.raises(CheckpointError, match=message), explained_read_errors(path):
            v1.train.Saver().restore(session, path)
    with pytest.raises(CheckpointError, match="Checksum does not match"):
        load_variable(path, "dense/bias")


def test_data_that_is_cut_off_under_a_restore_is_explained(path):
    with tf.Graph().as_default(), v1.Session() as session:
        make_variables(SHAPES)
        saver = v1.train.Saver()
        edit(path + ".data-00000-of-00001", lambda b: b[:-1])
        with (
            pytest.raises(CheckpointError, match=r"is damaged: .*Read less"),
            explained_read_errors(path),
        ):
            saver.restore(session, path)


def test_reading_lets_other_errors_pass(path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine"), explained_read_errors(path):
        raise tf.errors.InvalidArgumentError(None, None, "mine")


def test_a_foreign_checkpoint_is_told_by_what_is_missing(path):
    names = {f"conv_{i}/kernel": [1] for i in range(7)}
    with pytest.raises(CheckpointError) as error:
        check_checkpoint(path, expect(names))
    message = str(error.value)
    assert message.startswith(f"Key conv_0/kernel not found in checkpoint {path}")
    assert "lacks 7 of the model's 7" in message
    assert "conv_4/kernel and 2 more" in message
    assert "has instead dense/bias, dense/kernel, empty." in message


def test_a_variable_that_the_model_gained_is_named(path):
    with pytest.raises(CheckpointError, match=r"lacks 1 .* 4 variables \(new\).*instead nothing"):
        check_checkpoint(path, expect({**SHAPES, "new": []}))


@pytest.mark.parametrize(
    ("expected", "difference"),
    [
        (expect({"dense/bias": [3]}), r"float32 \(3,\) in the model and float32 \(2,\)"),
        (expect({"dense/bias": [2, 1]}), r"float32 \(2, 1\) in the model and float32 \(2,\)"),
        (expect({"dense/bias": [2]}, tf.float64), r"float64 \(2,\) in the model and float32"),
    ],
)
def test_a_changed_shape_or_type_is_an_invalid_argument_too(path, expected, difference):
    message = f"^Restoring from checkpoint failed.*a mismatch between.*dense/bias is {difference}"
    for kind in (CheckpointError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match=message):
            check_checkpoint(path, expected)
