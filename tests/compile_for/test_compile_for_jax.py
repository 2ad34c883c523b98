"""The programs that JAX runs, compiled by the real libtpu, on a machine without a TPU."""

from __future__ import annotations

import linecache
import pathlib

import pytest
import tensorflow as tf
from test_compile_for_tpu import TRAIN, good, input_fn, model, run
from tpu_compiler import needs_libtpu

from estimator_bridge.compile_for.compiler import shared_compiler
from estimator_bridge.testing import ModelCheckError, compile_for_tpu

pytestmark = needs_libtpu
pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")
v1 = tf.compat.v1
HERE = pathlib.Path(__file__).name
WEIGHTS = 4 * (12 * 16 + 16 + 16 + 1)


@pytest.fixture(scope="module", autouse=True)
def compiler():
    yield
    shared_compiler(None, 1800.0).close()  # 0.7 GB that other tests may need


def test_the_program_of_all_replicas_has_one_sum_and_updates_the_weights_in_place():
    report = compile_for_tpu(
        good, input_fn, "v5e-8", train_batch_size=16, modes=[TRAIN], on_jax=True
    )
    (step,) = report.compiled
    assert (step.device, step.replicas, step.examples) == ("TPU v5 lite", 8, 16)
    assert step.block_steps == 2  # TPUConfig's iterations_per_loop
    assert (step.all_reduces.asked, step.all_reduces.count) == (4, 1)
    assert step.all_reduces.bytes == WEIGHTS + 4  # and the loss, which ends the steps if it is NaN
    assert step.memory.aliases >= 2 * WEIGHTS  # with their momentum
    assert step.loops_counted_once == 1
    lines = {cost.op: cost.line for cost in step.costs}
    of_hidden = next(line for op, line in lines.items() if op.startswith("gradients/hidden/"))
    assert 'name="hidden"' in of_hidden
    assert "with the batches of 2 step(s) a call" in report.table()


def test_a_chip_without_tensorflow_gets_a_block_of_convolutions():
    def convolving(features, labels, mode):
        def before(x):
            return v1.layers.flatten(v1.layers.conv1d(x[:, :, None], 4, 3))

        return model(features, labels, mode, before)

    report = compile_for_tpu(
        convolving, input_fn, "tpu7x-8", train_batch_size=16, modes=[TRAIN], on_jax=True
    )
    assert [(step.replicas, step.block_steps) for step in report.compiled] == [(8, 2)]


def test_a_step_that_jax_cannot_run_is_named_with_its_line():
    def python(x):
        return tf.ensure_shape(v1.py_func(abs, [x], tf.float32), x.shape)

    def printing(features, labels, mode):
        return model(features, labels, mode, python)

    with pytest.raises(ModelCheckError, match="training for v5e-1") as caught:
        compile_for_tpu(printing, input_fn, "v5e-1", modes=[TRAIN], on_jax=True)
    line = python.__code__.co_firstlineno + 1
    assert linecache.getline(__file__, line).strip() in str(caught.value)


def test_a_program_runs_on_jax_once_its_steps_are_compiled(tmp_path):
    done = run(tmp_path, "--compile-for", "v2-8", "--runtime", "jax", "program.py")
    assert done.returncode == 0, done.stderr
    assert "== training for v2-8: compiled" in done.stdout
    assert "== evaluation for v2-8: compiled" in done.stdout
    assert "program    JAX's, with the batches of" in done.stdout
    assert (tmp_path / "model" / "model.ckpt-5.index").exists()
    assert "evaluated, with jax" in done.stdout
