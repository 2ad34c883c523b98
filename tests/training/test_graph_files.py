"""The files of a run's graph: graph.pbtxt, the .meta files, the event file."""

from __future__ import annotations

import os

import pytest
import tensorflow as tf
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge.training import graph_files
from estimator_bridge.training.graph_files import graph_defs_kept, graph_text

v1 = tf.compat.v1


def _train(folder, **options):
    def model_fn(features, labels, mode):
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(tf.square(features * weight))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(
            loss, v1.train.get_or_create_global_step()
        )
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = eb.Estimator(model_fn, folder, eb.RunConfig(tf_random_seed=1, **options))
    estimator.train(lambda: tf.data.Dataset.from_tensors([1.0]).repeat(), steps=2)


@pytest.mark.parametrize("kept_nodes", [0, 2_000])
def test_the_files_of_a_run_hold_one_and_the_same_graph(tmp_path, monkeypatch, kept_nodes):
    monkeypatch.setattr(graph_files, "_KEPT_NODES", kept_nodes)
    _train(tmp_path)
    text = (tmp_path / "graph.pbtxt").read_text()
    in_text = text_format.Parse(text, v1.GraphDef())
    assert text == text_format.MessageToString(in_text)
    assert any("_output_shapes" in node.attr for node in in_text.node)
    for step in (0, 2):  # as each checkpoint's .meta has it, that of the run's end too
        meta = v1.MetaGraphDef.FromString((tmp_path / f"model.ckpt-{step}.meta").read_bytes())
        assert [n.name for n in meta.graph_def.node] == [n.name for n in in_text.node]
        assert meta.saver_def.restore_op_name
    (events,) = tmp_path.glob("events.out.tfevents.*")
    graphs = [e for e in v1.train.summary_iterator(str(events)) if e.graph_def]
    assert v1.GraphDef.FromString(graphs[-1].graph_def) == in_text
    assert not list(tmp_path.glob("*.new"))


def test_a_run_that_is_to_write_no_graph_writes_none(tmp_path):
    _train(tmp_path, checkpoint_save_graph_def=False)
    names = os.listdir(tmp_path)
    assert "graph.pbtxt" not in names
    assert not [name for name in names if name.endswith(".meta")]
    assert "model.ckpt-2.index" in names


def test_a_graph_with_all_kinds_of_attributes_is_written_as_by_text_format():
    with tf.Graph().as_default() as graph, tf.device("/device:CPU:0"):
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        tf.cond(tf.reduce_sum(x) > 0, lambda: x * 1e-7, lambda: -x)  # functions
        tf.constant(['quote" and \\ and \n', "ä"])
        tf.constant(b"\xff\x00")
        tf.constant([1.5, float("nan"), float("inf")], tf.float64)
        v1.get_variable("w", [2, 2], use_resource=True)
        tf.strings.regex_replace(["a"], '"(.)"', "\\1")
    graph_def = graph.as_graph_def(add_shapes=True)
    assert graph_text(graph_def) == text_format.MessageToString(graph_def)


@pytest.mark.parametrize("size", [999, 1_000, 70_000])
def test_an_array_is_written_as_by_text_format(size):
    content = (bytes(range(256)) + b'@\0\0"@"' + os.urandom(size))[-size:]
    assert size < 70_000 or set(content) == set(range(256))
    graph_def = v1.GraphDef()
    for name in ("one", "other"):
        value = graph_def.node.add(name=name, op="Const").attr["value"].tensor
        value.dtype, value.tensor_content = tf.uint8.as_datatype_enum, content
        value.tensor_shape.dim.add(size=size)
        value.string_val.append(b"@")  # beside it, as in a foreign graph
    graph_def.node[0].attr["value"].tensor.version_number = 3
    assert graph_text(graph_def) == text_format.MessageToString(graph_def)


@settings(deadline=None, max_examples=50)
@given(
    st.text(max_size=8),
    # An attribute has a name; releases of protobuf write an empty key in two ways.
    st.text(min_size=1, max_size=8),
    st.binary(max_size=8),
    st.integers(0, 3),
)
def test_a_node_of_any_text_is_written_as_by_text_format(name, key, value, count):
    graph_def = v1.GraphDef(versions={"producer": 9})
    for i in range(count):
        node = graph_def.node.add(name=name * i, op="Const", input=[name] * i, device=key)
        node.attr[key].s = value
        node.attr["b"].list.s.extend([value] * i)
        if i == 2:
            node.experimental_debug_info.original_node_names.append(name)
    assert graph_text(graph_def) == text_format.MessageToString(graph_def)


def test_kept_graph_defs_are_copies_and_see_what_is_added():
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="a")
        with graph_defs_kept(graph):
            first = graph.as_graph_def(add_shapes=True)
            first.node[0].name = "changed"
            assert graph.as_graph_def(add_shapes=True).node[0].name == "a"
            tf.constant(1, name="b")
            assert [n.name for n in graph.as_graph_def(add_shapes=True).node] == ["a", "b"]
            assert "_output_shapes" not in graph.as_graph_def().node[0].attr
        with pytest.raises(KeyError), graph_defs_kept(graph):
            raise KeyError
        assert graph.as_graph_def.__func__ is tf.Graph.as_graph_def
