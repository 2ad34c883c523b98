"""A model that is ready for a TPU passes; for another one, the error says why, and where."""

import functools
import inspect
import linecache
import pathlib

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.testing import ModelCheckError, check_model_fn

v1 = tf.compat.v1
HERE = pathlib.Path(__file__).name
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


def input_fn(params, mode):
    x = np.random.rand(50, 4).astype(np.float32)  # other examples in each call
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1)))
    return data.repeat().batch(params["batch_size"], drop_remainder=mode == TRAIN)


def spec(mode, labels, outputs, loss=None, optimizer=None, predictions=None, metrics=None):
    """A spec of a regression, with what a test wants to have otherwise."""
    if mode == PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions=predictions or {"y": outputs})
    loss = tf.reduce_mean(tf.square(outputs - labels)) if loss is None else loss
    if mode == EVAL:
        metrics = metrics or (lambda y: {"mean": v1.metrics.mean(y)}, [outputs])
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics)
    optimizer = optimizer or v1.train.MomentumOptimizer(0.1, 0.9)
    if not isinstance(optimizer, eb.tpu.CrossShardOptimizer):
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def good(features, labels, mode):
    hidden = v1.layers.dense(features, 8, activation=tf.nn.relu)
    hidden = v1.layers.dropout(hidden, 0.5, training=mode == TRAIN)
    return spec(mode, labels, v1.layers.dense(hidden, 1)[:, 0])


def test_a_good_model_passes_with_dropout_and_a_shuffled_input():
    report = check_model_fn(good, input_fn)
    assert report.losses[1] == pytest.approx(report.losses[2], rel=1e-5)
    assert report.metrics[1].keys() == report.metrics[2].keys() == {"loss", "global_step", "mean"}
    assert report.metrics[1]["global_step"] == 1
    assert report.predictions[2]["y"].shape == (8,)
    assert set(report.tpu) == {TRAIN, EVAL, PREDICT}
    training = report.tpu[TRAIN]
    assert training.replicas == 8
    assert training.on_tpu["CrossReplicaSum"] == 4
    assert training.on_tpu["ResourceApplyMomentum"] == 4
    assert report.tpu[PREDICT].variables == 4


def test_a_gradient_that_is_rounding_alone_is_no_difference():
    def shifted(features, labels, mode):
        scores = v1.layers.dense(features, 3)  # softmax does not see its bias
        scores += v1.get_variable("shift", [1, 1])
        loss = v1.losses.sparse_softmax_cross_entropy(tf.cast(labels > 2, tf.int32), scores)
        return spec(mode, labels, scores, loss=loss, optimizer=v1.train.AdamOptimizer(0.1))

    report = check_model_fn(shifted, input_fn, train_batch_size=48, modes=[TRAIN])
    assert report.rounding["dense/kernel"] < 1e-3  # the others' rounding excuses nothing of it


def test_summaries_of_a_host_call_are_written_nowhere(tmp_path):
    folder = tmp_path / "summaries"

    def with_host_call(features, labels, mode):
        def write(step, loss):
            with tf.summary.create_file_writer(str(folder)).as_default():
                tf.summary.write("loss", tf.reduce_mean(loss), step=step[0])
                return v1.summary.all_v2_summary_ops()

        spec = good(features, labels, mode)
        step = tf.reshape(v1.train.get_or_create_global_step(), [1])
        return spec._replace(host_call=(write, [step, tf.reshape(spec.loss, [1])]))

    report = check_model_fn(with_host_call, input_fn, modes=[TRAIN])
    assert report.losses[1] == pytest.approx(report.losses[2], rel=1e-5)
    assert not list(tmp_path.rglob("events*"))


def test_params_and_partials_reach_both_functions():
    def model_fn(features, labels, mode, params, width):
        assert params["context"].num_replicas in (1, 2, 4)
        hidden = v1.layers.dense(features, width)
        return spec(mode, labels, v1.layers.dense(hidden, params["outputs"])[:, 0])

    def two_examples(params):
        assert params["outputs"] == 1
        return input_fn(params, TRAIN)

    bound = functools.partial(model_fn, width=3)
    report = check_model_fn(bound, two_examples, {"outputs": 1}, 4, modes=[TRAIN])
    assert report.weights["dense/kernel"].shape == (4, 3)
    assert report.tpu[TRAIN].replicas == 4


