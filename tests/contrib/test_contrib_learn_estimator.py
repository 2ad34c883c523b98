"""tf.contrib.learn's Estimator, Experiment and monitors, on the Estimator of this library.

contrib_goldens has what TensorFlow 1.15.5 computes for them.
"""

import os

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge_contrib import learn
from estimator_bridge_contrib.learn.array_inputs import array_input_fn

v1 = tf.compat.v1
X = np.linspace(0.0, 1.0, 6).astype(np.float32)


def model_fn(features, labels, mode):
    """Computes its loss in all modes, as many model functions did."""
    inputs = features["x"] if isinstance(features, dict) else features
    weight = v1.get_variable("w", [1, 1], initializer=v1.zeros_initializer())
    predictions = tf.matmul(inputs, weight)
    loss = tf.reduce_mean(tf.square(predictions - tf.reshape(labels, [-1, 1])))
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return learn.ModelFnOps(
        mode,
        predictions={"y": predictions},
        loss=loss,
        train_op=train_op,
        eval_metric_ops={"last": tf.reduce_max(predictions)},
    )


def input_fn():
    return tf.data.Dataset.from_tensors((X[:, np.newaxis], 2 * X)).repeat()


def serving_input_fn():
    inputs = {"x": v1.placeholder(tf.float32, [None, 1], name="x")}
    return learn.InputFnOps(inputs, None, inputs)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("learn"))
    config = learn.RunConfig(model_dir=folder, save_checkpoints_steps=4)
    estimator = learn.Estimator(model_fn, config=config)
    monitors = [learn.monitors.CaptureVariable("w:0", every_n=4), learn.monitors.StopAtStep(9)]
    estimator.fit(input_fn=input_fn, steps=50, monitors=monitors)
    return estimator, monitors[0]


def test_a_monitor_captures_and_one_stops(trained):
    estimator, captured = trained
    assert sorted(captured.values) == [1, 5, 9]
    assert estimator.get_variable_value("global_step") == 9


def test_a_metric_without_an_update_has_the_last_value(trained):
    estimator, _ = trained
    metrics = estimator.evaluate(input_fn=input_fn, steps=2)
    weight = estimator.get_variable_value("w").item()
    assert metrics["last"] == pytest.approx(weight)
    assert metrics["loss"] == pytest.approx(np.mean((X * weight - 2 * X) ** 2))


def test_predictions_of_arrays_and_of_one_batch(trained):
    estimator, _ = trained
    weight = estimator.get_variable_value("w").item()
    each = list(estimator.predict(X, batch_size=4))
    assert [row["y"].item() for row in each] == pytest.approx(list(weight * X))
    batch = estimator.predict(X, batch_size=4, as_iterable=False)
    assert batch["y"].shape == (4, 1)
    whole = learn.SKCompat(estimator).predict(X, batch_size=4)
    assert whole["y"].ravel() == pytest.approx(weight * X)


def test_an_export_has_the_signatures_of_tf_contrib_learn(trained, tmp_path):
    estimator, _ = trained
    folder = os.fsdecode(estimator.export_savedmodel(str(tmp_path), serving_input_fn))
    loaded = tf.saved_model.load(folder)
    expected = {
        "serving_default",
        "default_output_alternative",
        "default_input_alternative:default_output_alternative",
        "features_input_alternative:default_output_alternative",
    }
    assert expected <= set(loaded.signatures)
    answer = loaded.signatures["serving_default"](tf.constant([[3.0]]))
    weight = estimator.get_variable_value("w").item()
    assert answer["y"].numpy().item() == pytest.approx(3 * weight)


