"""A model_fn can be tried out without a graph."""

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, ModeKeys, TPUEstimatorSpec


def test_a_spec_of_eager_tensors():
    predictions = {"a": tf.constant([1.0])}
    for kind in (EstimatorSpec, TPUEstimatorSpec):
        spec = kind(ModeKeys.PREDICT, predictions, loss=tf.constant([2.0]))
        assert float(spec.loss) == 2.0
        assert spec.export_outputs["serving_default"].outputs == predictions
