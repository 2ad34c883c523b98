"""Steps of traced graphs on JAX's CPU devices, beside emulated cores."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.base.jax_names import JaxName, parse_jax_name
from estimator_bridge.errors import AcceleratorNotFoundError, NotCompilableError, NotOnJaxError
from estimator_bridge.graph import ReplicaLocal, replica_locals, trace_graph
from estimator_bridge.runtime import (
    BatchLayout,
    LoopRequest,
    Step,
    TPUClusterResolver,
    step_loop,
    tpu_strategy,
)
from estimator_bridge.runtime.on_jax import program as on_jax_program
from estimator_bridge.runtime.on_jax.block_reader import BlockReader
from estimator_bridge.runtime.on_jax.draws import advise_on_draws
from estimator_bridge.tensorflow_private.names import eager_mode

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

v1 = tf.compat.v1
CACHE_OPTIONS = {  # of JAX: whatever the time to compile and the size
    "jax_persistent_cache_min_compile_time_secs": 0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    "jax_compilation_cache_dir": None,
}


def batches(values):
    with eager_mode():
        return iter(tf.data.Dataset.from_tensor_slices(np.float32(values)).batch(4))


@pytest.fixture(scope="module")
def reader():
    return BlockReader(BatchLayout(), [0])


class Adder:
    """A step that adds up its batches and random numbers over the replicas."""

    def __init__(self, master, fetches=()):
        strategy = tpu_strategy(master=master)
        with trace_graph(seed=1, shards=strategy.num_replicas_in_sync) as graph:
            share = 4 // strategy.num_replicas_in_sync
            x = v1.placeholder(tf.float32, [share], name="x")
            step = v1.train.create_global_step()
            noise = v1.random_uniform([3]) + tf.cast(
                v1.random_uniform([3], 0, 9, tf.int32), tf.float32
            )
            noise += v1.random_normal([3], seed=5) + v1.truncated_normal([3], seed=6)
            noise += tf.cast(v1.random_uniform([3], dtype=tf.float64), tf.float32)
            noise = tf.add(
                noise, tf.cast(v1.random_normal([3], dtype=tf.bfloat16), tf.float32), "noise"
            )
            total = v1.get_variable("total", [3], initializer=v1.zeros_initializer())
            each = tf.reduce_sum(x) + noise
            updates = [
                v1.assign_add(total, v1.tpu.cross_replica_sum(each)),
                v1.assign_add(step, 1),
            ]
            loss = tf.identity(tf.reduce_sum(x), name="loss")
        self.session, self.total = lifted_session(graph, strategy), total
        self.loop = step_loop(
            self.session,
            strategy,
            Step([x.name], [f"^{u.op.name}" for u in updates], loss.name, counter=step.op.name),
            BatchLayout(),
            LoopRequest(fetches=[noise.name, *fetches]),
        )

    def value(self):
        return self.session.run(self.total)


@pytest.mark.parametrize("replicas", [1, 2])
def test_steps_have_the_numbers_of_emulated_cores(replicas):
    """Sums over the replicas, random numbers of each, in loops of two lengths."""
    inputs = np.random.RandomState(0).rand(20)
    results = []
    for master in (f"emulated:{replicas}", f"jax:cpu:{replicas}"):
        adder, read = Adder(master), batches(inputs)
        first = adder.loop(read, 2, 0)
        then = adder.loop(read, 100, 2)
        assert (first.steps, then.steps, then.input_ended) == (2, 3, True)
        assert then.limit_value == 5
        results.append([first.fetch_values["noise:0"], adder.value(), first.loss, then.loss])
    for cores, jax in zip(*results):
        np.testing.assert_allclose(jax, cores, rtol=1e-5)


def test_the_devices_own_generator_goes_on_from_any_step(monkeypatch):
    """Its numbers are others than those of emulated cores, in other streams on each replica."""
    inputs, results = np.zeros(20), []
    emulated = Adder("emulated:2")
    emulated.loop(batches(inputs), 5)
    monkeypatch.setenv("ESTIMATOR_BRIDGE_JAX_DRAWS", "device")
    for lengths in ((5,), (2, 3)):
        adder, read, start = Adder("jax:cpu:2"), batches(inputs), 0
        for steps in lengths:
            noise = adder.loop(read, steps, start).fetch_values["noise:0"]
            start += steps
        results.append((noise, adder.value()))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert np.abs(results[0][1] - emulated.value()).min() > 1e-3
    assert np.abs(results[0][1] - 2 * 5 * np.mean(results[0][0])).max() > 1e-3


def test_a_limit_ends_the_steps_and_no_batch_is_lost():
    adder, read = Adder("jax:cpu:2"), batches(np.ones(20))
    assert adder.loop(read, 100, 0, limit=3).steps == 3
    assert adder.loop(read, 100, 3).steps == 2


@given(count=st.integers(0, 110), requests=st.lists(st.integers(1, 70), min_size=1, max_size=4))
@settings(deadline=None, max_examples=40)
def test_blocks_have_each_batch_once_in_order(reader, count, requests):
    with eager_mode():
        read = iter(tf.data.Dataset.range(2 * count).batch(2, drop_remainder=True))
    rows, steps = [], 0
    for request in requests:
        block = reader(read, request)
        steps += request
        assert block.steps == max(min(count - steps + request, request), 0)
        assert block.has_ended == (steps > count)
        assert [len(part) for part in block.parts] == [block.steps] * bool(block.steps)
        rows += [row for part in block.parts for row in part.reshape(-1).tolist()]
    assert rows == list(range(2 * min(steps, count)))


def test_steps_begin_before_a_calls_batches_are_all_read(monkeypatch):
    """One program of JAX runs all blocks of a call, the first and shorter one too."""
    adder, sizes = Adder("jax:cpu:1"), []
    call = on_jax_program.StepsProgram.__call__

    def noting(program, block, *arguments):
        sizes.append(block)
        return call(program, block, *arguments)

    monkeypatch.setattr(on_jax_program.StepsProgram, "__call__", noting)
    assert adder.loop(batches(np.ones(400)), 100).steps == 100
    assert sizes == [(4, 32)] + [(32, 32)] * 3


def test_a_nan_ends_the_steps_after_its_own():
    adder = Adder("jax:cpu:2")
    result = adder.loop(batches([1] * 4 + [np.nan] * 4 + [1] * 12), 5)
    assert (result.steps, result.limit_value) == (2, 2)
    assert np.isnan(result.loss)


def test_sessions_see_the_steps_and_steps_see_the_sessions():
    adder, read = Adder("jax:cpu:2"), batches(np.zeros(20))
    adder.loop(read, 2)
    before = adder.value()
    with adder.session.graph.as_default():
        adder.total.load(before + 100, adder.session)
    adder.loop(read, 1, 2)
    assert np.all(adder.value() > before + 100)
    assert np.all(adder.value() < before + 100 + 20)


@pytest.mark.parametrize("is_mean", [True, False], ids=["mean", "sum"])
def test_sessions_see_replica_local_variables_as_one(is_mean):
    """A replica's own moving average: sessions see the mean or the sum, and set each copy."""
    values = []
    for master in ("emulated:2", "jax:cpu:2"):
        strategy = tpu_strategy(master=master)
        with trace_graph(shards=2) as graph:
            x = v1.placeholder(tf.float32, [2], name="x")
            local = v1.get_variable("local", [], initializer=v1.zeros_initializer())
            kind = ReplicaLocal(is_mean, local.initializer.name)
            replica_locals(graph).variables[local.op.name] = kind
            update = v1.assign_add(local, tf.reduce_sum(x))
        session = lifted_session(graph, strategy)
        step = Step([x.name], [f"^{update.op.name}"])
        loop = step_loop(session, strategy, step, BatchLayout(), LoopRequest())
        read = batches(np.arange(12))
        loop(read, 2)
        values.append([session.run(local)])
        with graph.as_default():
            local.load(10.0, session)
        loop(read, 1)
        values[-1].append(session.run(local))
    assert values[0] == values[1]
    assert values[0][0] == (14.0 if is_mean else 28.0)


