"""Random numbers in loops, branches and functions: the originals', on cores and on JAX."""

import functools
import json
import os

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session
from goldens.loop_draws import loop_draw_cases

from estimator_bridge.errors import NotOnJaxError
from estimator_bridge.graph import for_tpu, trace_graph
from estimator_bridge.runtime import BatchLayout, LoopRequest, Step, step_loop, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

v1 = tf.compat.v1
SIZES = loop_draw_cases.SIZES
GOLDEN = os.path.join(os.path.dirname(loop_draw_cases.__file__), "loop_draws.json")
OF_ANY_SIZE = {*loop_draw_cases.DRAWS, "branch", "branch in loop of any size", "nested of any size"}


class Drawer:
    """A step that draws, as often as the number in its batch says, and adds its numbers up."""

    def __init__(self, master, make, seed=3):
        strategy = tpu_strategy(master=master)
        replicas = strategy.num_replicas_in_sync
        with trace_graph(seed, shards=replicas) as graph:
            x = v1.placeholder(tf.float32, [1], name="x")
            with for_tpu(strategy):
                tensors = make(tf.cast(x[0], tf.int32))
            step = v1.train.create_global_step()
            update = v1.assign_add(step, 1)
            names = list(tensors)
            flat = {name: tf.identity(tensors[name], f"draws_{i}") for i, name in enumerate(names)}
            # Each replica has its own numbers; a hook sees the first one's.
            last = v1.tpu.cross_replica_sum(
                tf.concat([tf.reshape(t, [-1]) for t in flat.values()], 0)
            )
            last = tf.identity(last, "sums")
        self.replicas, self.names = replicas, names
        self.refs = [*(flat[name].name for name in names), last.name]
        self.session = lifted_session(graph, strategy)
        self._arguments = (
            self.session,
            strategy,
            Step([x.name], [f"^{update.op.name}"], counter=step.op.name),
            BatchLayout(),
        )
        self.loops = {}

    def loop(self, *refs):
        """Returns the compiled loop that fetches some tensors."""
        if refs not in self.loops:
            self.loops[refs] = step_loop(*self._arguments, LoopRequest(fetches=list(refs)))
        return self.loops[refs]

    def run(self, sizes, start=0, calls=None):
        """Returns the last step's numbers of each call, by name, and the sums over the replicas."""
        with eager_mode():
            values = np.repeat(np.float32(sizes), self.replicas)
            read = iter(tf.data.Dataset.from_tensor_slices(values).batch(self.replicas))
        results = []
        for steps in calls or [1] * len(sizes):
            fetched = self.loop(*self.refs)(read, steps, start).fetch_values
            start += steps
            results.append([np.asarray(fetched[ref]) for ref in self.refs])
        return [dict(zip([*self.names, "sums"], arrays)) for arrays in results]


@functools.cache
def compiled(master):
    return Drawer(master, loop_draw_cases.cases)


def new_run(master):
    """Returns the step as a new process has it."""
    drawer = compiled(master)
    drawer.loop(*drawer.refs)
    resources = drawer.session.resources
    names = [name for name in resources.variables if name.endswith("counters")]
    assert len(names) == len(OF_ANY_SIZE)
    with eager_mode():
        for copy in (copy for name in names for copy in resources.copies(name)):
            copy.assign(tf.zeros_like(copy))
    if resources.on_device is not None:
        resources.on_device.drop(names)
    return drawer


@pytest.mark.parametrize("master", ["emulated:1", "jax:cpu:1"])
def test_the_numbers_are_the_originals(master):
    with open(GOLDEN) as file:
        golden = json.load(file)["draws"]
    runs = new_run(master).run(SIZES)
    of_kernels = Drawer(master, loop_draw_cases.kernel_cases).run(SIZES)
    for name, expected in golden.items():
        for size, run, other, numbers in zip(SIZES, runs, of_kernels, expected):
            drawn = {**run, **other}[name]
            np.testing.assert_allclose(
                drawn, numbers, rtol=2e-6, atol=2e-6, err_msg=f"{name}, {size}"
            )


@pytest.mark.parametrize("replicas", [1, 2])
def test_jax_draws_what_emulated_cores_draw(replicas):
    sizes = [1, 3, 0, 2, 2]
    cores = new_run(f"emulated:{replicas}").run(sizes, calls=[5])[-1]
    jax = new_run(f"jax:cpu:{replicas}").run(sizes, calls=[2, 3])[-1]
    assert np.abs(cores["sums"]).max() > 0.1
    for name, numbers in cores.items():
        np.testing.assert_allclose(jax[name], numbers, rtol=3e-6, atol=3e-6, err_msg=name)


