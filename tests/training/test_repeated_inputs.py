"""The second input of an evaluation or a prediction: less is made for it, and nothing differs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.data import dataset_functions
from estimator_bridge.graph import Snapshot, arrays_outside, large_constants, trace_graph
from estimator_bridge.runtime import StepLoop

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
ROWS = 40_000  # two floats each: above the size from which arrays stay outside of the graph


def model_fn(features, labels, mode):
    weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
    outputs = features * weight
    if mode == "infer":
        return eb.EstimatorSpec(mode, predictions=outputs)
    loss = tf.reduce_mean(outputs)
    train_op = v1.train.GradientDescentOptimizer(0.0).minimize(loss, v1.train.get_global_step())
    metrics = {"first": v1.metrics.mean(outputs[:, 0]), "last": v1.metrics.mean(outputs[:, 1])}
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
    estimator = eb.Estimator(
        model_fn, str(tmp_path_factory.mktemp("model")), eb.RunConfig(tf_random_seed=1)
    )
    estimator.train(lambda: of(np.ones([4, 2], "f")), steps=1)
    return estimator


def of(array):
    return tf.data.Dataset.from_tensor_slices((array, array)).batch(10_000)


@pytest.mark.parametrize("rows", [4, ROWS])
def test_each_evaluation_reads_its_own_array(estimator, rows):
    for value in (1.0, 2.0, 2.0, 3.0):
        array = np.full([rows, 2], value, "f")
        array[-1] = np.nan_to_num(value * rows)
        metrics = estimator.evaluate(lambda: of(array))  # noqa: B023 - used within the round
        np.testing.assert_allclose(metrics["last"], array[:, 1].mean(dtype="d"), rtol=1e-5)


def test_an_array_may_change_after_the_input_fn_has_returned(estimator):
    array = np.ones([ROWS, 2], "f")

    def input_fn():
        dataset = of(array)
        array[:] = 7
        return dataset

    assert estimator.evaluate(input_fn)["first"] == 1
    assert estimator.evaluate(input_fn)["first"] == 7


def test_an_evaluation_of_one_batch_calls_its_loop_once(estimator, monkeypatch):
    calls, call = [], StepLoop.__call__

    def counted(self, iterator, steps, *args, **kwargs):
        result = call(self, iterator, steps, *args, **kwargs)
        calls.append(result.steps)
        return result

    monkeypatch.setattr(StepLoop, "__call__", counted)
    estimator.evaluate(lambda: of(np.ones([8, 2], "f")))
    assert calls == [1]


def test_a_shuffle_starts_anew_in_each_prediction(estimator):
    def input_fn():
        rows = np.arange(64, dtype="f").reshape([32, 2])
        return tf.data.Dataset.from_tensor_slices(rows).shuffle(32, seed=3).batch(8)

    first, second, third = (list(estimator.predict(input_fn)) for _ in range(3))
    assert not np.array_equal(np.sort(first, 0), first)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, third)


def test_the_seed_of_an_operation_is_that_of_the_first_input(estimator):
    seeds = []

    def input_fn():
        seeds.append(v1.get_seed(None))
        assert v1.train.get_global_step().dtype == tf.int64
        return of(np.ones([4, 2], "f"))

    for _ in range(3):
        estimator.evaluate(input_fn)
    assert seeds[0] == seeds[1] == seeds[2]


def test_an_equal_graph_makes_its_dataset_by_the_same_function(estimator):
    estimator.evaluate(lambda: of(np.ones([8, 2], "f")))
    functions = dict(dataset_functions._makers)
    estimator.evaluate(lambda: of(np.ones([8, 2], "f")))
    assert dict(dataset_functions._makers) == functions
    estimator.evaluate(lambda: of(np.ones([9, 2], "f")))
    assert dict(dataset_functions._makers) != functions


def test_an_equal_graph_reads_its_dataset_from_the_start(estimator):
    rows = np.arange(16, dtype="f").reshape([8, 2])

    def input_fn():
        return tf.data.Dataset.from_tensor_slices((rows, rows)).batch(2).prefetch(1)

    for _ in range(3):
        assert estimator.evaluate(input_fn, steps=1)["first"] == 1
    assert estimator.evaluate(input_fn)["first"] == 7
    predictions = [estimator.predict(input_fn) for _ in range(2)]
    for one, other, row in zip(*predictions, rows):  # two iterators of it at the same time
        np.testing.assert_array_equal(one, row)
        np.testing.assert_array_equal(other, row)


def test_a_graph_that_differs_beside_its_dataset_gives_equal_elements(estimator):
    for number in range(3):

        def input_fn():
            tf.constant(number)  # noqa: B023 - used within the round
            return of(np.ones([8, 2], "f"))

        assert estimator.evaluate(input_fn)["first"] == 1


def test_arrays_are_freed_with_their_evaluation(estimator, monkeypatch):
    held = []
    copied = large_constants._copied_once

    def watched(value):
        tensor = copied(value)
        held.append(weakref.ref(tensor))
        return tensor

    monkeypatch.setattr(large_constants, "_copied_once", watched)
    for value in (1, 2, 3):
        estimator.evaluate(lambda: of(np.full([ROWS, 2], value, "f")))  # noqa: B023
    estimator.evaluate(lambda: of(np.ones([4, 2], "f")))
    gc.collect()
    assert len(held) == 6
    assert [ref() for ref in held] == [None] * 6


def test_a_kept_program_frees_its_first_input(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: of(np.ones([4, 2], "f")), steps=1)
    held = []

    def input_fn():
        dataset = of(np.full([ROWS, 2], 5, "f"))
        held.extend(
            map(weakref.ref, large_constants._arrays_by_graph[v1.get_default_graph()].values())
        )
        return dataset

    for _ in range(2):
        assert estimator.evaluate(input_fn)["first"] == 5
        gc.collect()
        assert held and [ref() for ref in held] == [None] * len(held)


@pytest.mark.parametrize("kind", ["f", "d", "e", "i2", "u8", ">f4", "?", "F"])
def test_any_type_of_array_is_copied_exactly(kind):
    array = (np.arange(3 * ROWS).reshape([ROWS, 3]) % 200).astype(kind)[:, ::-1]
    tensor = large_constants._copied_once(array)
    np.testing.assert_array_equal(tensor.numpy(), array)
    array[0, 0] = not array[0, 0]
    assert tensor.numpy()[0, 0] != array[0, 0]
    assert tensor.dtype == tf.as_dtype(array.dtype.newbyteorder("="))


def test_names_and_number_of_operations_stay_the_same():
    array = np.ones([ROWS, 2], "f")
    names = []
    for outside in (False, True):
        with trace_graph() as graph:
            context = arrays_outside(graph) if outside else tf.name_scope("")
            with context:
                tf.constant(array)
                tf.constant(array, name="named")
                of(array)
            names.append([op.name for op in graph.get_operations()])
            large = [op.type for op in graph.get_operations() if op.type == "PyFuncStateless"]
            assert len(large) == (4 if outside else 0)
    assert names[0] == names[1]


def test_the_operation_of_an_array_can_run_in_any_session():
    array = np.random.RandomState(0).rand(ROWS, 2)
    with trace_graph() as graph, arrays_outside(graph):
        tensor = tf.constant(array)
        first = v1.data.make_one_shot_iterator(of(array)).get_next()[0]
    assert Snapshot.of(graph).nodes[tensor.op.name].op == "Const"
    with v1.Session(graph=graph) as session:
        np.testing.assert_array_equal(session.run(tensor), array)
        np.testing.assert_array_equal(session.run(first), array[:10_000])
