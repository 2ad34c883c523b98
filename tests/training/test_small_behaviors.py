"""Small visible behaviors, each as in TensorFlow 2.15.1."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1


def endless():
    return tf.data.Dataset.from_tensors({"x": np.ones([2, 2], np.float32)}).repeat()


class Seen(v1.train.SessionRunHook):
    """Notes whether it saw a stop requested, step by step."""

    def __init__(self, name, seen):
        self._name, self._seen = name, seen

    def after_run(self, run_context, run_values):
        self._seen.append((self._name, run_context.stop_requested))


def make_model_fn(hooks=(), scaffold=None):
    def model_fn(features, labels, mode):
        weight = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        y = tf.reduce_sum(features["x"] * weight, 1)
        if mode == "infer":
            return eb.EstimatorSpec(mode, predictions={"a": y, "b": y, "c": y})
        loss = tf.reduce_mean(y * y)
        step = v1.train.get_global_step()
        return eb.EstimatorSpec(
            mode,
            loss=loss,
            train_op=v1.train.GradientDescentOptimizer(0.01).minimize(loss, step),
            training_hooks=hooks,
            evaluation_hooks=hooks,
            scaffold=scaffold() if scaffold else None,
        )

    return model_fn


@pytest.mark.parametrize("every", [1, 100])
def test_the_specs_hooks_see_the_stop_in_the_last_step(tmp_path, every):
    seen = []
    config = eb.RunConfig(log_step_count_steps=every)
    estimator = eb.Estimator(make_model_fn([Seen("spec", seen)]), str(tmp_path), config)
    estimator.train(endless, hooks=[Seen("given", seen)], steps=3)
    both = [("given", False), ("spec", False)]
    assert seen == [*both, *both, ("given", False), ("spec", True)]
    seen.clear()
    estimator.evaluate(endless, hooks=[Seen("given", seen)], steps=2)
    assert seen == [*both, ("given", False), ("spec", True)]


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [("ab", ["a", "b"]), ("a", ["a"]), (["b", "z"], ["b"]), ("", ["a", "b", "c"]), ([], None)],
)
def test_predict_keys_may_be_a_string(tmp_path, keys, chosen):
    estimator = eb.Estimator(make_model_fn(), str(tmp_path))
    first = next(estimator.predict(endless, predict_keys=keys))
    assert sorted(first) == (chosen or ["a", "b", "c"])


def test_the_list_of_checkpoints_of_the_old_format_survives_a_restart(tmp_path):
    def scaffold():
        return v1.train.Scaffold(saver=v1.train.Saver(write_version=v1.train.SaverDef.V1))

    estimator = eb.Estimator(
        make_model_fn(scaffold=scaffold), str(tmp_path), eb.RunConfig(save_checkpoints_steps=2)
    )
    estimator.train(endless, steps=4).train(endless, steps=2)
    state = tf.train.get_checkpoint_state(str(tmp_path))
    listed = [path.rpartition("-")[2] for path in state.all_model_checkpoint_paths]
    assert listed == ["0", "2", "4", "6"]


class _SetsTheStep(tf.compat.v1.train.SessionRunHook):
    """As adanet's: the global step is the mean of what several models have trained."""

    def begin(self):
        own = next(v for v in tf.compat.v1.global_variables() if v.op.name == "own")
        self._set = tf.compat.v1.train.get_global_step().assign(own.read_value() // 2)

    def after_run(self, run_context, run_values):
        run_context.session.run(self._set)


# The steps of the model's own that TensorFlow 2.15.1 makes until a global step of 12: hooks of the
# chief and those of the call set it before the hook that ends training looks, the others after it.
@pytest.mark.parametrize(
    ("place", "steps"), [("training_hooks", 25), ("training_chief_hooks", 24), ("hooks", 24)]
)
def test_training_ends_at_a_global_step_that_a_hook_sets(place, steps):
    def model_fn(features, labels, mode):
        v1 = tf.compat.v1
        zero = v1.zeros_initializer()
        own = v1.get_variable("own", [], tf.int64, zero, trainable=False, use_resource=True)
        loss = tf.reduce_mean(features)
        step = own.assign_add(1).op
        hooks = {} if place == "hooks" else {place: [_SetsTheStep()]}
        return eb.EstimatorSpec(mode, loss=loss, train_op=step, **hooks)

    estimator = eb.Estimator(model_fn)
    estimator.train(
        lambda: tf.data.Dataset.from_tensors([1.0]).repeat(),
        hooks=[_SetsTheStep()] if place == "hooks" else [],
        max_steps=12,
    )
    assert estimator.get_variable_value("global_step") == 12
    assert estimator.get_variable_value("own") == steps


def test_a_saver_keeps_the_listeners_of_the_program_alone(tmp_path):
    saver = tf.compat.v1.train.CheckpointSaverHook(str(tmp_path), save_steps=2)
    listener = tf.compat.v1.train.CheckpointSaverListener()

    def model_fn(features, labels, mode):
        step = tf.compat.v1.train.get_global_step().assign_add(1).op
        return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=step)

    estimator = eb.Estimator(model_fn, str(tmp_path))
    for steps in (2, 4):
        estimator.train(
            lambda: tf.data.Dataset.from_tensors([1.0]).repeat(),
            hooks=[saver],
            max_steps=steps,
            saving_listeners=[listener],
        )
        assert saver._listeners == [listener]
    assert estimator.latest_checkpoint().endswith("model.ckpt-4")


@pytest.mark.parametrize("keys", range(6))
def test_each_example_has_all_predictions_however_many(tmp_path, keys):
    names = "abcde"[:keys]

    def model_fn(features, labels, mode):
        del labels
        v1.get_variable("w", [2], initializer=v1.ones_initializer())
        x = tf.reduce_sum(features["x"], 1)
        predictions = {name: x + i for i, name in enumerate(names)}
        if mode == "infer":
            return eb.EstimatorSpec(mode, predictions=predictions)
        step = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=tf.reduce_mean(x), train_op=step)

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(endless, steps=1)
    examples = estimator.predict(lambda: endless().take(2))
    if names:
        assert list(examples) == [{name: 2.0 + i for i, name in enumerate(names)}] * 4
        return
    with pytest.raises(TypeError, match="no predictions"):  # as in 2.15, and not endless
        next(examples)
