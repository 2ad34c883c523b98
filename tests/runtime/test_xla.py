"""Steps compiled by XLA give the same numbers as others; errors name what XLA cannot compile."""

import linecache
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from engine import Replicas, lifted_session, ref, v1

from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import LoopRequest, Step, StepLoop, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

BATCH = 8
HERE = pathlib.Path(__file__).name


def trained(cores, drops=False, **options):
    """Three steps of a model with much in it: the loop, the last loss, the variables."""
    with trace_graph(seed=1, shards=cores) as graph:
        step = v1.train.get_or_create_global_step()
        x = v1.placeholder(tf.float32, [BATCH // cores, 6])
        hidden = v1.layers.dense(x, 8, activation=tf.nn.tanh)
        mean = v1.tpu.cross_replica_sum(tf.reduce_mean(hidden, 0)) / cores
        hidden = tf.nn.dropout(hidden - mean, 0.5) if drops else hidden - mean
        _, hidden = tf.while_loop(
            lambda i, _: i < 3, lambda i, h: (i + 1, h * 0.9), (0, hidden), maximum_iterations=3
        )
        loss = tf.reduce_mean(tf.square(v1.layers.dense(hidden, 1) - 1.0))
        optimizer = v1.tpu.CrossShardOptimizer(v1.train.MomentumOptimizer(0.1, 0.9))
        train = optimizer.minimize(loss, step)
        variables = {v.op.name: v for v in v1.global_variables()}
    strategy = tpu_strategy(master=f"emulated:{cores}")
    session = lifted_session(graph, strategy)
    loop = StepLoop(
        session, strategy, Step([ref(x)], [ref(train)], ref(loss)), request=LoopRequest(**options)
    )
    with eager_mode():
        x = np.random.RandomState(0).randn(3 * BATCH, 6).astype(np.float32)
        iterator = iter(tf.data.Dataset.from_tensor_slices(x).batch(BATCH, True))
    result = loop(iterator, 3)
    assert result.steps == 3
    return loop, result.loss, session.run(variables)


@pytest.mark.parametrize("cores", [1, 2])
def test_a_compiled_step_gives_the_same_numbers(cores):
    plain, loss, variables = trained(cores)
    compiled, same_loss, same_variables = trained(cores, jit_compile=True)
    assert same_loss == pytest.approx(loss, rel=1e-4)
    for name, value in variables.items():
        np.testing.assert_allclose(same_variables[name], value, atol=1e-5, err_msg=name)
    assert calls_of_xla(plain) == 0
    assert calls_of_xla(compiled) == 4 * cores  # three rounds of sums cut it into four


def calls_of_xla(loop):
    (_, function), *_ = loop._many.compiled
    definition = function.graph.as_graph_def()
    nodes = [*definition.node, *(n for f in definition.library.function for n in f.node_def)]
    return sum("_XlaMustCompile" in n.attr and n.attr["_XlaMustCompile"].b for n in nodes)


def test_numbers_that_are_drawn_alike_do_not_depend_on_the_split():
    _, _, alone = trained(1, drops=True, draws_alike=True)
    _, _, together = trained(2, drops=True, draws_alike=True)
    for name, value in alone.items():
        np.testing.assert_allclose(together[name], value, atol=1e-5, err_msg=name)


def test_a_compiled_step_draws_anew_in_each_step_and_the_same_in_each_run():
    with trace_graph(seed=1, shards=2) as graph:
        x = v1.placeholder(tf.float32, [1])
        drawn = tf.random.uniform([4])
    step = Replicas(graph, 2, [drawn], inputs=[x], jit_compile=True)
    first, again, later = (step(np.zeros(2, np.float32), rng_step=d)[0] for d in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert len({tuple(numbers) for numbers in [*first, *later]}) == 4  # two replicas, two steps


def one_step(build, **options):
    """A loop of a step that computes what `build` makes of a batch [4] of floats."""
    with trace_graph(seed=1, shards=1) as graph:
        x = v1.placeholder(tf.float32, [4], name="x")
        variable = v1.get_variable("weight", initializer=2.0)
        result = build(x, variable)
    strategy = tpu_strategy(master="emulated:1")
    return StepLoop(
        lifted_session(graph, strategy),
        strategy,
        Step([ref(x)], [ref(result.op)]),
        request=LoopRequest(**options),
    )


def unique(x, _):
    return tf.unique(x)[0]


def masked(x, weight):
    return tf.boolean_mask(x, x > weight)


def text(x, _):
    return tf.strings.as_string(x)


def python(x, _):
    return v1.py_func(lambda x: x, [x], tf.float32)


def in_a_branch(x, weight):
    return tf.cond(x[0] > weight, lambda: v1.py_func(abs, [x], tf.float32), lambda: x)


def summary(x, _):
    return v1.summary.histogram("x", x)


def sized_by_a_value(x, weight):
    return tf.reshape(x, [tf.cast(weight.read_value(), tf.int32), -1])


def looping(x, weight):
    return tf.gradients(tf.while_loop(lambda y: y[0] < 1, lambda y: [y * y], [x * weight]), x)[0]


NOT_FOR_TPU = {
    unique: ("Unique (Unique)", "in input_fn, and pad it"),
    masked: ("Where (boolean_mask/Where)", "tf.where(condition, x, y), or multiply by the mask"),
    text: ("AsString (AsString)", "Accelerators have no strings or files"),
    python: ("PyFunc (PyFunc)", "Python cannot run on an accelerator"),
    in_a_branch: ("PyFunc (PyFunc in cond)", "Python cannot run on an accelerator"),
    summary: ("HistogramSummary (x_1)", "host_call=(function, tensors)"),
    sized_by_a_value: ("Reshape (Reshape)", "take them from x.shape or params"),
    looping: ("while_grad", "pass maximum_iterations to tf.while_loop"),
}


@pytest.mark.parametrize("build", NOT_FOR_TPU, ids=lambda f: f.__name__)
def test_what_would_not_compile_is_named_with_the_programs_line(build):
    loop = one_step(build)
    with pytest.raises(NotCompilableError) as caught:
        loop.check_compiles(for_tpu=True)
    line = build.__code__.co_firstlineno + 1
    assert f"{HERE}:{line}: {linecache.getline(__file__, line).strip()}" in str(caught.value)
    for phrase in NOT_FOR_TPU[build]:
        assert phrase in str(caught.value)


def test_what_compiles_passes_the_check_and_changes_nothing():
    loop = one_step(lambda x, weight: weight.assign_add(tf.reduce_sum(tf.where(x > 0, x, -x))))
    loop.check_compiles(for_tpu=True)
    with eager_mode():
        (copy,) = loop._step.resources.copies("weight")
        assert copy.numpy() == 2.0


def test_sizes_that_depend_on_values_compile_for_a_cpu_but_not_for_a_tpu():
    one_step(masked).check_compiles()
    one_step(masked).check_compiles(for_tpu=True, exempt_ops=["Where"])
    one_step(python).check_compiles(for_tpu=True, exempt_ops=["PyFunc"])


def test_a_step_that_cannot_be_compiled_is_refused_before_it_runs():
    with pytest.raises(NotCompilableError, match=f"PyFunc.*made at .*{HERE}"):
        one_step(python, jit_compile=True)


def test_all_obstacles_are_counted():
    def many(x, _):
        return tf.strings.join([tf.strings.as_string(x + i) for i in range(6)])

    with pytest.raises(NotCompilableError, match=r"7 operation\(s\)(.|\n)*and 2 more"):
        one_step(many, jit_compile=True)


def test_the_library_is_no_line_of_the_users():
    with pytest.raises(NotCompilableError) as caught:
        one_step(
            lambda x, _: tf.strings.as_string(v1.layers.dense(x[:, None], 1)), jit_compile=True
        )
    assert "site-packages" not in str(caught.value)