@pytest.mark.parametrize("master", ["emulated:2", "jax:cpu:2"])
def test_a_resumed_run_goes_on_bit_for_bit(master):
    """It needs no record of the steps before, where a step always draws as many numbers."""
    whole = new_run(master).run([2] * 4)
    resumed = new_run(master).run([2, 2], start=2)
    for name in set(whole[0]) - OF_ANY_SIZE - {"sums"}:
        for before, after in zip(whole[2:], resumed):
            np.testing.assert_array_equal(after[name], before[name], err_msg=name)
    for name in OF_ANY_SIZE:  # these streams begin anew, as the original's do
        np.testing.assert_array_equal(resumed[0][name], whole[0][name], err_msg=name)


@pytest.mark.parametrize("master", ["emulated:1", "jax:cpu:1"])
def test_steps_with_other_fetches_go_on_in_the_same_streams(master):
    """They are compiled separately, and each kernel in a function began a stream of its own."""
    whole = new_run(master).run([2, 2, 2])
    drawer = new_run(master)
    with eager_mode():
        read = iter(tf.data.Dataset.from_tensors(np.float32([2.0])).repeat())
    drawer.loop(drawer.refs[0])(read, 2, 0)  # of any size
    last = drawer.run([2], start=2)[0]
    for name in (drawer.names[0], "fixed"):
        np.testing.assert_array_equal(last[name], whole[2][name])


@pytest.mark.parametrize("master", ["emulated:2", "jax:cpu:2"])
def test_replicas_draw_differently(master):
    run = new_run(master).run([3])[0]
    own = np.concatenate([run[name].reshape(-1) for name in list(run)[:-1]])
    others = run["sums"] - own
    has_number = np.abs(own) > 1e-6
    assert np.abs(others - own)[has_number].min() > 1e-6


def test_without_seeds_every_trace_draws_differently():
    def make(size):
        return {"x": loop_draw_cases.in_loop(lambda _: v1.random_uniform([2]), size)}

    runs = [run["x"][:2] for _ in range(2) for run in Drawer("jax:cpu:1", make, None).run([2, 2])]
    assert len({value.tobytes() for value in runs}) == 4
    assert len(np.unique(np.stack(runs))) == 16


def test_a_gradient_of_dropout_in_a_recurrent_net_has_the_forward_masks():
    """The masks are drawn once: a loop of gradients reads what the loop before it has drawn."""

    def make(size):
        x = tf.ones([2, 4, 3])
        cell = v1.nn.rnn_cell.BasicRNNCell(3, activation=tf.identity)
        cell = v1.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.5, seed=1)
        y, _ = v1.nn.dynamic_rnn(cell, x, sequence_length=[size, size + 1], dtype=tf.float32)
        (gradient,) = tf.gradients(y, v1.trainable_variables()[1])  # of the bias, once a step
        return {"y": y, "gradient": gradient}

    cores, jax = (Drawer(master, make).run([1, 3, 2]) for master in ("emulated:1", "jax:cpu:1"))
    for one, other in zip(cores, jax):
        np.testing.assert_allclose(one["y"], other["y"], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(one["gradient"], other["gradient"], rtol=1e-5)
    assert len({run["y"][1, 0].tobytes() for run in jax}) > 1
    assert jax[0]["y"].any()
    assert not jax[0]["y"][1, 2:].any()  # beyond the rows' lengths


def drawing_condition(size):
    del size
    return {"x": tf.while_loop(lambda x: v1.random_uniform([]) < x, lambda x: x / 2, [1.0])[0]}


def test_what_has_no_position_is_refused_with_the_line():
    with pytest.raises(NotOnJaxError, match="a loop's condition") as raised:
        Drawer("jax:cpu:1", drawing_condition).run([1])
    assert os.path.basename(__file__) in str(raised.value)
    assert Drawer("emulated:1", drawing_condition).run([2])[0]["x"].size


def test_the_devices_own_generator_draws_in_loops_too(monkeypatch):
    numbers = new_run("jax:cpu:2").run([2] * 3)
    monkeypatch.setenv("ESTIMATOR_BRIDGE_JAX_DRAWS", "device")
    drawer = Drawer("jax:cpu:2", loop_draw_cases.cases)
    whole = drawer.run([2] * 3)
    resumed = drawer.run([2], start=2)[0]
    for name in ("fixed", "nested", "function", "branch in loop"):
        np.testing.assert_array_equal(resumed[name], whole[2][name])
        assert not np.array_equal(numbers[2][name], whole[2][name])
        assert not np.array_equal(whole[1][name], whole[2][name])


def categorical(size):
    logits = tf.math.log([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]]) + 0.0 * tf.cast(size, tf.float32)
    return {"x": tf.cast(tf.random.categorical(logits, 5, seed=4), tf.float32)}


