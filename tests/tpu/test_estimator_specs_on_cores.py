"""An EstimatorSpec in TPU mode: each example once, and the numbers of one core."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.heads.v1_factories import multi_class_head, multi_head
from estimator_bridge.training import ProgressHook

import tensorflow as tf  # isort: skip
import tf_keras  # isort: skip

v1 = tf.compat.v1
Reduction = v1.losses.Reduction
COUNT = 75  # four batches of 16, and 11, which no number of cores divides
RNG = np.random.RandomState(0)
X = RNG.randn(COUNT, 3).astype(np.float32)
Y = (X.sum(1) + 2 * RNG.randn(COUNT) > 0).astype(np.int64)
W = RNG.randint(0, 3, COUNT).astype(np.float32)


def batches(params=None, count=COUNT):
    rows = ({"x": X[:count], "w": W[:count]}, Y[:count])
    return tf.data.Dataset.from_tensor_slices(rows).batch(16)


def training(params):
    return batches(params, 64).repeat().map(_static)


def _static(features, labels):
    return {
        "x": tf.ensure_shape(features["x"], [16, 3]),
        "w": tf.ensure_shape(features["w"], 16),
    }, (tf.ensure_shape(labels, 16))


def on_cores(cores, model_fn, folder=None, **settings):
    config = eb.tpu.RunConfig(master=f"emulated:{cores}", tf_random_seed=1)
    sizes = {"train_batch_size": 16, "eval_batch_size": 16, "predict_batch_size": 16}
    return eb.tpu.TPUEstimator(model_fn, folder, config, **sizes, **settings)


def logits_of(x, units=1):
    return v1.layers.dense(x, units, kernel_initializer=v1.constant_initializer(0.3))


def variable(name, shape=(), **settings):
    return v1.get_variable(
        name, shape, initializer=v1.zeros_initializer(), trainable=False,
        collections=[v1.GraphKeys.LOCAL_VARIABLES], **settings,
    )  # fmt: skip


def metrics_of(labels, p, losses, weights, x):
    """Sums, and what is none: a maximum, a list that grows, an order of examples."""
    m, c = v1.metrics, tf.cast(p > 0.5, tf.int64)
    auc, mean = tf_keras.metrics.AUC(name="kauc"), tf_keras.metrics.Mean(name="kmean")
    auc.update_state(labels, p, sample_weight=weights)
    mean.update_state(p)
    biggest, last, decayed = variable("biggest"), variable("last"), variable("decayed")
    of_examples = tf.foldl(lambda a, v: 0.9 * a + v, p, initializer=decayed.read_value())
    return {
        "mean": m.mean(losses, weights),
        "accuracy": m.accuracy(labels, c),
        "auc": m.auc(labels, p),
        "precision": m.precision(labels, c),
        "recall": m.recall(labels, c, weights=weights),
        "mean_iou": m.mean_iou(labels, c, 2),
        "per_class": m.mean_per_class_accuracy(labels, c, 2),
        "mean_tensor": m.mean_tensor(tf.one_hot(labels, 2)[0] * 0.0 + 1.0),
        "true_negatives": m.true_negatives(labels, c),
        "at_thresholds": m.precision_at_thresholds(labels, p, [0.2, 0.7]),
        "rmse": m.root_mean_squared_error(tf.cast(labels, tf.float32), p),
        "sensitivity": m.sensitivity_at_specificity(labels, p, 0.7),
        "percentage": m.percentage_below(p, 0.5),
        "keras_auc": auc,
        "keras_mean": mean,
        "biggest": (biggest, v1.assign(biggest, tf.maximum(biggest, tf.reduce_max(p)))),
        "last": (last, v1.assign(last, p[-1])),
        "decayed": (decayed, v1.assign(decayed, of_examples)),
        "masked": m.mean(tf.boolean_mask(p, labels > 0)),  # of a shape that no TPU has
        "python": m.mean(tf.numpy_function(lambda a: 2 * a, [p], tf.float32)),
        "constant": (tf.constant(3.0), tf.no_op()),
    }


def model_fn(features, labels, mode):
    p = tf.sigmoid(logits_of(features["x"])[:, 0])
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, {"p": p, "x": features["x"], "s": tf.strings.as_string(p)})
    losses = v1.losses.log_loss(labels, p, reduction="none")
    loss = v1.losses.log_loss(labels, p)
    metrics = None
    if mode == eb.ModeKeys.EVAL:
        metrics = metrics_of(labels, p, losses, features["w"], features["x"])
    train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@pytest.fixture(scope="module")
def one_core():
    estimator = eb.Estimator(model_fn)
    return estimator.evaluate(batches), list(estimator.predict(batches))


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_metrics_and_predictions_are_those_of_one_core(cores, one_core):
    expected, predicted = one_core
    estimator = on_cores(cores, model_fn)
    for _ in range(2):  # metrics begin anew
        results = estimator.evaluate(batches)
        assert results.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(results[name], value, rtol=1e-5, err_msg=name)
    rows = list(estimator.predict(batches))
    np.testing.assert_array_equal([row["x"] for row in rows], X)
    np.testing.assert_allclose([r["p"] for r in rows], [r["p"] for r in predicted], rtol=1e-6)
    assert [row["s"] for row in rows][:3] == [row["s"] for row in predicted][:3]


def test_predictions_that_are_one_tensor():
    def one(features, labels, mode):
        return eb.EstimatorSpec(mode, predictions=features["x"])

    np.testing.assert_array_equal(list(on_cores(2, one).predict(batches)), X)


def test_hooks_and_scaffold_of_the_spec_are_used():
    class CountsEnds(v1.train.SessionRunHook):
        def __init__(self):
            self.ends = 0

        def end(self, session):
            self.ends += 1

    hook = CountsEnds()

    def model(features, labels, mode):
        fields = {"predictions": features["x"], "loss": tf.reduce_mean(features["x"])}
        scaffold = v1.train.Scaffold()
        return eb.EstimatorSpec(
            mode, **fields, scaffold=scaffold, evaluation_hooks=[hook], prediction_hooks=[hook]
        )

    estimator = on_cores(2, model)
    estimator.evaluate(batches)
    list(estimator.predict(batches))
    assert hook.ends == 2


def test_a_hook_that_would_count_examples_twice_is_refused():
    class Fetch(v1.train.SessionRunHook):
        def before_run(self, run_context):
            return v1.train.SessionRunArgs("accuracy/update_op:0")

    with pytest.raises(NotImplementedError, match=r"accuracy/.*would count the examples twice"):
        on_cores(2, model_fn).evaluate(batches, hooks=[Fetch()])


def test_a_metric_that_sums_over_the_replicas_itself_is_refused():
    def model(features, labels, mode):
        total = variable("total")
        update = v1.assign(total, eb.tpu.cross_replica_sum(total + 1.0))
        metrics = {"total": (total, update)}
        return eb.EstimatorSpec(mode, loss=tf.constant(1.0), eval_metric_ops=metrics)

    with pytest.raises(NotImplementedError, match=r"exchange between replicas.*eval_metrics="):
        on_cores(2, model).evaluate(batches)


def weights_after(estimator):
    estimator.train(training, steps=4)
    names = sorted(estimator.get_variable_names())
    return {name: estimator.get_variable_value(name) for name in names}


def head_model(make_head, optimizer, units, names=()):
    def model(features, labels, mode):
        logits = logits_of(features["x"], units)
        kernel = v1.trainable_variables()[0]
        head = make_head()
        arguments = {"labels": dict.fromkeys(names, labels) if names else labels}
        if mode != eb.ModeKeys.PREDICT:
            arguments["regularization_losses"] = [0.01 * tf.nn.l2_loss(kernel)]
        if mode == eb.ModeKeys.TRAIN:
            arguments["optimizer"] = optimizer()
            if isinstance(head, eb.Head):
                arguments["trainable_variables"] = v1.trainable_variables()
        if mode == eb.ModeKeys.PREDICT:
            arguments.pop("labels")
        return head.create_estimator_spec(features=features, mode=mode, logits=logits, **arguments)

    return model


def legacy():
    adam = tf_keras.optimizers.legacy.Adam(0.1)
    adam.iterations = v1.train.get_global_step()
    return adam


def sgd():
    return v1.train.GradientDescentOptimizer(0.05)


HEADS = {
    **{
        f"v1 {name}": (lambda r=name: multi_class_head(3, "w", loss_reduction=r), sgd, 3)
        for name in (Reduction.SUM, Reduction.MEAN, Reduction.SUM_OVER_BATCH_SIZE)
    },
    "v1 nonzero": (
        lambda: multi_class_head(3, "w", loss_reduction=Reduction.SUM_BY_NONZERO_WEIGHTS),
        lambda: v1.train.AdamOptimizer(0.1),
        3,
    ),
    "v1 without weights": (lambda: multi_class_head(3), sgd, 3),
    "v2 mean": (lambda: eb.MultiClassHead(3, "w"), legacy, 3),
    "v2 sum": (
        lambda: eb.BinaryClassHead("w", loss_reduction="sum"),
        lambda: tf_keras.optimizers.SGD(0.05),
        1,
    ),
    "v1 several": (
        lambda: multi_head([multi_class_head(3, "w", name=n, loss_reduction=Reduction.SUM)
                            for n in ("a", "b")]),
        sgd, 6, ("a", "b"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HEADS)
def test_heads_train_and_evaluate_as_on_one_core(name):
    """Each reduction of weighed losses, with a regularization, by an optimizer as it is."""
    model = head_model(*HEADS[name])
    one = eb.Estimator(model, config=eb.RunConfig(tf_random_seed=1))
    expected = weights_after(one)
    results, predicted = one.evaluate(lambda: batches(count=64)), list(one.predict(batches))
    for cores in (2, 8):
        estimator = on_cores(cores, model)
        weights = weights_after(estimator)
        assert weights.keys() == expected.keys()
        for key, value in expected.items():
            np.testing.assert_allclose(weights[key], value, atol=1e-5, err_msg=key)
        of_cores = estimator.evaluate(lambda params: batches(count=64))
        assert of_cores.keys() == results.keys()
        for key, value in results.items():
            np.testing.assert_allclose(of_cores[key], value, rtol=1e-5, err_msg=key)
        assert len(list(estimator.predict(batches))) == len(predicted) == COUNT


def test_the_loss_of_training_is_that_of_the_global_batch():
    """As summaries have it, of a sum too."""
    for reduction in (Reduction.SUM, Reduction.SUM_BY_NONZERO_WEIGHTS):
        model = head_model(lambda r=reduction: multi_class_head(3, "w", loss_reduction=r), sgd, 3)
        losses = [reported_loss(on_cores(2, model)), reported_loss(eb.Estimator(model))]
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def reported_loss(estimator):
    reports = []
    estimator.train(training, steps=1, hooks=[ProgressHook(reports.append)])
    return reports[-1].loss


def test_a_wrapped_optimizer_of_another_reduction_is_warned_of(caplog):
    def optimizer():
        return eb.tpu.CrossShardOptimizer(sgd())  # takes the mean

    def head():
        return multi_class_head(3, loss_reduction=Reduction.SUM)

    on_cores(2, head_model(head, optimizer, 3)).train(training, steps=1)
    assert "1/2 of those of the global batch on one core" in caplog.text


def test_heads_of_sums_and_of_means_cannot_be_joined():
    def head():
        kinds = {"a": Reduction.SUM, "b": Reduction.MEAN}
        return multi_head([multi_class_head(3, name=n, loss_reduction=r) for n, r in kinds.items()])

    with pytest.raises(ValueError, match="loss_reduction must be the same for different heads"):
        on_cores(2, head_model(head, sgd, 6, ("a", "b"))).train(training, steps=1)


def test_an_estimator_spec_whose_optimizer_adds_up_nothing_is_refused():
    def model(features, labels, mode):
        loss = tf.reduce_mean(logits_of(features["x"]))
        return eb.EstimatorSpec(
            mode, loss=loss, train_op=sgd().minimize(loss, v1.train.get_global_step())
        )

    with pytest.raises(ValueError, match="CrossShardOptimizer must be used for model training"):
        on_cores(2, model).train(training, steps=1)
