import functools

import pytest
import tensorflow as tf
from running import descent, linear, squared

from estimator_bridge.graph import trace_graph
from estimator_bridge.model import (
    ModeKeys,
    Model,
)

v1 = tf.compat.v1


@pytest.mark.parametrize("part", ["inference", "loss", "metrics", "predictions", "optimizer"])
def test_an_argument_of_unknown_name_is_an_error_at_once(part):
    parts = {"inference": linear, part: lambda feature: feature}
    with pytest.raises(ValueError, match=f"{part} is .*'feature'.* any of .*params, config"):
        Model(**parts)
    with pytest.raises(TypeError, match=f"{part} must be a function, got int: 3"):
        Model(**{**parts, part: 3})


@pytest.mark.parametrize("mode", [ModeKeys.TRAIN, ModeKeys.EVAL])
def test_a_part_that_the_mode_needs_is_named(mode):
    with pytest.raises(ValueError, match=r"has no loss, which mode '.*' needs.*loss=lambda"):
        Model(linear).model_fn(None, None, mode)
    if mode == ModeKeys.TRAIN:
        with pytest.raises(ValueError, match="has no optimizer, which mode 'train' needs"):
            Model(linear, squared).tpu_model_fn(None, None, mode)
    with pytest.raises(ValueError, match="got 'test'"):
        Model(linear).model_fn(None, None, "test")


def test_what_a_part_returns_is_checked():
    def build(model, mode=ModeKeys.TRAIN):
        with tf.Graph().as_default():
            model.model_fn(tf.zeros([2, 3]), tf.zeros([2, 1]), mode)

    with pytest.raises(TypeError, match="inference returned None"):
        build(Model(lambda features: None), ModeKeys.PREDICT)
    with pytest.raises(TypeError, match="optimizer returned None"):
        build(Model(linear, squared, optimizer=lambda: None))
    with pytest.raises(TypeError, match=r"a tf_keras optimizer .*got builtins.str: 'adam'"):
        build(Model(linear, squared, optimizer=lambda: "adam"))
    with pytest.raises(ValueError, match="Loss must be scalar"):
        build(Model(linear, lambda labels, outputs: labels - outputs, optimizer=descent))
    with pytest.raises(ValueError, match="made no trainable variable"):
        build(Model(lambda features: features[:, :1], squared, optimizer=descent))


def test_keras_3_optimizers_are_refused():
    keras = pytest.importorskip("keras")
    assert keras.__version__.startswith("3")
    model = Model(linear, squared, optimizer=lambda: keras.optimizers.SGD(0.1))
    with tf.Graph().as_default(), pytest.raises(TypeError, match=r"got keras\.src.*SGD"):
        model.model_fn(tf.zeros([2, 3]), tf.zeros([2, 1]), ModeKeys.TRAIN)


def _tpu_build(model, features, labels=None, mode=ModeKeys.EVAL):
    with trace_graph(shards=2):
        v1.train.get_or_create_global_step()
        return model.tpu_model_fn(features(), labels and labels(), mode)


def _unknown(*shape):
    return lambda: v1.placeholder(tf.float32, shape, name="batch")


def test_dynamic_shapes_are_named_in_tpu_mode_alone():
    model = Model(linear, squared, optimizer=descent)
    with pytest.raises(ValueError, match=r"features .* static shape.*batch:0.*drop_remainder"):
        _tpu_build(model, _unknown(None, 3), _unknown(2, 1))
    named = Model(lambda features: linear(features["x"]), squared)
    with pytest.raises(ValueError, match=r"features\['x'\] is .*batch:0"):
        _tpu_build(named, lambda: {"x": _unknown(None, 3)()}, _unknown(2, 1))
    with pytest.raises(ValueError, match=r"The labels to the model .* must have static shape"):
        _tpu_build(model, _unknown(2, 3), _unknown(None, 1))
    masked = Model(lambda features: tf.boolean_mask(features, features[:, 0] > 0))
    with pytest.raises(ValueError, match=r"outputs has dynamic shape \(should be static\)"):
        _tpu_build(masked, _unknown(2, 3), mode=ModeKeys.PREDICT)
    late = Model(linear, predictions=lambda outputs: tf.boolean_mask(outputs, outputs > 0))
    with pytest.raises(ValueError, match="predictions has dynamic shape"):
        _tpu_build(late, _unknown(2, 3), mode=ModeKeys.PREDICT)
    with tf.Graph().as_default():  # TPUEstimator(use_tpu=False)
        assert model.tpu_model_fn(_unknown(None, 3)(), None, ModeKeys.PREDICT).predictions


def test_sparse_features_are_named_in_tpu_mode():
    sparse = functools.partial(tf.sparse.from_dense, [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match=r"features is a SparseTensor.*tf\.sparse\.to_dense"):
        _tpu_build(Model(linear), sparse, mode=ModeKeys.PREDICT)


def test_a_scalar_cannot_be_gathered():
    model = Model(
        lambda features: {"out": linear(features), "scale": tf.reduce_sum(features)},
        lambda labels, outputs: squared(labels, outputs["out"]),
        lambda outputs: {"mean": v1.metrics.mean(outputs["out"])},
    )
    with pytest.raises(ValueError, match=r"preserve batch size.*outputs\['scale'\]"):
        _tpu_build(model, _unknown(2, 3), _unknown(2, 1))