def refused(model_fn, what, *phrases, marked="HERE", inputs=input_fn, **options):
    """Asserts that a model is refused, for these reasons, with the line that is marked."""
    with pytest.raises(ModelCheckError) as caught:
        check_model_fn(model_fn, inputs, **options)
    message = str(caught.value)
    assert message.startswith(what)
    for phrase in phrases:
        assert phrase in message
    if marked:
        function = inputs if marked == "INPUT" else model_fn
        lines, first = inspect.getsourcelines(function)
        numbers = [first + i for i, line in enumerate(lines) if f"# {marked}" in line]
        place = f"{HERE}:{numbers[0]}: "
        assert place in message
        code = linecache.getline(__file__, numbers[0]).strip()
        assert place + code in message or marked == "INPUT" or code.startswith("def ")
    return message


def test_predictions_of_a_size_that_depends_on_data():
    def model_fn(features, labels, mode):
        outputs = v1.layers.dense(features, 1)[:, 0]
        positive = tf.boolean_mask(outputs, outputs > 0)  # HERE
        return spec(mode, labels, outputs, predictions={"positive": positive})

    refused(
        model_fn,
        "prediction on 1 core(s): ValueError: predictions['positive'] has dynamic shape",
        "Shapes stop being static here",
        "Use tf.where(condition, x, y), or multiply by the mask",
        modes=[PREDICT],
    )


def test_python_in_the_step():
    def model_fn(features, labels, mode):
        doubled = v1.py_func(lambda x: x * 2, [features], tf.float32)  # HERE
        doubled.set_shape(features.shape)
        return spec(mode, labels, v1.layers.dense(doubled, 1)[:, 0])

    refused(
        model_fn,
        "training on 2 core(s), compiled by XLA: NotCompilableError",
        "PyFunc (PyFunc), made at",
        "Python cannot run on an accelerator",
        modes=[TRAIN],
    )


def test_a_loss_that_is_a_sum():
    def model_fn(features, labels, mode):  # HERE
        outputs = v1.layers.dense(features, 1)[:, 0]
        loss = tf.reduce_sum(tf.square(outputs - labels))
        return spec(mode, labels, outputs, loss=loss)

    refused(
        model_fn,
        "training on 2 core(s): after one step from the same values",
        "dense/kernel by",
        "The loss has to be a mean over the replica's examples",
        modes=[TRAIN],
    )


def with_batch_norm(features, labels, mode):
    hidden = v1.layers.dense(features, 4)[:, None, None, :]
    hidden = v1.layers.batch_normalization(hidden, training=mode == TRAIN)  # HERE
    return spec(mode, labels, v1.layers.dense(hidden[:, 0, 0], 1)[:, 0])


def test_batch_norm_over_a_cores_own_examples():
    refused(
        with_batch_norm,
        "training on 2 core(s)",
        "batch norm over each replica's own",
        modes=[TRAIN],
    )
    report = check_model_fn(with_batch_norm, input_fn, tolerance=None)
    assert report.losses[1] != pytest.approx(report.losses[2], rel=1e-4)
    assert report.metrics[1]["loss"] == pytest.approx(report.metrics[2]["loss"], rel=1e-4)


def test_random_numbers_that_depend_on_the_split():
    def model_fn(features, labels, mode):
        features = tf.random.shuffle(features)  # HERE
        return spec(mode, labels, v1.layers.dense(features, 1)[:, 0])

    refused(model_fn, "training on 2", "random numbers (RandomShuffle)", modes=[TRAIN])


def test_an_optimizer_without_sums():
    def model_fn(features, labels, mode):  # HERE
        loss = tf.reduce_mean(tf.square(v1.layers.dense(features, 1)[:, 0] - labels))
        step = v1.train.get_or_create_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    refused(
        model_fn,
        "training on 2 core(s): ValueError: CrossShardOptimizer must be used",
        modes=[TRAIN],
        marked="HERE",
    )


