"""tf.contrib's small namespaces, beside their recorded cases: files, devices, eager execution."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import (
    copy_graph,
    eager,
    graph_editor,
    image,
    linalg,
    nccl,
    nn,
    resampler,
    saved_model,
    tfprof,
)

v1 = tf.compat.v1


def test_a_saver_of_eager_variables(tmp_path):
    variable = tf.Variable([1.0, 2.0], name="v")
    path = eager.Saver([variable]).save(str(tmp_path / "model"), 3)
    assert path.endswith("model-3")
    variable.assign([0.0, 0.0])
    eager.Saver({"v": variable}).restore(path)
    np.testing.assert_array_equal(variable, [1.0, 2.0])
    with pytest.raises(tf.errors.NotFoundError):
        eager.Saver({"other": variable}).restore(path)
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match=r"tf\.train\.Saver"):
        eager.Saver([variable])


def test_variables_of_an_optimizer():
    optimizer, variable = v1.train.MomentumOptimizer(0.1, 0.9), tf.Variable([1.0])
    optimizer.apply_gradients([(tf.ones([1]), variable)])
    (momentum,) = eager.get_optimizer_variables(optimizer)
    np.testing.assert_array_equal(momentum, [1.0])


def test_a_graph_is_edited_with_v2_behavior():
    """Tensors are compared by identity; where they are no keys, their references are."""
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        b = tf.identity(a * 2.0, name="b")
        instead = tf.constant(5.0, name="c")
        replaced = graph_editor.graph_replace({"b": b}, {a.ref(): instead}, dst_scope="new")
        assert replaced["b"].name == "new/b:0"
        graph_editor.reroute_ts(instead, a, can_modify=b.op.inputs[0].op)
        with v1.Session(graph=graph) as session:
            assert session.run([b, replaced["b"]]) == [10.0, 10.0]
        names = [op.name for op in graph_editor.get_backward_walk_ops(b.op)]
        assert names == ["b", "mul", "c", "mul/y"]
        view = graph_editor.sgv("^new/", graph=graph)
        assert "new/b:0" in str(view)
        with pytest.raises(ValueError, match="not connected"):
            graph_editor.graph_replace(instead, {b.ref(): a})


def test_a_branch_is_copied_with_its_functions():
    with tf.Graph().as_default() as other:
        chosen = tf.cond(tf.constant(2.0) > 1.0, lambda: tf.constant(3.0), lambda: 4.0)
        out = tf.identity(chosen, name="out")
    with tf.Graph().as_default() as here:
        duplicate = copy_graph.copy_op_to_graph(out, here, [], "copied")
        assert duplicate.name == "copied/out:0"
        assert copy_graph.get_copied_op(out, here, "copied") is duplicate
        with v1.Session(graph=here) as session:
            assert session.run(duplicate) == 3.0
    assert other is out.graph


def test_sums_of_devices():
    with tf.Graph().as_default(), v1.Session() as session:
        with tf.device("/cpu:0"):
            tensors = [tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])]
        for function, expected in (
            (nccl.all_sum, [4.0, 7.0]),
            (nccl.all_prod, [3.0, 10.0]),
            (nccl.all_min, [1.0, 2.0]),
            (nccl.all_max, [3.0, 5.0]),
        ):
            sums = function(tensors)
            assert [each.device for each in sums] == [each.device for each in tensors]
            np.testing.assert_array_equal(session.run(sums), [expected] * 2)
        np.testing.assert_array_equal(session.run(nccl.reduce_sum(tensors)), [4.0, 7.0])
        with pytest.raises(ValueError, match="Device assignment required"):
            nccl.all_sum([tf.constant(1.0)])
        with pytest.raises(ValueError, match="Must pass >0 tensors"):
            nccl.all_sum([])


def test_names_of_arguments_before_1_14():
    value, weights = tf.ones([1, 3, 2]), tf.ones([3, 1, 2])
    outputs = nn.conv1d_transpose(
        value=value, filter=weights, output_shape=[1, 6, 1], stride=2, data_format="NHWC"
    )
    now = nn.conv1d_transpose(value, weights, [1, 6, 1], 2)
    np.testing.assert_array_equal(outputs, now)


def test_points_of_unknown_shapes_are_sampled():
    @tf.function(
        input_signature=[tf.TensorSpec([None, None, None, 1]), tf.TensorSpec([None, None, 2])]
    )
    def sample(data, warp):
        return resampler.resampler(data, warp)

    data = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    sampled = sample(data, tf.constant([[[0.5, 0.5], [5.0, 0.0], [float("nan"), 0.0]]]))
    np.testing.assert_allclose(sampled, [[[1.5], [0.0], [0.0]]])


def test_a_long_part_of_an_image_has_one_number():
    """A spiral, along which a label moves far."""
    size = 21
    picture = np.zeros([size, size], bool)
    row, column, step = 0, 0, (0, 1)
    picture[0, 0] = True
    for length in [
        size - 1,
        size - 1,
        size - 1,
        *(n for n in range(size - 3, 1, -2) for _ in "12"),
    ]:
        for _ in range(length):
            row, column = row + step[0], column + step[1]
            picture[row, column] = True
        step = (step[1], -step[0])
    parts = np.asarray(image.connected_components(picture))
    assert set(parts[picture]) == {1}
    assert not parts[~picture].any()


def test_operators_have_their_first_names():
    lower = linalg.LinearOperatorTriL(tf.ones([2, 2])).to_dense()
    np.testing.assert_array_equal(lower, [[1.0, 0.0], [1.0, 1.0]])


def test_a_saved_model_is_read(tmp_path):
    folder = tmp_path / "model"
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [1])
        v1.saved_model.simple_save(session, str(folder), {"x": x}, {"y": x + 1.0})
    (graph,) = saved_model.reader.read_saved_model(str(folder)).meta_graphs
    assert saved_model.reader.get_saved_model_tag_sets(str(folder)) == [["serve"]]
    key = "serving_default"
    signature = saved_model.signature_def_utils.get_signature_def_by_key(graph, key)
    assert set(signature.inputs) == {"x"}
    with pytest.raises(ValueError, match=r"Signatures: .*serving_default"):
        saved_model.signature_def_utils.get_signature_def_by_key(graph, "other")
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        saved_model.reader.read_saved_model(str(tmp_path))
    (folder / "saved_model.pb").write_bytes(b"no message")
    with pytest.raises(OSError, match="Cannot parse file"):
        saved_model.reader.read_saved_model(str(folder))


def test_a_log_of_operations_is_written(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.ones([2, 3]), tf.ones([3, 4]))
        tfprof.tfprof_logger.write_op_log(graph, str(tmp_path), add_trace=False)
        assert (tmp_path / "tfprof_log").stat().st_size
        options = {**tfprof.model_analyzer.FLOAT_OPS_OPTIONS, "output": "none"}
        analysis = tfprof.model_analyzer.print_model_analysis(graph, tfprof_options=options)
    assert analysis.total_float_ops == 2 * 2 * 3 * 4