def test_a_step_with_convolutions_runs_without_a_loop_and_ends_at_a_nan():
    """XLA computes convolutions ten times as slowly in a loop on a CPU."""
    results = []
    for master in ("emulated:2", "jax:cpu:2"):
        strategy = tpu_strategy(master=master)
        with trace_graph(shards=2) as graph:
            x = v1.placeholder(tf.float32, [2], name="x")
            kernel = v1.get_variable("kernel", [3, 1, 1], initializer=v1.ones_initializer())
            smooth = tf.nn.conv1d(tf.reshape(x, [1, 2, 1]), kernel, 1, "SAME")
            loss = tf.reduce_sum(smooth, name="loss")
            update = v1.assign_add(kernel, 0.1 * v1.tpu.cross_replica_sum(kernel * loss))
        session = lifted_session(graph, strategy)
        step = Step([x.name], [f"^{update.op.name}"], loss.name)
        loop = step_loop(session, strategy, step, BatchLayout(), LoopRequest())
        read = batches([1.0] * 8 + [np.nan] * 4 + [1.0] * 8)
        first, then = loop(read, 2), loop(read, 3, 2)
        results.append((first.steps, first.loss, then.steps, np.isnan(then.loss)))
    assert results[0] == pytest.approx(results[1])
    assert results[1][2:] == (1, True)


