"""Steps that XLA compiles in blocks: the same numbers, the same ends, the same input."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, ref, v1

from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import LoopRequest, Step, StepLoop
from estimator_bridge.tensorflow_private.names import eager_mode

BATCH, BLOCK = 4, 32  # a block's steps, where the batches are small


class Trained:
    """A step of a small model, with a counter and fetches."""

    def __init__(self, jit_compile, rows=100 * BATCH, bad=None, fed=False, drops=False):
        with trace_graph(seed=1) as graph:
            self.step = v1.train.get_or_create_global_step()
            x = v1.placeholder(tf.float32, [BATCH, 3])
            y = v1.placeholder(tf.float32, [BATCH])
            scale = v1.placeholder_with_default(1.0, [])
            hidden = v1.layers.dense(x, 8, activation=tf.nn.tanh)
            hidden = tf.nn.dropout(hidden, rate=0.25) if drops else hidden
            output = v1.layers.dense(hidden, 1)[:, 0] * scale
            loss = tf.reduce_mean(tf.square(output - y))
            train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, self.step)
            self.fetches = [ref(output), ref(tf.as_string(loss))]
            self.variables = {v.op.name: v for v in v1.global_variables()}
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        self.session = lifted_session(graph, strategy)
        self.loop = StepLoop(
            self.session,
            strategy,
            Step([ref(x), ref(y)], [ref(train)], ref(loss), counter=self.step.op.name),
            request=LoopRequest(
                self.fetches,
                fed=[ref(scale)] if fed else [],
                jit_compile=jit_compile,
                in_blocks=True,
            ),
        )
        rng = np.random.RandomState(0)
        x = rng.rand(rows, 3).astype(np.float32)
        if bad is not None:
            x[bad * BATCH] = np.nan
        with eager_mode():
            data = tf.data.Dataset.from_tensor_slices((x, x.sum(1)))
            self.iterator = iter(data.batch(BATCH, drop_remainder=True))

    def run(self, *calls, limit=None, **more):
        """Calls the loop with each number of steps; returns the results."""
        results, done = [], 0
        for steps in calls:
            results.append(self.loop(self.iterator, steps, done, limit, **more))
            done += results[-1].steps
        return results

    def left(self):
        """Counts the batches that nothing has drawn."""
        with eager_mode():
            return sum(1 for _ in self.iterator)

    def weights(self):
        return self.session.run(self.variables)


def calls_of_xla(loop):
    (_, function), *_ = loop._many.compiled
    definition = function.graph.as_graph_def()
    nodes = [*definition.node, *(n for f in definition.library.function for n in f.node_def)]
    return sum("_XlaMustCompile" in n.attr and n.attr["_XlaMustCompile"].b for n in nodes)


CALLS = 1, 1, 7, BLOCK, BLOCK + 3, 2


@pytest.fixture(scope="module")
def both():
    return [(trained, trained.run(*CALLS)) for trained in (Trained(False), Trained(True))]


def test_blocks_give_the_numbers_of_single_steps(both):
    (plain, expected), (compiled, actual) = both
    for one, other in zip(expected, actual):
        assert other.steps == one.steps and other.limit_value == one.limit_value
        assert other.loss == pytest.approx(one.loss, rel=1e-4)
        output, text = (other.fetch_values[name] for name in compiled.fetches)
        np.testing.assert_allclose(output, one.fetch_values[plain.fetches[0]], atol=1e-5)
        assert float(text.numpy()) == pytest.approx(other.loss, abs=1e-5)
    weights = compiled.weights()
    for name, value in plain.weights().items():
        np.testing.assert_allclose(weights[name], value, atol=1e-5, err_msg=name)
    assert weights["global_step"] == sum(CALLS)


def test_exactly_the_batches_of_the_steps_are_drawn(both):
    (plain, _), (compiled, _) = both
    assert plain.left() == compiled.left() == 100 - sum(CALLS)


def test_steps_are_within_the_code_that_xla_compiles(both):
    (plain, _), (compiled, _) = both
    assert calls_of_xla(plain.loop) == 0
    assert calls_of_xla(compiled.loop) > 0
    graph = compiled.loop._many.compiled[0][1].graph
    multiplied = [n for f in graph.as_graph_def().library.function for n in f.node_def]
    by_plain_code = [f for f in graph.as_graph_def().node if f.op == "MatMul"]
    assert any(n.op == "MatMul" for n in multiplied) and not by_plain_code


@pytest.mark.parametrize("batches", [5, BLOCK])
def test_the_inputs_end_ends_the_loop(batches):
    trained = Trained(True, rows=batches * BATCH)
    (result,) = trained.run(100)
    assert (result.steps, result.input_ended, result.fetch_values) == (batches, True, None)
    assert result.limit_value == batches
    (result,) = trained.run(100)
    assert (result.steps, result.input_ended, result.loss) == (0, True, None)


def test_a_call_that_takes_the_last_batch_does_not_see_the_end():
    trained = Trained(True, rows=3 * BATCH)
    (result,) = trained.run(3)
    assert (result.steps, result.input_ended) == (3, False)
    assert trained.loop(trained.iterator, 1, 3).input_ended


def test_the_limit_of_the_global_step_holds():
    trained = Trained(True)
    first, second = trained.run(30, 100, limit=40)
    assert (first.steps, second.steps, second.limit_value) == (30, 10, 40)
    assert not second.input_ended
    assert trained.left() == 60


@pytest.mark.parametrize("bad", [0, BLOCK + 2])
def test_a_nan_ends_the_loop_after_its_step(bad):
    results = [Trained(jit, bad=bad).run(80)[0] for jit in (False, True)]
    for result in results:
        assert np.isnan(result.loss)
        assert (result.steps, result.limit_value, result.input_ended) == (bad + 1, bad + 1, False)


def test_fed_values_reach_each_step():
    losses = []
    for jit_compile in (False, True):
        trained = Trained(jit_compile, fed=True)
        losses.append([trained.run(5, fed=[np.float32(s)])[0].loss for s in (1.0, 3.0)])
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
    assert losses[0][0] != losses[0][1]


def test_draws_do_not_depend_on_how_the_steps_are_cut_into_calls():
    """Many single steps get a function of their own, which XLA compiles apart."""
    singly, together = Trained(True, drops=True), Trained(True, drops=True)
    results = singly.run(*[1] * 12)
    assert [result.limit_value for result in results] == list(range(1, 13))
    assert singly.loop._single._call is not None
    assert together.run(12)[0].loss == pytest.approx(results[-1].loss, rel=1e-4)
    assert len({result.loss for result in results}) == 12


def test_what_differs_from_batch_to_batch_is_not_kept_for_a_step_without_it():
    """A text beside the numbers is drawn with them and is no obstacle."""
    with trace_graph(seed=1) as graph:
        x, name = v1.placeholder(tf.float32, [2]), v1.placeholder(tf.string, [2])
        total = v1.get_variable("total", initializer=0.0)
        add = total.assign_add(tf.reduce_sum(x))
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    session = lifted_session(graph, strategy)
    step = Step([ref(x), ref(name)], [ref(add.op)])
    loop = StepLoop(session, strategy, step, request=LoopRequest(jit_compile=True, in_blocks=True))
    with eager_mode():
        elements = tf.data.Dataset.from_tensors((tf.ones(2), tf.constant(["a", "b"])))
        iterator = iter(elements.repeat(40))
    assert loop(iterator, 60).steps == 40
    assert session.run(total) == 80.0


def test_what_compiles_in_a_block_passes_the_check_and_nothing_runs():
    trained = Trained(True, fed=True)
    trained.loop.check_blocks()
    assert trained.left() == 100
    assert trained.weights()["global_step"] == 0


def test_a_loop_of_unknown_length_is_refused_before_anything_runs():
    """It was not traced for XLA, so the gradient's lists have no size."""
    with trace_graph(seed=1) as graph:
        x = v1.placeholder(tf.float32, [2, 3])
        w = v1.get_variable("w", [3, 3])
        _, end = tf.while_loop(lambda i, _: i < 5, lambda i, h: (i + 1, tf.tanh(h @ w)), [0, x])
        train = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(end))
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    loop = StepLoop(
        lifted_session(graph, strategy), strategy, Step([ref(x)], [ref(train)]),
        request=LoopRequest(jit_compile=True, in_blocks=True),
    )  # fmt: skip
    assert loop.is_in_blocks
    with pytest.raises(NotCompilableError, match="requires a fixed tensor list size"):
        loop.check_blocks()
