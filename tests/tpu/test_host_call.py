"""host_call: gathered from the replicas, run on the host after each step."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def numbers(params):
    data = tf.data.Dataset.from_tensor_slices(np.arange(32, dtype=np.float32))
    return data.batch(params["batch_size"], drop_remainder=True)


def model_with(host_call):
    def model_fn(features, labels, mode, params):
        step = v1.train.get_global_step()
        if mode == eb.ModeKeys.EVAL:
            return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_sum(features))
        tensors = {"x": features, "step": tf.reshape(step, [1])}
        train_op = v1.assign_add(step, 1)
        total = eb.tpu.cross_replica_sum(tf.reduce_sum(features))
        with tf.control_dependencies([total]):
            loss = tf.reduce_sum(features)
        return eb.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=train_op, host_call=(host_call, tensors)
        )

    return model_fn


def estimator(model_fn, model_dir, cores, **settings):
    config = eb.tpu.RunConfig(
        master=f"emulated:{cores or 1}",
        model_dir=str(model_dir),
        tpu_config=eb.tpu.TPUConfig(**{"iterations_per_loop": 3, **settings}),
    )
    return eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=4, use_tpu=bool(cores), eval_batch_size=4
    )


def events(folder):
    for path in sorted(folder.glob("events*")):
        for event in v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                yield event.step, value


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_summaries_of_every_step(cores, tmp_path):
    folder = tmp_path / "host"

    def host_call(x, step):
        with (
            tf.compat.v2.summary.create_file_writer(str(folder)).as_default(),
            tf.compat.v2.summary.record_if(True),
        ):
            tf.compat.v2.summary.write("sum", tf.reduce_sum(x), step=step[0])
            return v1.summary.all_v2_summary_ops()

    estimator(model_with(host_call), tmp_path / "model", cores).train(numbers, steps=5)
    got = [(s, float(tf.make_ndarray(v.tensor))) for s, v in events(folder) if v.tag == "sum"]
    batches = np.arange(20).reshape(5, 4).sum(axis=1)
    assert got == list(enumerate(batches))


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_summaries_of_some_steps(cores, tmp_path):
    """record_if with a tensor, as TF1's record_summaries_every_n_global_steps."""
    folder = tmp_path / "host"

    def host_call(x, step):
        summary = tf.compat.v2.summary
        with summary.create_file_writer(str(folder), max_queue=2).as_default():
            with summary.record_if(tf.equal(step[0] % 3, 0)):
                summary.write("sum", tf.reduce_sum(x), step=step[0])
            with summary.record_if(lambda: tf.greater(step[0], 3)):
                summary.write("late", tf.reduce_max(x), step=step[0])
        return v1.summary.all_v2_summary_ops()

    estimator(model_with(host_call), tmp_path / "model", cores).train(numbers, steps=6)
    got = [(v.tag, s, float(tf.make_ndarray(v.tensor))) for s, v in events(folder) if v.tag]
    sums = np.arange(24).reshape(6, 4).sum(axis=1)
    assert got == [("sum", 0, sums[0]), ("sum", 3, sums[3]), ("late", 4, 19), ("late", 5, 23)]


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_summaries_of_an_evaluation(cores, tmp_path):
    folder = tmp_path / "host"

    def host_call(x):
        summary, step = tf.compat.v2.summary, v1.train.get_global_step()
        with summary.create_file_writer(str(folder)).as_default(), summary.record_if(True):
            summary.write("sum", tf.reduce_sum(x), step=step)
            return v1.summary.all_v2_summary_ops()

    def model_fn(features, labels, mode, params):
        loss = tf.reduce_sum(features)
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, host_call=(host_call, [features]))

    estimator(model_fn, tmp_path / "model", cores).evaluate(numbers, steps=2)
    got = [float(tf.make_ndarray(v.tensor)) for _, v in events(folder) if v.tag == "sum"]
    assert got == [6, 22]


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_summaries_of_tf1_go_where_the_models_do(cores, tmp_path):
    def host_call(x, step):
        return v1.summary.scalar("of_all_replicas", tf.reduce_sum(x))

    estimator(model_with(host_call), tmp_path, cores).train(numbers, steps=5)
    got = [(s, v.simple_value) for s, v in events(tmp_path) if v.tag == "of_all_replicas"]
    first = 3 if cores else 1  # after the first loop
    assert got == [(first, sum(range(4 * first - 4, 4 * first)))]


