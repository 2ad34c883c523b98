"""Infeed and outfeed in a program's own session, and replicas that train there, without a TPU."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.tensorflow_private.names import tpu_ops
from estimator_bridge_contrib import tpu as contrib_tpu

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
tpu = eb.tpu


@pytest.fixture(params=["v1 control flow", "v2 control flow"])
def session(request):
    (v1.enable_control_flow_v2 if "v2" in request.param else v1.disable_control_flow_v2)()
    with tf.Graph().as_default(), v1.Session() as session:
        yield session
    v1.enable_control_flow_v2()


def variable(name, value=0.0):
    return v1.get_variable(name, [], initializer=v1.constant_initializer(value))


def train_step(x, y):
    """One of a line through the origin; the loss is a mean, so its gradient is too."""
    w = variable("w", 1.0)
    loss = tf.reduce_mean(tf.square(w * x - y))
    optimizer = tpu.CrossShardOptimizer(v1.train.MomentumOptimizer(0.1, 0.9))
    return loss, optimizer.minimize(loss, v1.train.get_or_create_global_step())


def by_hand(batches):
    w, velocity, losses = 1.0, 0.0, []
    for x, y in batches:
        losses.append((w * x - y) ** 2)
        velocity = 0.9 * velocity + np.mean(2 * x * (w * x - y))
        w -= 0.1 * velocity
    return w, losses


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_training_in_a_loop_that_threads_feed_and_read(session, cores):
    """The host runs ahead and behind by threads of its own, as programs of 2018 did."""
    steps, size = 30, 4
    batches = np.random.RandomState(0).uniform(size=[steps, 2, size]).astype(np.float32)
    x, y = v1.placeholder(tf.float32, [size]), v1.placeholder(tf.float32, [size])

    enqueue, dequeue = [], []
    for core, part in enumerate(zip(tf.split(x, cores), tf.split(y, cores))):
        shapes = [tensor.shape for tensor in part]
        enqueue.append(contrib_tpu.infeed_enqueue_tuple(part, shapes, device_ordinal=core))
        dequeue.append(
            contrib_tpu.outfeed_dequeue_tuple([tf.int64, tf.float32], [(), ()], device_ordinal=core)
        )

    def step():
        shape = (size // cores,)
        x, y = contrib_tpu.infeed_dequeue_tuple([tf.float32] * 2, [shape, shape])
        loss, train_op = train_step(x, y)
        step = tf.identity(v1.train.get_global_step())
        with tf.control_dependencies([loss, step]):
            return contrib_tpu.outfeed_enqueue_tuple((step, loss)), train_op

    loop = contrib_tpu.batch_parallel(lambda: contrib_tpu.repeat(steps, step), num_shards=cores)
    session.run(v1.global_variables_initializer())
    seen = []

    def feed():
        for batch in batches:
            session.run(enqueue, {x: batch[0], y: batch[1]})

    def read():
        seen.extend(session.run(dequeue) for _ in range(steps))

    threads = [threading.Thread(target=target, daemon=True) for target in (feed, read)]
    for thread in threads:
        thread.start()
    session.run(loop)
    for thread in threads:
        thread.join(60)
    w, losses = by_hand(batches)
    got = session.run([v1.trainable_variables()[0], v1.train.get_global_step()])
    np.testing.assert_allclose(got, [w, steps], rtol=1e-5)
    means = np.reshape(losses, [steps, cores, -1]).mean(axis=2)
    np.testing.assert_allclose([[loss for _, loss in each] for each in seen], means, rtol=1e-4)
    assert len(v1.global_variables()) == 3  # w, its momentum, the step: as one core has


def test_a_step_a_run_on_several_cores(session):
    x = np.random.RandomState(1).uniform(size=[8]).astype(np.float32)
    losses = tpu.shard(train_step, [x, 3 * x], num_shards=4)
    session.run(v1.global_variables_initializer())
    for _ in range(3):
        session.run(losses)
    w, _ = by_hand([(x, 3 * x)] * 3)
    np.testing.assert_allclose(session.run(v1.trainable_variables()[0]), w, rtol=1e-5)


def test_each_core_has_variables_of_its_own_in_a_run(session):
    """The first core's are the program's, and each run begins with those on all cores."""

    def add(x):
        w = variable("w", 10.0)
        with tf.control_dependencies([w.assign_add(x)]):
            return w.read_value()

    outputs = tpu.replicate(add, [[1.0], [2.0]])
    session.run(v1.global_variables_initializer())
    assert session.run(outputs) == [[11.0], [12.0]]
    assert session.run(outputs[1]) == [13.0]  # which runs the first core, too
    assert session.run(v1.global_variables()) == [12.0]


def test_the_cores_share_the_variables_that_an_optimizer_makes(session):
    """Adam has two that no scope finds again, its beta powers."""

    def step(x):
        loss = tf.square(variable("w", 1.0) - x)
        return loss, tpu.CrossShardOptimizer(v1.train.AdamOptimizer()).minimize(loss)

    tpu.replicate(step, [[1.0], [2.0], [3.0]])
    names = [variable.op.name for variable in v1.global_variables()]
    assert sorted(names) == ["beta1_power", "beta2_power", "w", "w/Adam", "w/Adam_1"]


@pytest.mark.parametrize("groups", [None, [[0, 1], [2, 3]], [[0], [1], [2], [3]]])
def test_sums_in_loops(session, groups):
    """x_i <- sum of its group, twice: 4 + 3 + 2 + 1 = 10 and then 40."""

    def loop(x):
        return contrib_tpu.repeat(2, lambda x: [v1.tpu.cross_replica_sum(x, groups)], [x])

    outputs = tpu.replicate(loop, [[4.0], [3.0], [2.0], [1.0]])
    expected = {None: [40] * 4, 2: [14, 14, 6, 6], 1: [4, 3, 2, 1]}
    sums = expected[groups and len(groups[0])]
    assert session.run(outputs) == [[x] for x in sums]
    assert session.run(outputs[2]) == [sums[2]]


def test_sums_after_a_run_that_failed(session):
    """Values that it left in the queues between the cores are not part of a later sum."""
    first = v1.placeholder(tf.float32, [])

    def step(x):
        # Fails on the core that adds up, so that it never takes the other's value.
        total = v1.tpu.cross_replica_sum(tf.debugging.check_numerics(x, "bad"))
        with tf.control_dependencies([variable("w").assign_add(total)]):
            return [tf.identity(x)]

    outputs = tpu.replicate(lambda x: contrib_tpu.repeat(1, step, [x]), [[first], [2.0]])
    session.run(v1.global_variables_initializer())
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            session.run(outputs, {first: np.nan})
    session.run(outputs, {first: 1.0})
    assert session.run(v1.global_variables()) == [3.0]


def test_single_tensors_in_the_order_of_the_program(session):
    x = v1.placeholder(tf.float32, [2])
    enqueue = contrib_tpu.infeed_enqueue(x, [2], device_ordinal=0)
    read = contrib_tpu.outfeed_dequeue(tf.float32, [2], device_ordinal=0)

    def difference():
        first = contrib_tpu.infeed_dequeue(tf.float32, [2])
        second = contrib_tpu.infeed_dequeue(tf.float32, [2])
        return contrib_tpu.outfeed_enqueue(first - second)

    compute = tpu.rewrite(difference)
    for value in (5.0, 3.0, 7.0, 1.0):
        session.run(enqueue, {x: [value, 0.0]})
    session.run(compute)
    session.run(compute)
    assert [session.run(read)[0] for _ in range(2)] == [2.0, 6.0]


def test_raw_ops_in_a_computation(session):
    compute = tpu.rewrite(
        lambda: tf.raw_ops.OutfeedEnqueueTuple(
            inputs=[tf.raw_ops.InfeedDequeue(dtype=tf.float32, shape=[2]) * 2.0]
        )
    )
    session.run(contrib_tpu.infeed_enqueue([1.0, 2.0], [2], device_ordinal=0))
    session.run(compute)
    read = contrib_tpu.outfeed_dequeue_tuple([tf.float32], [[2]], device_ordinal=0)
    np.testing.assert_array_equal(session.run(read), [[2.0, 4.0]])


def test_two_kinds_of_batches_in_turns(session):
    """A program's training and its evaluation, of one graph."""

    def total(size):
        return tf.reduce_sum(contrib_tpu.infeed_dequeue(tf.float32, [size]))

    feeds = [contrib_tpu.infeed_enqueue(tf.ones([n]), [n], device_ordinal=0) for n in (3, 5)]
    totals = [tpu.rewrite(lambda n=n: total(n)) for n in (3, 5)]
    for number in (0, 1, 0):
        session.run(feeds[number])
        assert session.run(totals[number]) == [[3.0], [5.0]][number]