def shuffle(size):
    return {"x": tf.random.shuffle(tf.range(20.0) + tf.cast(size, tf.float32), seed=4)}


def gamma(size):
    alpha = 0.3 + tf.cast(size, tf.float32) * [[1.0], [0.1]]
    return {"x": tf.random.gamma([3], alpha, seed=4)}


def close(numbers, expected):
    np.testing.assert_allclose(numbers, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("make", [categorical, shuffle, gamma])
def test_jax_draws_what_kernels_of_emulated_cores_draw(make, replicas):
    """On each replica, and with a position at which a resumed run goes on."""
    cores = Drawer(f"emulated:{replicas}", make).run([1] * 4)
    on_jax = Drawer(f"jax:cpu:{replicas}", make).run([1] * 4)
    resumed = Drawer(f"jax:cpu:{replicas}", make).run([1] * 2, start=2)
    for i, draws in enumerate(cores):
        for name in ("x", "sums"):
            close(on_jax[i][name], draws[name])
            if i >= 2:
                np.testing.assert_array_equal(resumed[i - 2][name], on_jax[i][name])
    assert len({draws["sums"].tobytes() for draws in cores}) > 1


@pytest.mark.parametrize("replicas", [1, 2])
def test_shuffles_and_classes_in_loops_and_branches_are_those_of_emulated_cores(replicas):
    make = loop_draw_cases.kernel_cases
    cores = Drawer(f"emulated:{replicas}", make).run([2, 3, 0, 1])
    on_jax = Drawer(f"jax:cpu:{replicas}", make).run([2, 3, 0, 1])
    resumed = Drawer(f"jax:cpu:{replicas}", make).run([1], start=3)[0]
    for one, other in zip(cores, on_jax):
        for name, numbers in one.items():
            close(other[name], numbers)
    for name in ("shuffle in fixed loop", "categorical in fixed loop", "shuffle in function"):
        np.testing.assert_array_equal(resumed[name], on_jax[3][name])


def beside_a_kernel(size):
    """Draws with a position, and by a kernel that has none on cores, in one function."""

    def both(_):
        return loop_draw_cases.normal() + 100 * loop_draw_cases.shuffle()

    del size
    return {"x": loop_draw_cases.in_loop(both, 3)[:3]}


def test_draws_beside_a_kernel_go_on_after_a_restart():
    whole = Drawer("emulated:2", beside_a_kernel).run([1] * 3)
    resumed = Drawer("emulated:2", beside_a_kernel).run([1], start=2)[0]["x"]
    of_kernel = np.round(whole[2]["x"] / 100)
    normal = whole[2]["x"] - 100 * of_kernel
    np.testing.assert_allclose(resumed - 100 * np.round(resumed / 100), normal, atol=1e-4)
    assert np.abs(normal).min() > 0
    shuffles = np.stack([np.round(run["x"] / 100) for run in whole])
    np.testing.assert_array_equal(np.round(resumed / 100), shuffles[0])  # as the original's does


def test_gamma_variates_on_cores_go_on_after_a_restart():
    whole = Drawer("emulated:2", gamma).run([1] * 3)
    resumed = Drawer("emulated:2", gamma).run([1], start=2)[0]
    for name, numbers in whole[2].items():
        np.testing.assert_array_equal(resumed[name], numbers)


def test_their_draws_have_positions_where_the_device_draws(monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_JAX_DRAWS", "device")

    def make(size):
        return {
            **categorical(size),
            **loop_draw_cases.kernel_cases(size),
            "gamma": gamma(size)["x"],
            "order": shuffle(size)["x"],
        }

    whole = Drawer("jax:cpu:2", make).run([1] * 3)
    resumed = Drawer("jax:cpu:2", make).run([1], start=2)[0]
    for name in ("x", "gamma", "order", "shuffle in fixed loop", "categorical in function"):
        np.testing.assert_array_equal(resumed[name], whole[2][name])
    assert sorted(resumed["order"]) == list(range(1, 21))