@pytest.mark.parametrize("cores", [1, 2])
def test_replicas_are_gathered_in_order(cores, tmp_path):
    seen = []

    def host_call(x, step):
        return v1.py_func(lambda x, s: seen.append((s.tolist(), x.tolist())), [x, step], [])

    estimator(model_with(host_call), tmp_path, cores).train(numbers, steps=2)
    assert [x for _, x in seen] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [s for s, _ in seen] == [[0] * cores, [1] * cores]


@pytest.mark.parametrize("cores", [0, 2])
@pytest.mark.parametrize(
    ("tensors", "result"),
    [(list, list), (tuple, tuple), (dict, dict), (None, list), (list, None)],
)
def test_forms(cores, tensors, result, tmp_path):
    """Tensors by position, by name or none; one operation, several, or a structure of them."""
    seen = []

    def host_call(*args, **kwargs):
        values = [*args, *kwargs.values()]
        note = v1.py_func(lambda *values: seen.append([v.tolist() for v in values]), values, [])
        value = tf.constant(1.0)
        return {list: [note, value], tuple: (value, note), dict: {"x": note}}.get(result, note)

    def model_fn(features, labels, mode, params):
        total = eb.tpu.cross_replica_sum(tf.reduce_sum(features))
        with tf.control_dependencies([total]):
            train_op = v1.assign_add(v1.train.get_global_step(), 1)
        values = {list: [features], tuple: (features,), dict: {"x": features}}.get(tensors, [])
        return eb.tpu.TPUEstimatorSpec(
            mode, loss=total, train_op=train_op, host_call=(host_call, values)
        )

    estimator(model_fn, tmp_path, cores).train(numbers, steps=2)
    assert seen == ([[], []] if tensors is None else [[[0, 1, 2, 3]], [[4, 5, 6, 7]]])


@pytest.mark.parametrize("cores", [1, 2])
def test_every_n_steps(cores, tmp_path):
    seen = []

    def host_call(x, step):
        return v1.py_func(lambda s: seen.append(int(s[0])), [step], [])

    settings = {"iterations_per_loop": 4, "experimental_host_call_every_n_steps": 2}
    trained = estimator(model_with(host_call), tmp_path, cores, **settings)
    trained.train(numbers, steps=7)
    assert seen == [0, 2, 4, 6]
    assert trained.get_variable_value("global_step") == 7


@pytest.mark.parametrize("cores", [0, 1, 2])
@pytest.mark.parametrize("asks", [False, True])
def test_every_n_steps_of_a_loop(cores, asks, tmp_path):
    """Each loop of five begins anew; a step that a hook's fetches run alone is the loop's last."""
    seen = []

    class Asks(v1.train.SessionRunHook):
        def begin(self):
            self._asked = v1.assign_add(v1.get_variable("asked", [], tf.int32), 1)

        def before_run(self, run_context):
            return v1.train.SessionRunArgs(self._asked)

    def host_call(x, step):
        return v1.py_func(lambda s: seen.append(int(s[0])), [step], [])

    settings = {"iterations_per_loop": 5, "experimental_host_call_every_n_steps": 2}
    trained = estimator(model_with(host_call), tmp_path, cores, **settings)
    trained.train(numbers, steps=8, hooks=[Asks()] if asks else None)
    # Without a TPU there is no loop, and the host call runs with each step, as it did.
    assert seen == ([0, 2, 4, 5, 7] if cores else list(range(8)))


def test_host_call_that_returns_nothing(tmp_path):
    with pytest.raises(TypeError, match="returned None"):
        estimator(model_with(lambda x, step: None), tmp_path, 2).train(numbers, steps=1)


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_a_step_that_is_read_behind_minimize_is_the_steps_own(cores, tmp_path):
    seen = []

    def host_call(step):
        return v1.py_func(lambda step: seen.append(int(step[0])), [step], [])

    def model_fn(features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(features * weight)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        step = tf.reshape(tf.cast(v1.train.get_global_step(), tf.int32), [1])
        return eb.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=train_op, host_call=(host_call, [step])
        )

    estimator(model_fn, tmp_path, cores).train(numbers, steps=7)
    assert seen == list(range(7))
