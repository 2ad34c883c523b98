"""The graph for a TPU, traced under TensorFlow's own TPUStrategy."""

import collections
import types

import pytest
import tensorflow as tf
from engine import lifted_session, v1

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import HostStage, LoopRequest, Step, StepLoop, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.testing import ModelCheckError, TPUGraph, described_tpu
from estimator_bridge.testing.comparisons import check_tpu_graph

CORES, BATCH = 8, 16


def program():
    """A convolutional model with batch norm over the replicas, dropout and a host call."""
    step = v1.train.get_or_create_global_step()
    x = v1.placeholder(tf.float32, [BATCH // CORES, 4, 4, 1], name="x")
    y = v1.placeholder(tf.int64, [BATCH // CORES], name="y")
    h = v1.layers.conv2d(x, 2, 3, name="conv")
    mean = v1.tpu.cross_replica_sum(tf.reduce_mean(h, [0, 1, 2])) / CORES
    h = tf.nn.dropout(v1.layers.flatten(h - mean), 0.5)
    loss = v1.losses.sparse_softmax_cross_entropy(y, v1.layers.dense(h, 3, name="dense"))
    optimizer = v1.tpu.CrossShardOptimizer(v1.train.MomentumOptimizer(0.1, 0.9))
    train = optimizer.minimize(loss, step)
    gathered = v1.placeholder(tf.float32, [CORES])
    record = v1.py_func(lambda losses: None, [gathered], [])
    per_replica = tf.reshape(loss, [1])
    return x, y, loss, train, HostStage({gathered.name: per_replica.name}, (f"^{record.name}",))


def batches():
    with eager_mode():
        return tf.data.Dataset.from_tensors((tf.ones([BATCH, 4, 4, 1]), tf.zeros([BATCH], "int64")))


@pytest.fixture(scope="module")
def loop():
    with trace_graph(seed=1, shards=CORES) as graph:
        x, y, loss, train, host = program()
        summary = v1.summary.scalar("loss", loss)
    strategy = described_tpu(CORES)
    assert strategy.num_replicas_in_sync == CORES
    return StepLoop(
        LiftedSession(graph, strategy),
        strategy,
        Step([x.name, y.name], [f"^{train.name}"], loss.name, host, "global_step"),
        request=LoopRequest([summary.name]),
    )


@pytest.fixture(scope="module")
def graph(loop):
    with eager_mode():
        iterator = iter(batches())
    return loop.traced(iterator)


@pytest.fixture(scope="module")
def traced(graph):
    return TPUGraph.of(graph, CORES)


def test_eight_cores_are_one_replicated_computation(traced):
    assert traced.all["TPUReplicateMetadata"] == traced.all["TPUCompilationResult"] == 1
    assert traced.computations == 1


def test_each_variable_reaches_the_cores_as_their_own_copies(traced, loop):
    # Four weights, each with its momentum, and the global step.
    assert traced.variables == len(loop.variables) == 9


def test_sums_are_the_tpus_own(traced):
    # One of four gradients each, one of the batch's mean, and that one's gradient.
    assert traced.on_tpu["CrossReplicaSum"] == 6
    assert traced.all["CrossReplicaSum"] == 6
    assert len(traced.names_on_tpu["CrossReplicaSum"]) == 6


def test_the_training_runs_on_the_tpu(traced):
    assert traced.on_tpu["ResourceApplyMomentum"] == 4
    assert traced.on_tpu["Conv2DBackpropFilter"] == 1
    assert traced.on_tpu["AssignAddVariableOp"] == 1
    assert traced.on_tpu["StatelessRandomUniformV2"] == 1  # dropout's, a form that XLA compiles


def test_dropout_draws_with_the_tpus_own_generator(graph):
    functions = graph.as_graph_def().library.function
    nodes = [{node.name: node for node in function.node_def} for function in functions]
    (algorithm,) = {
        int(tf.make_ndarray(body[node.input[3].partition(":")[0]].attr["value"].tensor))
        for body in nodes
        for node in body.values()
        if node.op == "StatelessRandomUniformV2"
    }
    assert algorithm == tf.random.Algorithm.AUTO_SELECT.value


def test_what_no_tpu_can_compute_stays_on_the_host(traced):
    for op in ("PyFunc", "ScalarSummary", "IteratorGetNextAsOptional", "While", "ConcatV2"):
        assert traced.all[op] >= 1
        assert op not in traced.on_tpu


def test_on_emulated_cores_the_same_program_really_runs():
    strategy = tpu_strategy(master="emulated:8")
    with trace_graph(seed=1, shards=CORES) as graph:
        x, y, loss, train, host = program()
    loop = StepLoop(
        lifted_session(graph, strategy),
        strategy,
        Step([x.name, y.name], [f"^{train.name}"], loss.name, host, "global_step"),
    )
    with eager_mode():
        iterator = iter(batches().repeat())
    result = loop(iterator, 10, limit=7)
    assert result.steps == 7
    assert result.loss < 1.1


def test_host_work_in_the_tpus_part_is_refused():
    graph = trace_of_names({"MatMul": ["matmul"], "PyFunc": ["python"]})
    run = types.SimpleNamespace(graph=tf.Graph())
    with run.graph.as_default():
        v1.py_func(lambda: 1.0, [], tf.float32, name="python")
    with pytest.raises(ModelCheckError, match=r"python \(PyFunc\)(.|\n)*test_tpu_graph.py"):
        check_tpu_graph("training", run, graph, 3, (), "model.py:1")
    check_tpu_graph("training", run, graph, 3, ["PyFunc"], "model.py:1")
    with pytest.raises(ModelCheckError, match="with 3 variables, instead of one with 4"):
        check_tpu_graph("training", run, graph, 4, (), "model.py:1")


def trace_of_names(names):
    counted = collections.Counter({op: len(of_op) for op, of_op in names.items()})
    return TPUGraph(2, counted, counted, names, variables=3, computations=1)


def test_the_host_starts_steps_without_waiting_for_their_losses(graph):
    """A condition on a step's result would hold the host up until the TPU has computed it."""
    functions = {one.signature.name: one for one in graph.as_graph_def().library.function}
    (loop_node,) = [
        node for node in graph.as_graph_def().node if node.op in ("While", "StatelessWhile")
    ]
    condition = functions[loop_node.attr["cond"].func.name]
    used = {name.partition(":")[0] for node in condition.node_def for name in node.input}
    used |= {name.partition(":")[0] for name in condition.ret.values()}
    body = functions[loop_node.attr["body"].func.name]
    by_name = {node.name: node for node in body.node_def}
    results = dict(zip([one.name for one in body.signature.output_arg], body.signature.output_arg))
    of_argument = dict(
        zip([one.name for one in condition.signature.input_arg], [body.ret[n] for n in results])
    )
    deciding = [of_argument[name] for name in used if name in of_argument]
    deciding += [node.input[0] for node in body.node_def if node.op in ("If", "StatelessIf")]
    assert deciding
    assert "TPUReplicatedOutput" not in {by_name[n].op for n in _upstream(by_name, deciding)}


def test_a_nan_loss_of_an_earlier_step_is_returned_at_the_loops_end(graph):
    (loop_node,) = [
        node for node in graph.as_graph_def().node if node.op in ("While", "StatelessWhile")
    ]
    functions = {one.signature.name: one for one in graph.as_graph_def().library.function}
    body = functions[loop_node.attr["body"].func.name]
    by_name = {node.name: node for node in body.node_def}
    kept_losses = [
        node
        for node in body.node_def
        if node.op == "SelectV2"
        and "TPUReplicatedOutput" in {by_name[n].op for n in _upstream(by_name, node.input[1:2])}
    ]
    assert len(kept_losses) == 1
    arguments = {one.name for one in body.signature.input_arg}
    assert kept_losses[0].input[2] in arguments  # the loss of the steps before


def _upstream(by_name, references):
    """The nodes that these references depend on, by data."""
    names, ahead = set(), list(references)
    while ahead:
        name = ahead.pop().partition(":")[0]
        if name in by_name and name not in names:
            names.add(name)
            ahead += [one for one in by_name[name].input if not one.startswith("^")]
    return names