def test_one_gradient_that_is_not_summed():
    def model_fn(features, labels, mode):
        own = v1.get_variable("own", [4])  # HERE
        outputs = v1.layers.dense(features, 1)[:, 0] + tf.reduce_sum(features * own, axis=1)
        result = spec(mode, labels, outputs)
        alone = v1.train.GradientDescentOptimizer(0.1).minimize(result.loss, var_list=[own])
        return result._replace(train_op=tf.group(result.train_op, alone))

    refused(
        model_fn,
        "training on 2 core(s): after one step core 1 has other values in 'own' than core 0",
        "Wrap the optimizer in CrossShardOptimizer",
        modes=[TRAIN],
    )


def test_metrics_of_a_core_instead_of_examples():
    def model_fn(features, labels, mode):  # HERE
        outputs = v1.layers.dense(features, 1)[:, 0]
        metrics = lambda y: {"largest": v1.metrics.mean(y)}, [tf.reduce_max(outputs)[None]]
        return spec(mode, labels, outputs, metrics=metrics)

    refused(model_fn, "evaluation on 2 core(s): 'largest' differs", "one row per example",
            modes=[EVAL])  # fmt: skip


def test_predictions_that_depend_on_the_other_examples():
    def model_fn(features, labels, mode):  # HERE
        outputs = v1.layers.dense(features, 1)[:, 0]
        return spec(mode, labels, outputs, predictions={"share": outputs / tf.reduce_sum(outputs)})

    refused(model_fn, "prediction on 2 core(s): 'share' differs", modes=[PREDICT])


def test_variables_that_training_has_not():
    def model_fn(features, labels, mode):
        outputs = v1.layers.dense(features, 1, name="dense" if mode == TRAIN else "other")
        return spec(mode, labels, outputs[:, 0])

    refused(model_fn, "evaluation on 1 core(s)", "['other/kernel', 'other/bias']", marked=None)


def test_an_error_of_the_models_own():
    def model_fn(features, labels, mode):
        return spec(mode, labels, tf.matmul(features, features))  # HERE

    refused(
        model_fn, "training on 1 core(s): ValueError", "Dimensions must be equal", modes=[TRAIN]
    )


def test_a_loss_that_is_no_number():
    def model_fn(features, labels, mode):  # HERE
        outputs = v1.layers.dense(features, 1)[:, 0]
        return spec(mode, labels, outputs, loss=tf.math.log(-1.0 - tf.reduce_mean(outputs) ** 2))

    refused(model_fn, "training on 1 core(s): the loss is nan", modes=[TRAIN])


def test_a_batch_that_does_not_divide():
    refused(good, "training on 2 core(s): ValueError: train batch size 7 must be divisible",
            train_batch_size=7, marked=None)  # fmt: skip


def test_an_input_of_unknown_size():
    def dynamic(params):  # INPUT
        return input_fn(params, mode=None)

    refused(good, "the input of training: ValueError: The features", "must have static shape",
            "drop_remainder=True", inputs=dynamic, marked="INPUT")  # fmt: skip


def test_an_input_without_a_batch():
    def empty(params):  # INPUT
        return input_fn(params, TRAIN).take(0)

    refused(good, "the input of training: ValueError: input_fn gave no batch",
            inputs=empty, marked="INPUT")  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cores": ()}, "cores must be positive"),
        ({"cores": (0, 2)}, "cores must be positive"),
        ({"modes": [EVAL, TRAIN]}, "'train' first"),
        ({"modes": ["predict"]}, "modes must be some of"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        check_model_fn(good, input_fn, **options)


def test_ops_that_are_allowed():
    def model_fn(features, labels, mode):
        doubled = v1.py_func(lambda x: x * 2, [features], tf.float32)
        doubled.set_shape(features.shape)
        return spec(mode, labels, v1.layers.dense(doubled, 1)[:, 0])

    check_model_fn(model_fn, input_fn, modes=[TRAIN], allowed_ops=["PyFunc"])
