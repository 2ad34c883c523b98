"""The numbers are those of the real tf.estimator under MirroredStrategy on two cores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from goldens.distributed import distributed_program as program

import estimator_bridge as eb

GOLDENS = Path(__file__).parents[2] / "goldens" / "distributed"


CASES = [(optimizer, program.train_input) for optimizer in program.OPTIMIZERS]
CASES += [(optimizer, program.fixed_train_input) for optimizer in ("momentum", "rmsprop")]


@pytest.mark.parametrize(("optimizer", "make_input"), CASES)
def test_same_weights_losses_and_metrics_as_the_original(optimizer, make_input, tmp_path):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    estimator = program.build(eb, optimizer, strategy, str(tmp_path))
    estimator.train(make_input, steps=program.STEPS)
    seen = program.observe(estimator, estimator.evaluate(program.test_input))
    with np.load(GOLDENS / "golden.npz") as golden:
        expected = {
            key[len(optimizer) + 1 :]: value
            for key, value in golden.items()
            if key.startswith(optimizer + "/")
        }
    assert sorted(seen) == sorted(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(seen[key], value, rtol=1e-5, atol=1e-5, err_msg=key)
