"""Random numbers on replicas: another stream on each, the same from run to run."""

import numpy as np
import pytest
import tensorflow as tf
from engine import Replicas, lifted_session, v1

from estimator_bridge.graph import trace_graph


def in_a_loop(draw):
    return tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y + draw()), [0, draw() * 0])[1]


def in_a_branch(draw):
    return tf.cond(v1.placeholder_with_default(True, []), draw, lambda: draw() * 0)


def beside_v1_control_flow(draw):
    v1.disable_control_flow_v2()
    try:
        return in_a_branch(draw) + in_a_loop(draw)
    finally:
        v1.enable_control_flow_v2()


def in_a_function(draw):
    return tf.function(draw)()


DRAWS = {
    "uniform": lambda: tf.random.uniform([20]),
    "integers": lambda: tf.random.uniform([20], 0, 1 << 20, dtype=tf.int32),
    "normal": lambda: tf.random.normal([20]),
    "truncated": lambda: tf.random.truncated_normal([20]),
    "shuffle": lambda: tf.random.shuffle(tf.range(50)),
    "dropout": lambda: tf.nn.dropout(tf.range(1.0, 50.0), 0.5),
}
PLACES = {"plain": lambda draw: draw(), "loop": in_a_loop, "branch": in_a_branch,
          "function": in_a_function, "v1": beside_v1_control_flow}  # fmt: skip


def two_steps(build, seed, cores=2):
    with trace_graph(seed) as graph:
        value = build()
    replicas = Replicas(graph, cores, [value])
    return [replicas(rng_step=i)[0] for i in range(2)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", DRAWS)
def test_replicas_draw_differently_and_again_the_same(name, place):
    def build():
        return PLACES[place](DRAWS[name])

    (one, two), (later_one, later_two) = two_steps(build, seed=1)
    different = [one, two, later_one, later_two]
    assert len({value.tobytes() for value in different}) == 4
    again = two_steps(build, seed=1)
    np.testing.assert_array_equal([[one, two], [later_one, later_two]], again)


@pytest.mark.parametrize("place", PLACES)
def test_without_seeds_every_trace_draws_differently(place):
    def build():
        return PLACES[place](DRAWS["normal"])

    values = [v for _ in range(2) for step in two_steps(build, None) for v in step]
    assert len({value.tobytes() for value in values}) == 8


def test_the_first_replica_draws_what_one_alone_does():
    for name in ("uniform", "integers", "normal", "truncated"):
        alone = two_steps(DRAWS[name], 3, cores=1)
        together = two_steps(DRAWS[name], 3, cores=4)
        for one, four in zip(alone, together):
            np.testing.assert_array_equal(one[0], four[0])


def test_eight_replicas_are_uncorrelated():
    first, _ = two_steps(lambda: tf.random.normal([2000]), seed=1, cores=8)
    correlation = np.corrcoef(first) - np.eye(8)
    assert np.abs(correlation).max() < 0.12


def test_a_resumed_run_goes_on_in_the_stream():
    with trace_graph(4) as graph:
        value = tf.random.uniform([3])
    first = Replicas(graph, 2, [value])
    expected = [first(rng_step=i) for i in range(4)]
    resumed = Replicas(graph, 2, [value])
    np.testing.assert_array_equal([resumed(rng_step=i) for i in (2, 3)], expected[2:])


def test_a_step_draws_what_a_v1_session_does_run_by_run():
    with trace_graph(9) as graph:
        values = [tf.random.uniform([3]), tf.random.normal([2, 2]), tf.random.truncated_normal([4])]
        replicas = Replicas(graph, 1, values)
        with v1.Session() as session:
            for i in range(3):
                for one, (other,) in zip(session.run(values), replicas(rng_step=i)):
                    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_initial_values_are_one_for_all_replicas():
    with trace_graph(2) as graph:
        w = v1.get_variable("w", [5], initializer=v1.random_normal_initializer())
        value = lifted_session(graph).run(w)
        replicas = Replicas(graph, 4, [w.read_value()])
    for copy in replicas.copies(w):
        np.testing.assert_array_equal(copy, value)
