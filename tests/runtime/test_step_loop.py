"""The loop runs the given number of steps, on every replica, and loses no example."""

import dataclasses
import textwrap
import types

import numpy as np
import pytest
import tensorflow as tf
from engine import initialize_all, lifted_session, ref, run_program, v1

from estimator_bridge import runtime
from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import (
    BatchLayout,
    HostStage,
    LoopRequest,
    ReplicaStep,
    Step,
    StepLoop,
    tpu_strategy,
)
from estimator_bridge.tensorflow_private.names import eager_mode


def program(cores, batch=4):
    """Sums up its examples: a step's loss is the mean of its batch, `seen` counts the steps."""
    with trace_graph(seed=1, shards=cores) as graph:
        step = v1.train.get_or_create_global_step()
        x = v1.placeholder(tf.float32, [batch // cores], name="x")
        total = v1.get_variable("total", initializer=0.0)
        loss = tf.reduce_mean(x)
        sum_of_all = v1.tpu.cross_replica_sum(tf.reduce_sum(x))
        add = total.assign_add(sum_of_all).op
        with tf.control_dependencies([add]):
            train = step.assign_add(1).op
    strategy = tpu_strategy(master=f"emulated:{cores}")
    session = lifted_session(graph, strategy)
    return types.SimpleNamespace(**locals())


def loop_of(p, **named):
    arguments = {"inputs": [ref(p.x)], "operations": [ref(p.train)], "loss": ref(p.loss), **named}
    parts = []
    for kind in (Step, BatchLayout, LoopRequest):
        names = {field.name for field in dataclasses.fields(kind)} & arguments.keys()
        parts.append(kind(**{name: arguments.pop(name) for name in names}))
    assert not arguments
    return StepLoop(p.session, p.strategy, *parts)


def fetched(result):
    """The fetches of a call in their order, as numpy values."""
    return [value.numpy() for value in result.fetch_values.values()]


def batches(*values, size=4):
    """An iterator of batches, each of one value repeated."""
    with eager_mode():
        rows = np.repeat(np.asarray(values, np.float32)[:, None], size, axis=1)
        return iter(tf.data.Dataset.from_tensor_slices(rows))


@pytest.fixture(params=[1, 2])
def p(request):
    return program(request.param)


def test_so_many_steps_as_asked_for(p):
    loop, iterator = loop_of(p), batches(*range(10))
    result = loop(iterator, 3)
    assert (result.steps, result.input_ended, result.loss) == (3, False, 2.0)
    assert not result.fetch_values and result.short_batch is None
    assert loop(iterator, 4, rng_step=3).loss == 6.0
    assert p.session.run([p.step, p.total]) == [7, 4 * sum(range(7))]


def test_the_input_ends_in_the_midst(p):
    loop, iterator = loop_of(p), batches(1, 2, 3)
    result = loop(iterator, 10)
    assert (result.steps, result.input_ended, result.loss) == (3, True, 3.0)
    result = loop(iterator, 10)
    assert (result.steps, result.input_ended, result.loss) == (0, True, None)
    assert p.session.run([p.step, p.total]) == [3, 4 * 6.0]


def test_the_input_ends_with_the_loop(p):
    loop, iterator = loop_of(p), batches(1, 2)
    assert not loop(iterator, 2).input_ended  # nobody has asked for a third yet
    result = loop(iterator, 2)
    assert (result.steps, result.input_ended) == (0, True)


def test_the_limit_of_a_variable(p):
    loop, iterator = loop_of(p, counter="global_step"), batches(*range(10))
    assert loop(iterator, 8, limit=3).steps == 3
    assert loop(iterator, 8, limit=3).steps == 0
    assert loop(iterator, 2, limit=100).steps == 2
    assert loop(iterator, 2).steps == 2
    assert p.session.run(p.step) == 7
    with eager_mode():
        assert next(iterator).numpy()[0] == 7.0  # no batch was taken for a step that did not run


def test_a_nan_ends_the_loop_after_its_step(p):
    result = loop_of(p)(batches(1, np.nan, 3), 3)
    assert result.steps == 2
    assert np.isnan(result.loss)
    assert p.session.run(p.step) == 2


def test_a_nan_on_one_replica_alone():
    p = program(2)
    with eager_mode():
        data = tf.data.Dataset.from_tensors([1.0, 1.0, np.nan, 1.0]).repeat()
        result = loop_of(p)(iter(data), 5)
    assert result.steps == 1 and np.isnan(result.loss)


def test_infinity_is_no_nan(p):
    assert loop_of(p)(batches(1, np.inf, 3), 3).steps == 3


def test_without_a_loss(p):
    result = loop_of(p, loss=None)(batches(1, 2), 2)
    assert (result.steps, result.loss) == (2, None)


def test_fetches_are_of_the_last_step(p):
    with p.graph.as_default():
        fetches = [p.x * 2.0, p.step.read_value(), tf.strings.as_string(p.loss)]
    loop, iterator = loop_of(p, fetches=[ref(f) for f in fetches]), batches(*range(10))
    doubled, step, text = fetched(loop(iterator, 4))
    np.testing.assert_array_equal(doubled, [6.0] * (4 // p.cores))
    assert step == 3  # a read that waits for nothing tells the step's own number
    assert text == b"3.000000"
    assert fetched(loop(iterator, 1))[1] == 4
    assert loop(iterator, 50).fetch_values is None  # the last of the 50 never came


def test_what_is_fetched_costs_one_computation_a_loop(p):
    calls = []
    with p.graph.as_default():
        costly = tf.numpy_function(
            lambda x: calls.append(x[0]) or x, [p.x + 1.0], tf.float32, stateful=False
        )
        costly.set_shape(p.x.shape)
    loop = loop_of(p, fetches=[ref(costly)])
    loop(batches(*range(10)), 6)
    assert calls == [6.0]


def test_a_fetch_that_writes_runs_in_every_step(p):
    with p.graph.as_default():
        count = v1.get_variable("count", initializer=0)
        counted = count.assign_add(1).read_value() * 10
    initialize_all(p.session)
    loop = loop_of(p, fetches=[ref(counted)])
    assert loop.has_effects
    assert fetched(loop(batches(*range(10)), 4)) == [40]
    assert p.session.run(count) == 4


def test_a_fetch_of_a_read_keeps_its_place_in_the_order():
    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [1])
        w = v1.get_variable("w", initializer=0.0)
        before = w.read_value() + 0.0
        train = w.assign_add(1.0).op
        after = w.read_value() + 0.0
    strategy = tpu_strategy(master="emulated:1")
    session = lifted_session(graph, strategy)
    loop = StepLoop(
        session,
        strategy,
        Step([ref(x)], [ref(train)]),
        request=LoopRequest([ref(before), ref(after)]),
    )
    assert not loop.has_effects
    assert fetched(loop(batches(1, 2, 3, size=1), 3)) == [2.0, 3.0]


def test_summaries_and_tables_can_be_fetched(p):
    with p.graph.as_default():
        summary = v1.summary.scalar("loss", p.loss)
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer([0, 3], ["zero", "three"]), "?"
        )
        word = table.lookup(tf.cast(p.x, tf.int32))
    initialize_all(p.session)
    loop = loop_of(p, fetches=[ref(summary), ref(word)])
    written, words = fetched(loop(batches(*range(4)), 4))
    proto = v1.Summary.FromString(written)
    assert proto.value[0].simple_value == 3.0
    assert set(words) == {b"three"}


def test_a_fetch_that_waits_for_the_batch_and_a_variable(p):
    with p.graph.as_default(), tf.control_dependencies([p.x, p.total]):
        fetch = tf.constant(3.0) * 2.0
    assert fetched(loop_of(p, fetches=[ref(fetch)])(batches(1, 2), 2)) == [6.0]


def test_a_fetch_through_v1_control_flow(p):
    with p.graph.as_default():
        v1.disable_control_flow_v2()
        try:
            with tf.control_dependencies([p.add]):
                fetch = tf.cond(p.loss > 1.0, lambda: p.loss * 10.0, lambda: p.loss)
        finally:
            v1.enable_control_flow_v2()
    loop = loop_of(p, operations=[ref(p.train)], fetches=[ref(fetch)])
    iterator = batches(*range(10))
    assert fetched(loop(iterator, 2)) == [1.0]
    assert fetched(loop(iterator, 2)) == [30.0]
    assert p.session.run(p.step) == 4


def sized(*sizes, full=4):
    """Batches of 1, 2, ... padded with -1, with their sizes."""
    rows = np.full([len(sizes), full], -1, np.float32)
    for i, size in enumerate(sizes):
        rows[i, :size] = i + 1
    with eager_mode():
        return iter(tf.data.Dataset.from_tensor_slices((np.asarray(sizes, np.int64), rows)))


def test_a_short_batch_is_handed_back(p):
    loop = loop_of(p, full_batch=4)
    iterator = sized(4, 4, 3)
    result = loop(iterator, 10)
    assert (result.steps, result.input_ended, result.loss) == (2, False, 2.0)
    (short,) = result.short_batch
    np.testing.assert_array_equal(short, [3, 3, 3])
    result = loop(iterator, 10)
    assert (result.steps, result.input_ended, result.short_batch) == (0, True, None)
    assert p.session.run(p.total) == 4 * (1 + 2)


def test_a_short_batch_in_the_midst_and_first(p):
    loop = loop_of(p, full_batch=4)
    iterator = sized(1, 4, 2, 4)
    steps, shorts = 0, []
    while not (result := loop(iterator, 10)).input_ended:
        steps += result.steps
        shorts += [] if result.short_batch is None else [result.short_batch[0].numpy().tolist()]
    steps += result.steps
    assert steps == 2
    assert shorts == [[1], [3, 3]]


def test_the_host_sees_all_examples_in_order(p):
    seen = []
    with p.graph.as_default():
        examples = v1.placeholder(tf.float32, [4])
        record = v1.py_func(lambda x: seen.append(x.tolist()), [examples], [])
        count = v1.get_variable("count", initializer=0)
        counted = count.assign_add(tf.size(examples)).op
        tripled = p.x * 3.0
    initialize_all(p.session)
    host = HostStage({ref(examples): ref(tripled)}, (ref(record), ref(counted)))
    with eager_mode():
        data = tf.data.Dataset.range(12, output_type=tf.float32).batch(4, drop_remainder=True)
        assert loop_of(p, host=host)(iter(data), 10).steps == 3
    assert seen == (np.arange(12.0) * 3).reshape(3, 4).tolist()
    assert p.session.run(count) == 12


def test_what_every_replica_gets_whole():
    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [2])
        scale = v1.placeholder(tf.float32, [3])
        columns = v1.placeholder(tf.float32, [3, 1])
        loss = tf.reduce_sum(x) * scale[2] + tf.reduce_sum(columns)
    strategy = tpu_strategy(master="emulated:2")
    loop = StepLoop(
        lifted_session(graph, strategy),
        strategy,
        Step([ref(x), ref(scale), ref(columns)], loss=ref(loss)),
        BatchLayout(axes=[0, None, 1]),
    )
    with eager_mode():
        data = tf.data.Dataset.from_tensors(
            ([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 10.0], [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
        )
        assert loop(iter(data), 1).loss == ((30 + 3) + (70 + 6)) / 2


def test_another_dataset_of_the_same_kind_is_not_traced_again(p, monkeypatch):
    traces, trace = [], ReplicaStep.__call__
    monkeypatch.setattr(ReplicaStep, "__call__", lambda *a: traces.append(1) or trace(*a))
    loop = loop_of(p)
    for values in ([1, 2], [3], [4, 5, 6]):
        loop(batches(*values), 2, rng_step=len(values), limit=100)
    assert len(traces) == 1
    assert p.session.run(p.total) == 4 * (1 + 2 + 3 + 4 + 5)


def test_nested_batches(p):
    loop = loop_of(p)
    with eager_mode():
        rows = np.ones([3, 4], np.float32)
        data = tf.data.Dataset.from_tensor_slices({"features": {"x": rows}})
        assert loop(iter(data), 5).steps == 3


def random_walk(cuts, cores):
    with trace_graph(seed=3) as graph:
        x = v1.placeholder(tf.float32, [4 // cores])
        walk = v1.get_variable("walk", initializer=0.0)
        step = walk.assign_add(tf.reduce_sum(x * tf.random.normal([4 // cores]))).op
    strategy = tpu_strategy(master=f"emulated:{cores}")
    session = lifted_session(graph, strategy)
    loop = StepLoop(session, strategy, Step([ref(x)], [ref(step)]))
    iterator, done = batches(*range(10)), 0
    for steps in cuts:
        done += loop(iterator, steps, rng_step=done).steps
    return session.run(walk)


@pytest.mark.parametrize("cores", [1, 2])
def test_loops_of_any_length_draw_the_same_numbers(cores):
    whole = random_walk([6], cores)
    np.testing.assert_allclose(random_walk([1, 2, 3], cores), whole, rtol=1e-6)
    np.testing.assert_allclose(random_walk([1] * 6, cores), whole, rtol=1e-6)
    assert random_walk([5], cores) != whole


def test_a_variable_without_a_value_is_named():
    p = program(2)
    with p.graph.as_default():
        forgotten = v1.get_variable("forgotten", initializer=1.0)
        fetch = forgotten.read_value()
    loop = loop_of(p, fetches=[ref(fetch)])
    with pytest.raises(tf.errors.FailedPreconditionError, match="'forgotten'"):
        loop(batches(1), 1)
    p.session.run(forgotten.initializer)
    assert fetched(loop(batches(1), 1)) == [1.0]


def test_the_loop_under_v2_behavior_off():
    lines = run_program(
        """
        import tensorflow as tf
        tf.compat.v1.disable_v2_behavior()
        from estimator_bridge.graph import LiftedSession, trace_graph
        from estimator_bridge.runtime import Step, StepLoop, tpu_strategy
        from estimator_bridge.tensorflow_private.names import eager_mode
        v1 = tf.compat.v1
        strategy = tpu_strategy(master="emulated:2")
        with trace_graph(shards=2) as graph:
            x = v1.placeholder(tf.float32, [2])
            w = v1.get_variable("w", initializer=0.0)
            loss = tf.reduce_sum((w - x) ** 2)
            optimizer = v1.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.25))
            train = optimizer.minimize(loss)
            init = v1.global_variables_initializer()
        session = LiftedSession(graph, strategy)
        session.run(init)
        loop = StepLoop(session, strategy, Step([x.name], ["^" + train.name], loss.name))
        with eager_mode():
            data = tf.data.Dataset.from_tensors([1.0, 1.0, 3.0, 3.0]).repeat(9)
        with eager_mode():
            iterator = iter(data)
        result = loop(iterator, 20)
        print(result.steps, result.input_ended, f"{result.loss:.3f} {session.run(w):.3f}")
        """
    )
    assert lines[-1] == "9 True 2.000 2.000"


def test_the_engine_runs_alone_as_the_package_shows():
    example = runtime.__doc__.partition("without an estimator::\n")[2]
    source, _, shown = example.partition("It prints::\n")
    lines = textwrap.dedent(shown).strip().splitlines()
    assert lines
    assert run_program(source)[-len(lines) :] == lines