def outer_sum(size):
    """A step whose result needs size * size floats, and a variable that it updates."""
    strategy = tpu_strategy(master="jax:cpu:1")
    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [4], name="x")
        total = v1.get_variable("total", [3], initializer=v1.zeros_initializer())
        row = tf.range(size, dtype=tf.float32) + x[0]
        row = tf.sort(row[:, None] * row[None, :], axis=0) if size else row
        update = v1.assign_add(total, tf.ones([3]) * tf.reduce_sum(row))
    session = lifted_session(graph, strategy)
    step = Step([x.name], [f"^{update.op.name}"])
    return step_loop(session, strategy, step, BatchLayout(), LoopRequest())


def test_a_device_out_of_memory_says_what_lay_on_it():
    loop = outer_sum(3_000_000)
    with pytest.raises(tf.errors.ResourceExhaustedError) as raised:
        loop(batches(np.arange(8)), 1)
    words = str(raised.value)
    assert "Out of memory allocating 36" in words
    assert "1 variables of 12 bytes in all (the largest: total 12 bytes)" in words
    assert "batches of 16 bytes" in words
    assert "Lower train_batch_size" in words


def test_a_lost_device_is_an_error_of_its_status_that_says_how_to_go_on(monkeypatch):
    import jax

    def lose(*args):
        raise jax.errors.JaxRuntimeError("INTERNAL: the chip fell off the bus")

    loop = outer_sum(0)
    monkeypatch.setattr(on_jax_program.StepsProgram, "__call__", lose)
    with pytest.raises(tf.errors.InternalError, match="the chip fell off the bus") as raised:
        loop(batches(np.arange(8)), 1)
    assert "it resumes from that checkpoint" in str(raised.value)


