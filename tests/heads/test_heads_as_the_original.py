"""Heads give the numbers, names and signatures of the real tf.estimator's."""

from __future__ import annotations

import json
from pathlib import Path

import estimator_bridge as eb
from estimator_bridge import heads

import numpy as np  # isort: skip
import pytest
import tensorflow as tf
import tf_keras
from goldens.heads.head_cases import ONLY_V2, SHARED, observed

GOLDENS = json.loads((Path(__file__).parents[1] / "goldens" / "heads" / "heads.json").read_text())
V1 = {
    "version": "V1",
    "sum": tf.compat.v1.losses.Reduction.SUM,
    "optimizer": tf.compat.v1.train.GradientDescentOptimizer,
    "binary": heads.binary_classification_head,
    "multi_class": heads.multi_class_head,
    "regression": heads.regression_head,
    "logistic": heads.logistic_regression_head,
    "poisson": heads.poisson_regression_head,
}
V2 = {
    "version": "V2",
    "sum": tf_keras.losses.Reduction.SUM,
    "optimizer": tf_keras.optimizers.legacy.SGD,
    "binary": eb.BinaryClassHead,
    "multi_class": eb.MultiClassHead,
    "multi_label": eb.MultiLabelHead,
    "regression": eb.RegressionHead,
    "logistic": eb.LogisticRegressionHead,
    "poisson": eb.PoissonRegressionHead,
    "multi": eb.MultiHead,
}


def assert_same(ours, theirs, where):
    assert type(ours) is type(theirs), where
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), where
        for key, value in theirs.items():
            assert_same(ours[key], value, f"{where} {key}")
    elif isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            assert_same(a, b, f"{where} {i}")
    elif isinstance(theirs, float):
        # A unit in the last place or two: TensorFlow's kernels change between releases.
        np.testing.assert_allclose(ours, theirs, rtol=3e-7, atol=1e-7, err_msg=where)
    else:
        assert ours == theirs, where


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("version", [V1, V2], ids=["V1", "V2"])
def test_head(version, name):
    results = observed(SHARED[name], version)
    assert_same(results, GOLDENS[f"{version['version']} {name}"], name)


@pytest.mark.parametrize("name", ONLY_V2)
def test_head_of_v2(name):
    assert_same(observed(ONLY_V2[name], V2), GOLDENS[f"V2 {name}"], name)


def test_every_golden_is_compared():
    compared = {f"{v} {name}" for v in ("V1", "V2") for name in SHARED}
    assert set(GOLDENS) == compared | {f"V2 {name}" for name in ONLY_V2}
