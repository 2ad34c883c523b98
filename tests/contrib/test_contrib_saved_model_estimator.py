"""SavedModelEstimator: what is beside the numbers of 1.15.5, which contrib_goldens has."""

import logging
import os

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib.estimator import SavedModelEstimator
from estimator_bridge_contrib.estimator.resource_graph import with_resource_variables

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
X = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]], np.float32)
Y = np.array([[1.0], [0.0], [2.0]], np.float32)


def batches():
    return tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat(9)


def model_fn(features, labels, mode):
    weights = v1.get_variable("w", [2, 1], initializer=v1.ones_initializer())
    outputs = tf.matmul(features["x"], weights)
    if mode == eb.ModeKeys.PREDICT:
        served = {"serving_default": eb.export.PredictOutput({"y": outputs})}
        return eb.EstimatorSpec(mode, predictions={"y": outputs}, export_outputs=served)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, predictions={"y": outputs}, loss=loss, train_op=train_op)


def supervised():
    x, y = v1.placeholder(tf.float32, [None, 2]), v1.placeholder(tf.float32, [None, 1])
    return eb.export.SupervisedInputReceiver({"x": x}, y, {"x": x, "label": y})


def serving():
    features = {"x": v1.placeholder(tf.float32, [None, 2], name="x")}
    return eb.export.ServingInputReceiver(features, features)


MAPS = {
    eb.ModeKeys.TRAIN: supervised,
    eb.ModeKeys.EVAL: supervised,
    eb.ModeKeys.PREDICT: serving,
}


def exported(folder, fn=model_fn, **modes):
    estimator = eb.Estimator(fn, str(folder / "model")).train(batches, steps=3)
    maps = {mode: MAPS[mode] for mode in modes.get("modes", MAPS)}
    return estimator, estimator.experimental_export_all_saved_models(str(folder / "out"), maps)


def test_training_goes_on_with_the_slots_of_the_optimizer(tmp_path):
    """1.15.5 fails here: it takes the name "w" for a pattern, which finds "w/Adam" as well."""
    estimator, folder = exported(tmp_path)
    loaded = SavedModelEstimator(folder, str(tmp_path / "loaded")).train(batches, steps=4)
    estimator.train(batches, steps=4)
    assert loaded.get_variable_names() == estimator.get_variable_names()
    for name in estimator.get_variable_names():
        got, expected = (each.get_variable_value(name) for each in (loaded, estimator))
        np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=name)


def test_a_model_is_evaluated_and_predicts_before_it_is_trained(tmp_path):
    estimator, folder = exported(tmp_path)
    loaded = SavedModelEstimator(folder, str(tmp_path / "loaded"))
    assert loaded.evaluate(batches, steps=1) == estimator.evaluate(batches, steps=1)
    rows = tf.data.Dataset.from_tensors({"x": X})
    got, expected = (list(each.predict(lambda: rows)) for each in (loaded, estimator))
    np.testing.assert_allclose([each["y"] for each in got], [each["y"] for each in expected])


def test_a_mode_without_a_graph_is_refused(tmp_path, caplog):
    _, folder = exported(tmp_path, modes=[eb.ModeKeys.PREDICT])
    with caplog.at_level(logging.WARNING, logger="absl"):
        loaded = SavedModelEstimator(folder, str(tmp_path / "loaded"))
    assert "train mode not found in SavedModel" in caplog.text
    with pytest.raises(RuntimeError, match="eval mode is not available in the SavedModel"):
        loaded.evaluate(batches, steps=1)


def test_an_input_fn_that_makes_a_global_step_is_refused(tmp_path):
    _, folder = exported(tmp_path)

    def input_fn():
        v1.train.get_or_create_global_step()
        return batches()

    with pytest.raises(RuntimeError, match="Graph must not contain a global step tensor before"):
        SavedModelEstimator(folder).train(input_fn, steps=1)


def test_a_folder_without_variables_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has an invalid SavedModel format"):
        SavedModelEstimator(str(tmp_path))


def test_assets_are_those_of_the_saved_model(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")

    def fn(features, labels, mode):
        table = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                str(words), tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
            ),
            1,
        )
        number = tf.cast(table.lookup(tf.constant(["b"])), tf.float32)
        spec = model_fn(features, labels, mode)
        return spec._replace(predictions={"y": spec.predictions["y"] * 0.0 + number})

    _, folder = exported(tmp_path, fn)
    os.remove(words)
    loaded = SavedModelEstimator(folder, str(tmp_path / "loaded")).train(batches, steps=1)
    assert loaded.get_variable_value("global_step") == 4


def reference_graph():
    with tf.Graph().as_default() as graph:
        w = v1.get_variable("w", initializer=[1.0, 2.0], use_resource=False)
        changed = v1.assign_add(w, [1.0, 1.0], name="changed")
        again = v1.assign_sub(changed, [0.5, 0.5], name="again")
        tf.identity(again, "seen")
        tf.multiply(w, 2.0, "twice")
        v1.scatter_update(w, [0], [9.0], name="scattered")
        tf.identity(v1.is_variable_initialized(w), "is_ready")
        return v1.train.export_meta_graph(graph=graph, as_text=False)


@pytest.fixture
def references():
    before = v1.resource_variables_enabled()
    v1.disable_resource_variables()
    yield reference_graph()
    if before:
        v1.enable_resource_variables()


def run_in_order(meta_graph, names):
    """The values of fetches that run one after the other."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.train.import_meta_graph(meta_graph)
        session.run("w/Assign")
        graph = session.graph
        results = []
        for name in names:
            operation = graph.get_operation_by_name(name)
            fetched = operation.outputs[0] if operation.outputs else operation
            results.append(session.run(fetched))
        return [None if value is None else value.tolist() for value in results]


def test_operations_on_references_become_those_on_resources(references):
    rewritten, names = with_resource_variables(references)
    assert names == {"w"}
    kinds = {node.name: node.op for node in rewritten.graph_def.node}
    assert kinds["w"] == "VarHandleOp"
    assert not {
        "VariableV2",
        "IsVariableInitialized",
        "Assign",
        "AssignAdd",
        "ScatterUpdate",
    } & set(kinds.values())
    order = ["is_ready", "seen", "twice", "scattered", "twice"]
    original, converted = (run_in_order(each, order) for each in (references, rewritten))
    del original[3], converted[3]  # the update's own output, which nothing uses
    assert converted == original == [True, [1.5, 2.5], [3.0, 5.0], [18.0, 5.0]]


def test_an_operation_without_a_counterpart_is_refused():
    with tf.Graph().as_default() as graph:
        queue = tf.raw_ops.FIFOQueue(component_types=[tf.float32])
        tf.raw_ops.QueueSize(handle=queue)
        meta_graph = v1.train.export_meta_graph(graph=graph)
    with pytest.raises(NotImplementedError, match="FIFOQueue works on a reference"):
        with_resource_variables(meta_graph)
