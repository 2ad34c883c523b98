"""Nodes that run one by one compute what the compiled function computes."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, v1

from estimator_bridge.graph import LiftedSession, interpreter, tiered_function, trace_graph
from estimator_bridge.graph.interpreter import RUNS_ALONE
from estimator_bridge.runtime import default_strategy

FLOATS = [[1.5, -0.0, 3e38], [np.nan, np.inf, -7.25]]


def numbers():
    return v1.placeholder_with_default(tf.constant(FLOATS), [None, 3])


def a_variable(value=1.5):
    return v1.get_variable("v", initializer=value)


def a_table():
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([1, 2])), -1
    )


def assigned():
    variable = a_variable()
    with tf.control_dependencies([variable.assign(4.5)]):
        return variable.read_value()


def imported():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    operation = tf.raw_ops.LookupTableImportV2(
        table_handle=table.resource_handle, keys=["k"], values=tf.constant([5], tf.int64)
    )
    with tf.control_dependencies([operation]):
        return list(table.export())


def random(draw):
    return lambda: draw([4, 3], seed=3)


CASES = {
    "AddV2": lambda: tf.add(numbers(), [[1.0], [2.0]]),
    "AssignVariableOp": assigned,
    "BitwiseXor": lambda: tf.bitwise.bitwise_xor(tf.cast(numbers() > 1, tf.int32), [5, 6, 7]),
    "Cast": lambda: tf.cast(numbers(), tf.bfloat16),
    "ConcatV2": lambda: tf.concat([numbers(), numbers() * 2.0], 1),
    "Const": lambda: [tf.constant(["a", "b"]), tf.constant(1.5, tf.bfloat16), tf.zeros([3, 4])],
    "DivNoNan": lambda: tf.math.divide_no_nan(numbers(), [0.0, 3.0, 7.0]),
    "Equal": lambda: tf.equal(numbers(), [[1.5], [np.nan]]),
    "Fill": lambda: tf.fill(tf.shape(numbers()), 2.5),
    "GatherV2": lambda: tf.gather(numbers(), [2, 0], axis=1),
    "Greater": lambda: tf.greater(numbers(), [[1.5], [-9.0]]),
    "Identity": lambda: tf.identity(numbers()),
    "IdentityN": lambda: tf.identity_n([numbers(), tf.constant("text")]),
    "LogicalAnd": lambda: tf.logical_and(tf.equal(numbers(), 1.5), [[True], [False]]),
    "LogicalNot": lambda: tf.logical_not(tf.equal(numbers(), 1.5)),
    "LookupTableExportV2": imported,
    "LookupTableImportV2": imported,
    "Maximum": lambda: tf.maximum(numbers(), 0.0),
    "Mul": lambda: numbers() * 0.1,
    "Pack": lambda: tf.stack([numbers(), numbers()], axis=1),
    "PlaceholderWithDefault": numbers,
    "Prod": lambda: tf.reduce_prod(numbers(), axis=1),
    "Range": lambda: tf.range(tf.shape(numbers())[0] * 0 + 1, 9, 3),
    "ReadVariableOp": lambda: a_variable().read_value(),
    "Reshape": lambda: tf.reshape(numbers(), [3, -1]),
    "Select": lambda: v1.where(tf.equal(numbers(), 1.5), numbers(), numbers() * 2.0),
    "SelectV2": lambda: tf.where(tf.equal(numbers(), 1.5), numbers(), 7.0),
    "Shape": lambda: tf.shape(numbers(), tf.int64),
    "StatelessRandomGetKeyCounter": lambda: tf.random.stateless_uniform([3], [1, 2]),
    "StatelessRandomNormalV2": random(tf.random.normal),
    "StatelessRandomUniformIntV2": lambda: tf.random.uniform([5], 0, 99, tf.int32, seed=1),
    "StatelessRandomUniformV2": random(tf.random.uniform),
    "StatelessTruncatedNormalV2": random(tf.random.truncated_normal),
    "StaticRegexFullMatch": lambda: tf.strings.regex_full_match(["ab", "c"], "a.*"),
    "StringJoin": lambda: tf.strings.join([["a", "b"], "x"], "-"),
    "StridedSlice": lambda: numbers()[:, ::-2, None],
    "Sub": lambda: numbers() - [[1.0], [2.0]],
    "VarIsInitializedOp": lambda: tf.raw_ops.VarIsInitializedOp(resource=a_variable().handle),
    "Where": lambda: tf.where(tf.equal(numbers(), [1.5, -7.25, np.inf])),
    "ZerosLike": lambda: tf.zeros_like(numbers()),
}
OF_SAVERS = {"MergeV2Checkpoints", "NoOp", "RestoreV2", "SaveV2", "ShardedFilename"}


def run_twice(make, monkeypatch, runs_alone):
    """Returns the values of two runs, and the functions of the session, after it ran."""
    monkeypatch.setattr(tiered_function, "_RUNS_ALONE", runs_alone)
    with trace_graph(seed=7) as graph:
        fetches = make()
        session = lifted_session(graph)
        values = [tf.nest.flatten(session.run(fetches)) for _ in range(2)]  # and the next draws
        return [*values[0], *values[1]], list(session._functions.values())


def bits(value):
    value = np.asarray(value)
    return value.tolist() if value.dtype == object else (value.dtype, value.shape, value.tobytes())


@pytest.mark.parametrize("op", CASES)
def test_an_operation_computes_the_same_bits(op, monkeypatch):
    compiled_values, _ = run_twice(CASES[op], monkeypatch, runs_alone=0)
    values, functions = run_twice(CASES[op], monkeypatch, runs_alone=9)
    assert list(map(bits, values)) == list(map(bits, compiled_values))
    graph_defs = [graph_def for f in functions for graph_def in f._lifted.graph_defs]
    assert op in {node.op for graph_def in graph_defs for node in graph_def.node}
    assert not any(f._function.is_compiled for f in functions if f._function is not None)


def test_each_operation_has_a_case():
    assert {*CASES, *OF_SAVERS} == RUNS_ALONE


def test_a_saver_runs_alone_and_writes_the_same_files(tmp_path):
    with trace_graph(seed=7) as graph:
        v1.get_variable("a", [3, 4])
        v1.get_variable("text", initializer=tf.constant(["x", "y"]))
        saver = v1.train.Saver()
        session = lifted_session(graph)
        names = [saver.save(session, str(tmp_path / "alone")) for _ in range(3)]
        with v1.Session(graph=graph) as original:
            saver.restore(original, names[0])
            saver.save(original, str(tmp_path / "original"))
        saver.restore(session, names[0])
        assert not any(f._function.is_compiled for f in session._functions.values() if f._function)
    for end in (".index", ".data-00000-of-00001"):
        contents = {(tmp_path / (name + end)).read_bytes() for name in ("alone", "original")}
        assert len(contents) == 1


def test_it_is_compiled_after_some_runs(monkeypatch):
    monkeypatch.setattr(tiered_function, "_RUNS_ALONE", 2)
    with trace_graph(seed=7) as graph:
        drawn = tf.random.uniform([2], seed=1) * v1.get_variable("v", initializer=2.0)
        session, original = lifted_session(graph), v1.Session(graph=graph)
        original.run(v1.global_variables_initializer())
        for is_compiled in (False, False, True, True):
            np.testing.assert_array_equal(session.run(drawn), original.run(drawn))
            (*_, function) = session._functions.values()
            assert function._function.is_compiled == is_compiled


def test_nodes_run_after_their_inputs_in_the_order_of_the_program():
    with trace_graph() as graph:
        variable = v1.get_variable("v", initializer=1.0)
        before = variable.read_value()
        assign = variable.assign(2.0)
        after = variable.read_value()
        late = tf.constant(5.0)
        early = variable.read_value()
        early.op.inputs[0].op._add_control_input(
            variable.assign(late).op
        )  # which was made after it
        session = lifted_session(graph)
        assert session.run([before, assign.op, after]) == [1.0, None, 2.0]
        assert session.run(early) == 5.0


def test_an_error_names_the_line_of_the_program(tmp_path):
    with trace_graph() as graph:
        v1.get_variable("v", initializer=1.0)
        saver = v1.train.Saver()
        session = lifted_session(graph)
        fetch, feeds = saver.saver_def.restore_op_name, {"save/Const:0": str(tmp_path / "no")}
        with v1.Session(graph=graph) as original, pytest.raises(tf.errors.OpError) as expected:
            original.run(fetch, feeds)
        with pytest.raises(tf.errors.NotFoundError) as caught:
            session.run(fetch, feeds)
    assert type(expected.value) is tf.errors.NotFoundError
    assert "[[{{node save/RestoreV2}}]]" in caught.value.message
    assert "[Op:" not in caught.value.message
    assert caught.value.message.splitlines()[0] in expected.value.message
    assert "Operation 'save/RestoreV2' was made at" in caught.value.message
    assert "test_interpreter.py" in caught.value.message


@pytest.mark.parametrize("rows, is_compiled", [(1 << 22, False), ((1 << 22) + 1, True)])
def test_large_variables_are_initialized_in_place(rows, is_compiled):
    with trace_graph() as graph:
        v1.get_variable("v", [rows], initializer=v1.zeros_initializer())
        session = LiftedSession(graph, default_strategy())
        session.run(v1.global_variables_initializer())
        (function,) = session._functions.values()
        assert function._function.is_compiled == is_compiled


@pytest.mark.parametrize(
    "value",
    [
        np.float32(0.1), np.float32([0.0, -0.0, np.inf, 1e-45]), np.float64(1e-310),
        np.array([0x7F800001, 0xFFC00000], np.uint32).view(np.float32),  # NaNs
        np.full([3, 2], np.nan, np.float32), np.full([2, 3], -7.25, np.float32), np.int32(-5),
        np.int64([2**62, -1]), np.arange(12, dtype=np.int32).reshape([3, 4]), np.zeros([0, 2], "f"),
        np.array([True, False]), np.bool_(True), np.uint8([1, 2]), np.float16([1.5, np.nan]),
        np.complex64([1j, 2]), np.array([b"a\0\xff", b""], object), np.array(b"name", object),
        np.array([[b"same"] * 2], object), np.uint64(2**63),
    ],
)  # fmt: skip
def test_a_constant_has_the_same_bits(value):
    with tf.Graph().as_default() as graph:
        name = tf.constant(value).op.name
        node = next(n for n in graph.as_graph_def().node if n.name == name)
    for proto in (node.attr["value"].tensor, tf.make_tensor_proto(value)):
        constant = interpreter._constant(proto)
        parsed = tf.io.parse_tensor(proto.SerializeToString(), constant.dtype)
        assert (constant.shape, constant.dtype) == (parsed.shape, parsed.dtype)
        np.testing.assert_array_equal(constant.numpy(), parsed.numpy())
        if value.dtype != object:
            assert constant.numpy().tobytes() == parsed.numpy().tobytes()


@pytest.mark.parametrize("condition", [True, False])
def test_a_value_that_is_passed_on_stays_as_it_was(condition):
    with trace_graph() as graph:
        variable = a_variable([1.5, 2.5])
        other = v1.get_variable("other", initializer=[7.0, 8.0])
        before = tf.identity(variable.read_value())
        chosen = tf.raw_ops.Select(condition=condition, x=before, y=other.read_value())
        mixed = tf.raw_ops.Select(condition=[condition, not condition], x=before, y=before + 1)
        with tf.control_dependencies([before, chosen, mixed]):
            assigned = variable.assign([3.5, 4.5]).op
        init = v1.global_variables_initializer()
    session = LiftedSession(graph, default_strategy())
    session.run(init)
    values = session.run([before, chosen, mixed, assigned])
    np.testing.assert_array_equal(values[0], [1.5, 2.5])
    np.testing.assert_array_equal(values[1], [1.5, 2.5] if condition else [7, 8])
    np.testing.assert_array_equal(values[2], [1.5, 3.5] if condition else [2.5, 2.5])
    np.testing.assert_array_equal(session.run(variable), [3.5, 4.5])
