"""A checkpoint that several operations read gives what one operation reads."""

import math

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, v1
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.graph import LiftedSession, Snapshot, divided_restores, trace_graph
from estimator_bridge.runtime import default_strategy

SIZES = (3, 50, 700, 1, 40)


@pytest.fixture(autouse=True)
def tiny_parts(monkeypatch):
    monkeypatch.setattr(divided_restores, "_PARTS", 3)
    monkeypatch.setattr(divided_restores, "_PART_BYTES", 100)
    monkeypatch.setattr(divided_restores, "_READ_IN_THREADS", 600)


def make_variables(names):
    return [
        v1.get_variable(name, initializer=np.arange(size, dtype=np.float32) + i)
        for i, (name, size) in enumerate(zip(names, SIZES))
    ]


def save(path, make):
    with trace_graph() as graph:
        make()
        return v1.train.Saver().save(lifted_session(graph), str(path))


def reads(graph):
    """Returns the RestoreV2 nodes that a saver's restore runs, after the division."""
    restore = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["save/restore_all"])
    names = [node.name for node in restore.node]
    divided = divided_restores.with_restores_divided(Snapshot.of(graph), names, graph)
    return [node for node in divided.nodes.values() if node.op == "RestoreV2"]


def test_each_part_reads_its_values(tmp_path):
    def make():
        shards = v1.fixed_size_partitioner(3)
        return [
            *make_variables("abcde"),
            v1.get_variable("texts", initializer=tf.constant([b"x" * 200, b""])),
            v1.get_variable("count", initializer=tf.constant(7, tf.int64)),
            v1.get_variable("half", initializer=tf.ones([120], tf.bfloat16) * 3),
            v1.get_variable("table", [9, 30], partitioner=shards),
        ]

    path = save(tmp_path / "model.ckpt", make)
    with trace_graph() as graph:
        variables, saver = make(), v1.train.Saver()
        session = LiftedSession(graph, default_strategy())
        saver.restore(session, path)
        for variable in variables:
            value = tf.train.load_variable(path, variable.name.split(":")[0])
            np.testing.assert_array_equal(session.run(tf.identity(variable)), value)
        assert len(reads(graph)) == 4  # three parts, and 'c', which is read in threads


def test_little_is_read_by_one_operation(monkeypatch):
    monkeypatch.setattr(divided_restores, "_PART_BYTES", 1000)
    with trace_graph() as graph:
        make_variables("abcde")
        v1.train.Saver()
        snapshot = Snapshot.of(graph)
        names = list(snapshot.nodes)
        assert divided_restores.with_restores_divided(snapshot, names, graph) is snapshot


def failure(session, path, saver):
    with pytest.raises(tf.errors.OpError) as caught:
        saver.restore(session, path)
    return type(caught.value), caught.value.message.splitlines()[0]


def test_an_error_names_the_first_missing_key_and_nothing_is_assigned(tmp_path):
    path = save(tmp_path / "model.ckpt", lambda: make_variables("abcde"))
    with trace_graph() as graph:
        variables = make_variables("aBcDe")
        saver = v1.train.Saver()
        session = lifted_session(graph)
        before = session.run(variables)
        session.run([variable.assign(variable * 2) for variable in variables])
        doubled = session.run(variables)
        failures = {failure(session, path, saver) for _ in range(10)}
        with v1.Session(graph=graph) as original:
            assert failures == {failure(original, path, saver)}
        assert len(reads(graph)) > 2
        for value, start, now in zip(doubled, before, session.run(variables)):
            np.testing.assert_array_equal(value, 2 * start)
            np.testing.assert_array_equal(now, value)


def test_what_runs_beside_a_restore_that_fails_runs_once(tmp_path):
    path = save(tmp_path / "model.ckpt", lambda: make_variables("abcde"))
    with trace_graph() as graph:
        make_variables("aBcde")
        saver = v1.train.Saver()
        count = v1.get_variable("count", initializer=0)
        session = lifted_session(graph)
        definition = saver.saver_def
        both = [definition.restore_op_name, v1.assign_add(count, 1)]
        with pytest.raises(tf.errors.NotFoundError, match="Key B not found"):
            session.run(both, {definition.filename_tensor_name: path})
        assert session.run(count) <= 1


def test_damage_is_reported_and_nothing_is_assigned(tmp_path):
    path = save(tmp_path / "model.ckpt", lambda: make_variables("abcde"))
    data = tmp_path / "model.ckpt.data-00000-of-00001"
    content = bytearray(data.read_bytes())
    content[-2] ^= 1  # of 'e', the last
    data.write_bytes(content)
    with trace_graph() as graph:
        variables, saver = make_variables("abcde"), v1.train.Saver()
        session = LiftedSession(graph, default_strategy())
        with pytest.raises(tf.errors.DataLossError, match="Checksum"):
            saver.restore(session, path)
        assert len(session.run(v1.report_uninitialized_variables())) == len(variables)


@given(st.lists(st.one_of(st.none(), st.integers(0, 900)), max_size=12))
@settings(deadline=None)
def test_parts_have_each_value_once_and_are_balanced(sizes):
    parts = divided_restores._parts(sizes)
    if parts:
        assert sorted(i for part in parts for i in part) == list(range(len(sizes)))
        totals = [sum(sizes[i] or 0 for i in part) for part in parts]
        largest = max(size or 0 for size in sizes)
        assert max(totals) <= math.ceil(sum(totals) / 2) + largest
    else:
        assert sum(size or 0 for size in sizes) < 200
