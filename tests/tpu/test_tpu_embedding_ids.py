"""TPU embeddings of sparse ids on emulated cores: numbers of TensorFlow 2.15.1, and by hand."""

from __future__ import annotations

import json
import types
from pathlib import Path

import numpy as np
import pytest
from golden_values import same
from goldens.tpu_embeddings.embedding_cases import CASES, RATE, run_case

import estimator_bridge as eb
from estimator_bridge.tpu_embedding_parameters import StochasticGradientDescentParameters as SGD

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
tpu = eb.tpu
GOLDEN = Path(__file__).parents[1] / "goldens/tpu_embeddings/tpu_embeddings.json"
RECORDED = json.loads(GOLDEN.read_text(encoding="utf-8"))
HERE = types.SimpleNamespace(estimator=eb, tpu=tpu)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_originals_numbers_on_two_cores(name):
    """What the original learns without a TPU: both train by gradient descent at one rate."""
    same(run_case(name, HERE, SGD(RATE), cores=2), RECORDED[name], name)


def test_without_cores():
    name = "weighted sqrtn"
    same(run_case(name, HERE, SGD(RATE)), RECORDED[name], name)