def test_an_experiment_trains_evaluates_and_exports(tmp_path):
    config = learn.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=3)

    def experiment_fn(run_config, hparams):
        assert hparams is None
        return learn.Experiment(
            learn.Estimator(model_fn, config=run_config),
            input_fn,
            input_fn,
            train_steps=6,
            eval_steps=1,
            min_eval_frequency=2,
            check_interval_secs=0,
            export_strategies=[learn.make_export_strategy(serving_input_fn, exports_to_keep=1)],
        )

    metrics, exports = learn.learn_runner.run(experiment_fn, run_config=config)
    assert metrics["global_step"] == 6
    assert [os.path.dirname(os.fsdecode(each)) for each in exports] == [
        str(tmp_path / "export" / "Servo")
    ]
    steps = {
        event.step
        for path in (tmp_path / "eval").iterdir()
        for event in v1.train.summary_iterator(str(path))
        if event.summary.value
    }
    assert {4, 6} <= steps or {3, 6} <= steps  # a checkpoint in between, and the last one


def test_an_experiment_of_an_estimator_of_tf_estimator(tmp_path):
    def core_model_fn(features, labels, mode):
        return model_fn(features, labels, mode)._replace(eval_metric_ops={}).estimator_spec()

    estimator = eb.Estimator(core_model_fn, model_dir=str(tmp_path))
    experiment = learn.Experiment(
        estimator, input_fn, input_fn, train_steps=20, eval_steps=1, train_steps_per_iteration=4
    )
    seen = []

    def goes_on(metrics, checkpoint_path):
        seen.append((metrics, checkpoint_path))
        return len(seen) < 3

    metrics, exports = experiment.continuous_train_and_eval(goes_on)
    assert (metrics["global_step"], exports) == (8, [])
    assert seen[0] == (None, None)
    assert seen[1][1].endswith("model.ckpt-4")
    with pytest.raises(ValueError, match="`eval_metrics` must be `None` with"):
        learn.Experiment(estimator, input_fn, input_fn, eval_metrics={"a": len})


def test_a_prediction_is_built_at_the_call(tmp_path):
    built = []

    def counted(features, labels, mode):
        built.append(mode)
        return model_fn(features, labels, mode)

    estimator = learn.Estimator(counted, model_dir=str(tmp_path))
    estimator.fit(X, X, steps=1)
    predictions = estimator.predict(X)
    assert built == ["train", "infer"]
    assert len(list(predictions)) == len(X)
    assert built == ["train", "infer"]


def shapes_of(x, y, batch_size):
    """Returns the shapes of the batches that an array input makes."""
    with tf.Graph().as_default():
        dataset = array_input_fn(x, y, batch_size, is_shuffled=False, epochs=1)()
        features, labels = v1.data.make_one_shot_iterator(dataset).get_next()
        static = labels.shape.as_list()
        shapes = []
        with v1.Session() as session:
            while True:
                try:
                    shapes.append([part.shape for part in session.run((features, labels))])
                except tf.errors.OutOfRangeError:
                    return static, shapes


@pytest.mark.parametrize(
    ("labels", "static"),
    [(X, [None]), (X[:, np.newaxis], [None]), (np.ones([6, 2]), [None, 2])],
)
def test_labels_of_arrays_have_no_dimension_of_one(labels, static):
    got, batches = shapes_of(X, labels, 4)
    assert got == static
    assert batches[-1] == [(2, 1), (2, *static[1:])]


@pytest.mark.parametrize(
    "labels", [list(X), [np.array([each]) for each in X], [[np.float32(each)] for each in X]]
)
def test_iterators_give_single_examples(labels):
    features = (np.array([each, 1.0], np.float32) for each in X)
    got, batches = shapes_of(features, iter(labels[:5]), 2)
    assert got == [None]
    assert batches == [[(2, 2), (2,)], [(2, 2), (2,)], [(1, 2), (1,)]]


def test_iterators_train_until_they_end(tmp_path):
    estimator = learn.Estimator(model_fn, model_dir=str(tmp_path))
    examples = [np.array([each]) for each in X]
    learn.SKCompat(estimator).fit(iter(examples), iter(X), batch_size=4, steps=10)
    assert estimator.get_variable_value("global_step") == 2
    with pytest.raises(ValueError, match="iterators for streaming learning"):
        estimator.fit(iter(examples), X, steps=1)
    with pytest.raises(ValueError, match="at least one example"):
        estimator.fit(iter([]), iter([]), steps=1)