@pytest.mark.parametrize("cores", [1, 2])
def test_infeed_queue(session, cores):
    """It splits each batch; the loop's body gets the parts behind the loop's own values."""
    x = np.arange(8, dtype=np.float32).reshape([4, 2])
    queue = contrib_tpu.InfeedQueue(tuple_types=[tf.float32], tuple_shapes=[[4, 2]])
    queue.set_number_of_shards(cores)

    def computation():
        start = tf.zeros([])
        return contrib_tpu.repeat(
            3, lambda total, x: [total + tf.reduce_sum(x)], [start], infeed_queue=queue
        )

    outputs = tpu.shard(computation, num_shards=cores)
    enqueue = queue.split_inputs_and_generate_enqueue_ops([tf.constant(x)])
    for _ in range(3):
        session.run(enqueue)
    (got,) = session.run(outputs)
    sums = [3 * part.sum() for part in np.split(x, cores)]
    np.testing.assert_allclose(got, sums if cores > 1 else sums[0])
    with pytest.raises(ValueError, match="two enqueue Ops"):
        queue.split_inputs_and_generate_enqueue_ops([tf.constant(x)])


def test_infeed_queue_as_arguments(session):
    queue = contrib_tpu.InfeedQueue(2)
    parts = [[tf.constant([1.0]), tf.constant([2])], [tf.constant([3.0]), tf.constant([4])]]
    enqueue = queue.generate_enqueue_ops(parts)
    outputs = tpu.replicate(
        lambda x, y, z: x + y[0] + tf.cast(z[0], tf.float32), [[10.0], [20.0]], infeed_queue=queue
    )
    session.run(enqueue)
    assert session.run(outputs) == [[13.0], [27.0]]
    with pytest.raises(ValueError, match="incompatible type"):
        queue.set_tuple_types([tf.int32, tf.int32])


