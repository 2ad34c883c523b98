"""TPUEstimator's errors for wrong arguments, before anything heavy starts."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
X = np.ones([16, 3], np.float32)
Y = np.zeros([16], np.int64)


def batches(params):
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


def model_fn(features, labels, mode, params):
    logits = v1.layers.dense(features["x"], 2)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
    return eb.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step())
    )


def estimator(model=model_fn, batch=16, tpu_config=None, **kwargs):
    config = eb.tpu.RunConfig(master="emulated:2", tpu_config=tpu_config)
    sizes = {"train_batch_size": batch, "eval_batch_size": batch, "predict_batch_size": batch}
    return eb.tpu.TPUEstimator(model, config=config, **{**sizes, **kwargs})


def test_batch_size_that_replicas_cannot_share():
    with pytest.raises(ValueError, match=r"train batch size 15 must be divisible by number of "):
        estimator(batch=15).train(batches, steps=1)
    with pytest.raises(
        ValueError, match=r"divisible by number of replicas 2\. Set it to 14 or 16\."
    ):
        estimator(batch=15).evaluate(batches, steps=1)
    with pytest.raises(ValueError, match=r"divisible by number of replicas 2\. Set it to 2\."):
        estimator(batch=1).train(batches, steps=1)


def test_steps_that_a_loop_cannot_count_to():
    with pytest.raises(TypeError, match=r"Train steps must be int, got .*12\.3"):
        estimator().train(batches, steps=12.3)
    with pytest.raises(ValueError, match="Must specify max_steps > 0, given: 0"):
        estimator().train(batches, max_steps=0)
    with pytest.raises(ValueError, match="Eval steps must be positive, got -321"):
        estimator().evaluate(batches, steps=-321)


def test_batch_size_is_asked_for_by_the_called_mode_alone():
    with pytest.raises(ValueError, match="eval_batch_size in TPUEstimator constructor cannot be"):
        estimator(eval_batch_size=None).evaluate(batches, steps=1)
    est = estimator(train_batch_size=None)
    with pytest.raises(ValueError, match=r"`train_batch_size` cannot be `None`"):
        est.train(batches, steps=1)


def test_unknown_batch_dimension_names_the_tensor_and_drop_remainder():
    def dynamic(params):
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(params["batch_size"])

    with pytest.raises(ValueError, match="must have static shape") as error:
        estimator().train(dynamic, steps=1)
    assert "features['x']" in str(error.value)
    assert "drop_remainder=True" in str(error.value)


def test_other_unknown_dimension_names_the_tensor_and_set_shape():
    def dynamic(params):
        def forget(features, label):
            features["x"] = v1.placeholder_with_default(features["x"], [None])
            return features, label

        data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).map(forget)
        return data.batch(params["batch_size"], drop_remainder=True)

    with pytest.raises(ValueError, match="must have static shape") as error:
        estimator().train(dynamic, steps=1)
    assert "features['x']" in str(error.value)
    assert "set_shape" in str(error.value)


def test_input_fn_without_params():
    with pytest.raises(ValueError, match=r"does not include params argument"):
        estimator().train(lambda: None, steps=1)


@pytest.mark.parametrize(
    ("result", "kind", "says"),
    [
        (None, TypeError, "returned None"),
        (object(), TypeError, "tf.data.Dataset"),
        ((X, Y, X), ValueError, "len 2 tuple"),
    ],
)
def test_input_fn_that_returns_no_data(result, kind, says):
    with pytest.raises(kind, match=says):
        estimator().train(lambda params: result, steps=1)


def test_model_fn_that_returns_nothing():
    with pytest.raises(ValueError, match="Is a return statement missing"):
        estimator(lambda features, labels, mode, params: None).train(batches, steps=1)


def test_optimizer_that_is_not_cross_shard():
    def alone(features, labels, mode, params):
        loss = tf.reduce_sum(v1.layers.dense(features["x"], 1))
        train_op = v1.train.AdamOptimizer().minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    with pytest.raises(ValueError, match="CrossShardOptimizer must be used for model training"):
        estimator(alone).train(batches, steps=1)


@pytest.mark.parametrize("key", ["batch_size", "context"])
def test_reserved_params(key):
    with pytest.raises(ValueError, match=f"{key!r} is set by TPUEstimator"):
        estimator(params={key: 1})


def test_num_shards_that_is_not_the_number_of_cores():
    with pytest.raises(ValueError, match=r"num_replicas should be \(2\), got \(8\)"):
        estimator(tpu_config=eb.tpu.TPUConfig(num_shards=8))


def test_config_that_is_no_tpu_config():
    with pytest.raises(ValueError, match=r"tpu\.RunConfig"):
        eb.tpu.TPUEstimator(model_fn, config=eb.RunConfig(), train_batch_size=8)


def test_scalar_metric_tensor_is_named():
    def scalar(features, labels, mode, params):
        loss = tf.reduce_sum(v1.layers.dense(features["x"], 1))
        metrics = (lambda total: {"total": v1.metrics.mean(total)}, {"total": loss})
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics)

    with pytest.raises(ValueError, match=r"preserve batch size dimension.*eval_metrics.*'total'"):
        estimator(scalar).evaluate(batches, steps=1)


def of_unknown_shape(tensor):
    return v1.placeholder_with_default(tensor, None, name="unknown")


def test_loss_of_unknown_shape():
    def unknown(features, labels, mode, params):
        loss = of_unknown_shape(tf.reduce_sum(v1.layers.dense(features["x"], 1)))
        train_op = v1.tpu.CrossShardOptimizer(v1.train.AdamOptimizer()).minimize(
            loss, v1.train.get_global_step()
        )
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    for call in (estimator(unknown).train, estimator(unknown).evaluate):
        with pytest.raises(ValueError, match=r"loss has dynamic shape .*unknown:0.*tf\.reshape"):
            call(batches, steps=1)


@pytest.mark.parametrize("of", [lambda x: tf.boolean_mask(x, x[:, 0] > 0), of_unknown_shape])
def test_metric_tensors_and_predictions_of_unknown_shape(of):
    def unknown(features, labels, mode, params):
        tensor = of(features["x"])
        metrics = (lambda x: {"mean": v1.metrics.mean(x)}, {"x": tensor})
        return eb.tpu.TPUEstimatorSpec(
            mode, {"x": tensor}, loss=tf.reduce_sum(features["x"]), eval_metrics=metrics
        )

    with pytest.raises(ValueError, match=r"eval_metrics.*'x'.* has dynamic shape .should be sta"):
        estimator(unknown).evaluate(batches, steps=1)
    with pytest.raises(ValueError, match=r"predictions\['x'\] has dynamic shape .should be static"):
        next(estimator(unknown).predict(batches))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda x: tf.raw_ops.OutfeedEnqueue(input=x), r"OutfeedEnqueue.*host_call="),
        (lambda x: tf.raw_ops.InfeedDequeue(dtype="float32", shape=[8]), r"InfeedDequeue.*input_f"),
        (
            lambda x: tf.raw_ops.TPUEmbeddingActivations(
                embedding_variable=x[0, 0], sliced_activations=x, table_id=0, lookup_id=0
            ),
            r"TPUEmbeddingActivations.*tf\.nn\.embedding_lookup",
        ),
    ],
    ids=["outfeed", "infeed", "embedding"],
)
def test_what_only_the_original_did_on_a_tpu_is_refused_by_name(make, says):
    def wrong(features, labels, mode, params):
        make(features["x"])
        return model_fn(features, labels, mode, params)

    with pytest.raises(NotImplementedError, match=says) as error:
        estimator(wrong).train(batches, steps=1)
    assert "test_tpu_bad_input.py" in str(error.value)


def test_no_tpu_and_none_named():
    with pytest.raises(eb.errors.AcceleratorNotFoundError, match="emulated:8"):
        eb.tpu.TPUEstimator(model_fn, config=eb.tpu.RunConfig(), train_batch_size=8)