def test_a_step_is_compiled_once_for_all_processes_with_a_cache_on_disk(tmp_path):
    """JAX names its entries by the program, which must not have numbers of this process."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    settings_before = {name: getattr(jax.config, name) for name in CACHE_OPTIONS}
    try:
        for name, value in CACHE_OPTIONS.items():
            jax.config.update(name, value)
        jax.config.update("jax_compilation_cache_dir", str(tmp_path))
        sums = []
        for _ in range(2):
            compilation_cache.reset_cache()
            jax.clear_caches()
            adder = Adder("jax:cpu:2")
            adder.loop(batches(np.arange(20)), 5)
            sums.append(adder.value())
            entries = [path.name for path in tmp_path.glob("*-cache")]
            assert len(entries) == 1
    finally:
        for name, value in settings_before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
    assert np.array_equal(*sums)


def test_sizes_of_queues_are_read_by_the_host():
    strategy = tpu_strategy(master="jax:cpu:2")
    with trace_graph(shards=2) as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        queue = v1.FIFOQueue(5, [tf.float32], [[]])
        add = queue.enqueue_many([[1.0, 2.0, 3.0]])
        doubled = tf.multiply(queue.size(), 2, name="doubled")
        loss = tf.identity(tf.reduce_sum(x), name="loss")
    session = lifted_session(graph, strategy)
    session.run(add)
    step = Step([x.name], [], loss.name)
    loop = step_loop(session, strategy, step, BatchLayout(), LoopRequest(fetches=[doubled.name]))
    assert loop(batches(np.ones(12)), 2).fetch_values == {"doubled:0": 6}


@pytest.mark.parametrize("master", ["emulated:2", "jax:cpu:2"])
def test_the_gradient_of_copied_pixels_is_computed_though_xla_has_no_kernel_of_it(master):
    strategy = tpu_strategy(master=master)
    weights = np.arange(24, dtype=np.float32).reshape(1, 4, 6, 1)
    with trace_graph(shards=2) as graph:
        picture = v1.get_variable("picture", [1, 2, 3, 1], initializer=v1.zeros_initializer())
        larger = v1.image.resize_nearest_neighbor(picture, [4, 6])
        x = v1.placeholder(tf.float32, [2], name="x")
        (gradient,) = tf.gradients(tf.reduce_sum(larger * weights) * x[0], picture)
        update = v1.assign_add(picture, gradient)
    session = lifted_session(graph, strategy)
    step = Step([x.name], [f"^{update.op.name}"])
    step_loop(session, strategy, step, BatchLayout(), LoopRequest())(batches(np.ones(4)), 1)
    sums = weights.reshape(2, 2, 3, 2).sum(axis=(1, 3))
    assert np.array_equal(session.run(picture)[0, :, :, 0], sums)


def step_of(make):
    strategy = tpu_strategy(master="jax:cpu:2")
    with trace_graph(seed=1, shards=2) as graph:
        total = v1.get_variable("total", [], initializer=v1.zeros_initializer())
        update = v1.assign_add(total, make())
    session = lifted_session(graph, strategy)
    step = Step((), [f"^{update.op.name}"])
    return step_loop(session, strategy, step, BatchLayout(), LoopRequest())


def python_function():
    result = v1.py_func(np.float32, [np.float32(1)], tf.float32)
    result.set_shape([])
    return result


def gamma_in_a_condition():
    return tf.while_loop(lambda x: v1.random_gamma([], 2.0) < x, lambda x: x / 2, [1.0])[0]


def unbounded_gradient():
    x = v1.random_uniform([])
    y = tf.while_loop(lambda y: y < 9.0, lambda y: y * y + x, (1.0,))[0]
    return tf.gradients(y, x)[0]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tf.reduce_sum(v1.random_poisson(1.0, [2])), NotCompilableError, "RandomPoisson"),
        (gamma_in_a_condition, NotOnJaxError, "without a position"),
        (python_function, NotCompilableError, "py_func"),
        (unbounded_gradient, NotCompilableError, "pass maximum_iterations"),
    ],
    ids=["poisson", "condition", "py_func", "unbounded"],
)
def test_what_steps_on_jax_lack_is_refused_with_the_line(make, error, words):
    with pytest.raises(error, match=words) as raised:
        step_of(make)
    assert "test_on_jax.py" in str(raised.value)
    assert "emulated:8" in str(raised.value)


def test_functions_of_the_program_are_refused():
    with pytest.raises(NotOnJaxError, match="only"):
        tpu_strategy(master="jax:cpu:2").run(lambda: 1)
    resolver = TPUClusterResolver("jax:cpu:2")
    with pytest.raises(NotOnJaxError, match="'jax:cpu:2'"):
        tf.tpu.experimental.initialize_tpu_system(resolver)
    tpu_strategy(master="jax:cpu:4")  # one that this process has already is no way around it
    with pytest.raises(NotOnJaxError, match="num_cores_per_replica=2"):
        tpu_strategy(master="jax:cpu:4", cores_per_replica=2)


def test_names():
    assert parse_jax_name("jax") == JaxName(None)
    assert parse_jax_name("jax:4") == JaxName(4)
    assert parse_jax_name("jax:cpu:8") == JaxName(8, on_cpu=True)
    assert [parse_jax_name(name) for name in ("", None, "jaxed", "emulated:2")] == [None] * 4
    assert TPUClusterResolver("jax:cpu:2").num_accelerators() == {"TPU": 2}
    for name in ("jax:", "jax:0", "jax:cpu", "jax:gpu:1", "jax:-1"):
        with pytest.raises(ValueError, match="names no devices of JAX"):
            parse_jax_name(name)


def test_only_an_accelerator_is_told_of_its_own_generator(caplog):
    caplog.set_level("INFO", "tensorflow")
    advise_on_draws("jax:cpu:1", "cpu")
    assert not caplog.messages
    for _ in range(2):
        advise_on_draws("jax:4", "tpu")
    assert [m for m in caplog.messages if "ESTIMATOR_BRIDGE_JAX_DRAWS=device" in m] == (
        caplog.messages
    )
    assert len(caplog.messages) == 1


def test_the_generator_has_two_names(monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_JAX_DRAWS", "fast")
    with pytest.raises(ValueError, match=r"must be 'same' .* or 'device' .*; got 'fast'"):
        tpu_strategy(master="jax:cpu:1")


def test_a_cpu_is_no_accelerator():
    with pytest.raises(AcceleratorNotFoundError, match="sees only the CPU"):
        tpu_strategy(master="jax")


def test_the_environment_sends_any_tpu_to_jax(monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_RUNTIME", "jax:cpu:2")
    assert TPUClusterResolver("some-tpu").master() == "jax:cpu:2"
    assert tpu_strategy(master="grpc://10.0.0.2:8470").num_replicas_in_sync == 2
    monkeypatch.setenv("ESTIMATOR_BRIDGE_CORES", "2")
    with pytest.raises(ValueError, match="Set one of them"):
        TPUClusterResolver("some-tpu")
    monkeypatch.delenv("ESTIMATOR_BRIDGE_CORES")
    monkeypatch.setenv("ESTIMATOR_BRIDGE_RUNTIME", "torch")
    with pytest.raises(ValueError, match="got 'torch'"):
        TPUClusterResolver("some-tpu")