@pytest.mark.parametrize("is_host_first", [True, False])
def test_both_sides_are_compared(session, is_host_first):
    def host():
        contrib_tpu.infeed_enqueue(tf.ones([3]), [3], device_ordinal=0, name="host")

    def core():
        tpu.rewrite(lambda: contrib_tpu.infeed_dequeue(tf.int32, [3], name="core"))

    (host if is_host_first else core)()
    with pytest.raises(ValueError, match=r"infeed of core 0. Give both the same") as raised:
        (core if is_host_first else host)()
    words = ("'host'", "'core'", "float32[3]", "int32[3]")
    assert all(word in str(raised.value).replace("/'", "'") for word in words)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: contrib_tpu.infeed_dequeue(tf.float32, []), "an operation of a core"),
        (lambda: contrib_tpu.outfeed_enqueue(1.0), "an operation of a core"),
        (lambda: contrib_tpu.infeed_enqueue(1.0, []), "needs device_ordinal="),
        (lambda: contrib_tpu.outfeed_dequeue(tf.float32, []), "needs device_ordinal="),
        (
            lambda: contrib_tpu.infeed_enqueue_tuple([1.0], [[None]], device_ordinal=0),
            "needs static shapes; tensor 0 has shape .None",
        ),
        (
            lambda: contrib_tpu.infeed_enqueue_tuple([[1.0, 2.0]], [[3]], device_ordinal=0),
            "got shape .3,. for tensor 0.*has shape .2,.",
        ),
    ],
)
def test_mistakes(session, make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_types_that_a_tpu_does_not_take(session):
    with pytest.raises(TypeError, match="not a supported TPU infeed type"):
        tpu.rewrite(lambda: contrib_tpu.infeed_dequeue(tf.float64, []))


@pytest.mark.parametrize(
    "name",
    [
        "infeed_dequeue", "infeed_dequeue_tuple", "infeed_enqueue", "infeed_enqueue_tuple",
        "outfeed_dequeue", "outfeed_dequeue_tuple", "outfeed_enqueue", "outfeed_enqueue_tuple",
    ],
)  # fmt: skip
def test_arguments_are_tensorflows_own(name):
    own, original = (inspect.signature(getattr(m, name)) for m in (contrib_tpu, tpu_ops))
    assert list(own.parameters) == list(original.parameters)


def test_with_a_tpu_they_are_tensorflows_own(session, monkeypatch):
    monkeypatch.setenv("TPU_NAME", "my-tpu")
    enqueue = contrib_tpu.infeed_enqueue_tuple([1.0], [[]], device_ordinal=3)
    assert (enqueue.type, enqueue.get_attr("device_ordinal")) == ("InfeedEnqueueTuple", 3)
    queue = contrib_tpu.InfeedQueue(1)
    (enqueue,) = queue.generate_enqueue_ops([[tf.constant(1.0)]], lambda i: 5)
    assert (enqueue.type, enqueue.get_attr("device_ordinal")) == ("InfeedEnqueueTuple", 5)
    assert contrib_tpu.infeed_dequeue(tf.float32, []).op.type == "InfeedDequeue"


def test_in_an_estimators_model_they_are_refused():
    def model_fn(features, labels, mode, params):
        contrib_tpu.outfeed_enqueue(features)
        return tpu.TPUEstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=tf.no_op())

    config = tpu.RunConfig(master="emulated:1")
    estimator = tpu.TPUEstimator(model_fn, config=config, train_batch_size=1)
    with pytest.raises(NotImplementedError, match=r"OutfeedEnqueue.*host_call"):
        estimator.train(lambda params: tf.data.Dataset.from_tensors([1.0]), steps=1)
