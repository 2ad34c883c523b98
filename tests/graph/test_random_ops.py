"""Random operations: the draws of a v1.Session, run by run."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, same_as_v1, v1

from estimator_bridge.graph import Lifted, Snapshot, trace_graph
from estimator_bridge.graph.randomness import RandomStreams

DRAWS = {
    "uniform": lambda **seed: tf.random.uniform([3, 2], -1.0, 1.0, **seed),
    "uniform_double": lambda **seed: tf.random.uniform([3], dtype=tf.float64, **seed),
    "uniform_half": lambda **seed: tf.random.uniform([5], dtype=tf.bfloat16, **seed),
    "uniform_int": lambda **seed: tf.random.uniform([7], 0, 1000, dtype=tf.int32, **seed),
    "uniform_long": lambda **seed: tf.random.uniform([7], -5, 1 << 40, dtype=tf.int64, **seed),
    "normal": lambda **seed: tf.random.normal([5], **seed),
    "normal_scalar": lambda **seed: tf.random.normal([], **seed),
    "truncated": lambda **seed: tf.random.truncated_normal([50], **seed),
    "shaped": lambda **seed: tf.random.normal(v1.placeholder_with_default([2, 3], [2]), **seed),
    "empty": lambda **seed: tf.random.normal([0, 3], **seed),
    "shuffle": lambda **seed: tf.random.shuffle(tf.range(20), **seed),
    "multinomial": lambda **seed: v1.multinomial([[0.1, 0.2, 0.3]], 10, **seed),
    "gamma": lambda **seed: tf.random.gamma([4], 2.0, **seed),
    "dropout": lambda **seed: tf.nn.dropout(tf.ones([30]), 0.5, **seed),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("seeds", [(None, 7), (3, None), (3, 7)], ids=str)
def test_the_draws_of_a_v1_session(name, seeds):
    graph_seed, op_seed = seeds
    runs = same_as_v1(lambda: DRAWS[name](seed=op_seed), runs=3, seed=graph_seed)
    if name != "empty":
        assert not np.array_equal(runs[0], runs[1])


@pytest.mark.parametrize("control_flow", ["v1", "v2"])
def test_inside_loops_branches_and_functions(control_flow):
    @tf.function
    def function():
        return tf.random.normal([2], seed=4)

    def build():
        if control_flow == "v1":
            v1.disable_control_flow_v2()

        def body(i, total):
            return i + 1, total + tf.random.uniform([3], seed=1)

        looped = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([3])])[1]
        branch = tf.cond(
            looped[0] > 0.0, lambda: tf.random.normal([2], seed=5), lambda: tf.zeros([2])
        )
        return looped, branch, function()

    try:
        first, second = same_as_v1(build, runs=2)
    finally:
        v1.enable_control_flow_v2()
    assert not np.allclose(first[0], second[0])


def test_several_operations_in_order():
    def build():
        a, b = tf.random.uniform([2]), tf.random.uniform([2])
        return a, b, tf.random.uniform([2])

    first, _ = same_as_v1(build, runs=2, seed=1)
    assert not np.allclose(first[0], first[1])


def test_other_fetches_move_the_same_stream_on():
    """A kernel keeps its position over all that a session runs, whatever is fetched with it."""
    with trace_graph(1) as graph:
        a = tf.random.uniform([2])
        doubled = a * 2.0
        outcomes = []
        for session in (v1.Session(graph=graph), lifted_session(graph)):
            outcomes.append(
                [session.run(a), session.run(doubled), session.run([a, doubled])[0], session.run(a)]
            )
    np.testing.assert_array_equal(*outcomes)
    assert len({value[0] for value in outcomes[1]}) == 4


def draws(seed, op_seed):
    with trace_graph(seed) as graph:
        a, b = tf.random.uniform([2], seed=op_seed), tf.random.shuffle(tf.range(50), seed=op_seed)
    session = lifted_session(graph)
    return [np.concatenate(session.run([a, b])).tolist() for _ in range(3)]


def test_the_same_seeds_the_same_numbers_and_none_others():
    assert draws(5, None) == draws(5, None)
    assert draws(None, 5) == draws(None, 5)
    assert draws(5, None) != draws(6, None)
    assert draws(None, None) != draws(None, None)


def test_one_draw_serves_all_its_users():
    with trace_graph() as graph:
        noise = tf.random.normal([4])
        twice = noise + noise
    noise_value, twice_value = lifted_session(graph).run([noise, twice])
    np.testing.assert_allclose(twice_value, 2 * noise_value)


def drawn_for_a_tpu(replica):
    """Two ops of one graph's seed, and what a TPU's generator takes of each: key and algorithm."""
    with trace_graph(seed=3) as graph:
        ops = [tf.random.uniform([4], seed=n) for n in (1, 2)]
    lifted = Lifted(
        Snapshot.of(graph), [op.name for op in ops], streams=RandomStreams(for_tpu=True)
    )

    @tf.function(autograph=False)
    def draw():
        results = lifted({}, lambda sums: [], replica, 5)
        operations = tf.compat.v1.get_default_graph().get_operations()
        kernels = [op for op in operations if op.type == "StatelessRandomUniformV2"]
        return results, [op.inputs[1] for op in kernels], [op.inputs[3] for op in kernels]

    values, keys, algorithms = draw()
    return np.stack(values), [int(key[0]) for key in keys], [int(one) for one in algorithms]


def test_a_tpu_draws_with_its_own_generator_and_distinct_keys():
    first, keys, algorithms = drawn_for_a_tpu(replica=0)
    second, others, _ = drawn_for_a_tpu(replica=1)
    assert algorithms == [tf.random.Algorithm.AUTO_SELECT.value] * 2
    # The generator may ignore the counter's second number, which holds the op's own seed.
    assert len({*keys, *others}) == 4
    assert len(np.unique(np.concatenate([first, second]))) == 16
    np.testing.assert_array_equal(first, drawn_for_a_tpu(replica=0)[0])


def test_keys_for_a_tpu_differ_between_seeds_and_replicas():
    from estimator_bridge.graph import randomness

    golden, mask = randomness._GOLDEN, (1 << 64) - 1
    keys = {
        randomness._mix(seed2) ^ (replica * golden & mask)
        for seed2 in range(500)
        for replica in range(64)
    }
    assert len(keys) == 500 * 64
