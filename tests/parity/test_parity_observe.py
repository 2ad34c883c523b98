"""The harness reads the results of a run."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from parity import observe

v1 = tf.compat.v1


@pytest.fixture
def export(tmp_path):
    """A SavedModel that doubles a number, by a signature for serving and one to regress."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        information = {"x": v1.saved_model.build_tensor_info(x)}
        answer = {"twice": v1.saved_model.build_tensor_info(tf.identity(2 * x, name="twice"))}
        make = v1.saved_model.signature_def_utils.build_signature_def
        signatures = {
            "serving_default": make(information, answer, "tensorflow/serving/predict"),
            "regress": make({"inputs": information["x"]}, answer, "tensorflow/serving/regress"),
            "other": make({"y": information["x"]}, answer, "tensorflow/serving/predict"),
        }
        builder = v1.saved_model.Builder(str(tmp_path / "export"))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()
    return tmp_path / "export"


def test_signatures_with_the_inputs_are_asked(export):
    results = observe.served(export, {"x": [1.0, 2.0]})
    assert {name: value.tolist() for name, value in results.items()} == {
        "serving_default/twice": [2.0, 4.0],
        "regress/twice": [2.0, 4.0],
    }
    with pytest.raises(ValueError, match=r"has the inputs \['z', 'zz'\]"):
        observe.served(export, {"z": [1.0], "zz": [1.0]})


def test_signatures_are_told_with_types_and_shapes(export):
    assert observe.signatures(export)["other"] == {
        "method": "tensorflow/serving/predict",
        "inputs": {"y": ["x:0", "float32", [-1]]},
        "outputs": {"twice": ["twice:0", "float32", [-1]]},
    }


def test_event_files_are_listed_without_time_and_host(tmp_path):
    (tmp_path / "eval").mkdir()
    for name in ("checkpoint", "events.out.tfevents.1.a", "eval/events.out.tfevents.2.b"):
        (tmp_path / name).touch()
    assert observe.files(tmp_path) == [
        "checkpoint",
        "eval/events.out.tfevents.*",
        "events.out.tfevents.*",
    ]


def test_rates_have_no_steps_and_other_tags_have_theirs(tmp_path):
    with tf.Graph().as_default():
        writer = v1.summary.FileWriter(str(tmp_path / "eval"))
    for step in (9, 3):
        summary = v1.Summary()
        summary.value.add(tag="loss", simple_value=1.0)
        summary.value.add(tag="global_step/sec", simple_value=1.0)
        writer.add_summary(summary, step)
    writer.close()
    assert observe.event_tags(tmp_path) == {"eval": {"global_step/sec": [], "loss": [3, 9]}}


def test_nested_results_are_told_by_their_paths():
    values = dict(observe.flat({"all": ({"b": 1, "a": [np.float32(2)]}, 3), "loss": 4}))
    assert {path: int(value) for path, value in values.items()} == {
        "all/0/a/0": 2,
        "all/0/b": 1,
        "all/1": 3,
        "loss": 4,
    }


def test_predictions_are_stacked_by_key():
    dicts = observe.predictions(iter([{"a": np.ones(2)}, {"a": np.zeros(2)}]))
    assert dicts["a"].tolist() == [[1, 1], [0, 0]]
    assert observe.predictions(iter([1.0, 2.0]))["prediction"].tolist() == [1, 2]