def test_inputs_are_those_of_the_first_call(tmp_path):
    estimator = learn.Estimator(model_fn, model_dir=str(tmp_path)).fit(X, X, steps=1)
    for x, y, message in (
        (X.astype(np.float64), X, "Features are incompatible with given information"),
        (np.ones([6, 2], np.float32), X, "Features are incompatible"),
        ({"x": X}, X, "Features are incompatible"),
        (X, X.astype(np.int64), "Labels are incompatible"),
    ):
        with pytest.raises(ValueError, match=message):
            estimator.fit(x, y, steps=1)
    assert estimator.fit(X[:3], X[:3], steps=1).get_variable_value("global_step") == 2


def test_a_config_with_both_intervals_between_checkpoints_can_be_replaced():
    config = learn.RunConfig(save_checkpoints_steps=3, save_checkpoints_secs=4)
    replaced = config.replace(model_dir="folder")
    assert (replaced.save_checkpoints_steps, replaced.save_checkpoints_secs) == (3, 4)
    assert replaced.model_dir == "folder"
    assert config.replace(save_checkpoints_steps=5).save_checkpoints_secs is None


class TestArguments:
    """Checks that need no training."""

    estimator = learn.Estimator(model_fn)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda e: e.fit(), "Either x or input_fn must be provided"),
            (lambda e: e.fit(X, X, input_fn), "Can not provide both input_fn and x or y"),
            (lambda e: e.fit(tf.constant(X), X), "Inputs cannot be tensors"),
            (lambda e: e.fit(X, X[:3]), "same number of examples.*3, 6"),
            (lambda e: e.fit(X, X, batch_size=0), "Invalid batch_size 0"),
            (lambda e: e.fit(X, X, steps=1, max_steps=1), "both steps and max_steps"),
            (lambda e: e.evaluate(X, X), "Couldn't find trained model.*Call fit"),
            (lambda e: next(e.predict(X)), "Couldn't find trained model"),
            (lambda e: e.evaluate(X, X, metrics=[len]), "should be None or dict"),
            (lambda e: e.export_savedmodel("", None), "serving_input_fn must be defined"),
            (lambda e: learn.Experiment(len, None, None), "must implement `tf.contrib.learn.Eval"),
            (lambda e: learn.learn_runner.run(len), "`output_dir` or `run_config`"),
            (lambda e: learn.ModelFnOps("fit"), "Invalid mode fit"),
            (lambda e: learn.ModelFnOps("train", loss=1.0), "Missing train_op"),
        ],
    )
    def test_a_wrong_one_is_refused(self, call, message):
        with pytest.raises(ValueError, match=message):
            call(self.estimator)

    def test_no_checkpoint_is_an_error_of_its_own(self):
        with pytest.raises(learn.NotFittedError):
            self.estimator.evaluate(X, X)

    def test_params_that_model_fn_does_not_take(self):
        with pytest.raises(ValueError, match="does not have a params argument"):
            learn.Estimator(model_fn, params={"a": 1})

    def test_the_config_has_another_folder(self):
        config = learn.RunConfig(model_dir="one")
        with pytest.raises(ValueError, match="set both in constructor and RunConfig, but with dif"):
            learn.Estimator(model_fn, "other", config)

    def test_the_first_export_says_what_to_use(self):
        with pytest.raises(
            NotImplementedError, match="export_savedmodel\\('folder', serving_input"
        ):
            self.estimator.export("folder")

    def test_export_monitor_says_what_to_use(self):
        with pytest.raises(NotImplementedError, match="make_export_strategy"):
            learn.monitors.ExportMonitor(1, "folder")
