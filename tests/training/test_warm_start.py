"""Variables start from a checkpoint as in the real tf.estimator.

The golden file, and the program that made it, are in ``goldens/start/``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from goldens.start import start_cases
from goldens.start.start_cases import ERRORS, INIT_CASES, WARM_CASES, init_case, observed, warm_case

import estimator_bridge as eb
from estimator_bridge.model import VocabInfo, WarmStartSettings

import tensorflow as tf  # isort: skip

GOLDENS = Path(__file__).parents[1] / "goldens" / "start"


v1 = tf.compat.v1
START = json.loads((GOLDENS / "start.json").read_text())


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old")
    start_cases.write_old(folder)
    return folder


@pytest.mark.parametrize("name", WARM_CASES)
def test_warm_start(old, tmp_path, name):
    estimator = warm_case(WARM_CASES[name], eb, old, WarmStartSettings, model_dir=str(tmp_path))
    assert observed(estimator, ("train",))["train"] == START[f"warm start: {name}"]["train"]


@pytest.mark.parametrize("name", ["SavedModel", "not trainable", "vocabulary in parts"])
def test_warm_start_in_every_mode(old, tmp_path, name):
    estimator = warm_case(WARM_CASES[name], eb, old, WarmStartSettings, model_dir=str(tmp_path))
    assert observed(estimator) == START[f"warm start: {name}"]


@pytest.mark.parametrize("name", INIT_CASES)
def test_init_from_checkpoint(old, tmp_path, name):
    estimator = init_case(INIT_CASES[name], eb, old, model_dir=str(tmp_path))
    assert observed(estimator, ("train",))["train"] == START[f"init: {name}"]["train"]


@pytest.mark.parametrize("name", ["name to slices", "root to scope"])
def test_init_from_checkpoint_in_every_mode(old, tmp_path, name):
    estimator = init_case(INIT_CASES[name], eb, old, model_dir=str(tmp_path))
    assert observed(estimator) == START[f"init: {name}"]


@pytest.mark.parametrize("name", ERRORS)
def test_what_the_original_refuses_is_refused(old, tmp_path, name):
    with pytest.raises((ValueError, TypeError)) as error:
        case = warm_case(ERRORS[name], eb, old, WarmStartSettings, model_dir=str(tmp_path))
        observed(case, ("train",))
    kind, phrase = START[f"error: {name}"]
    assert [kind, str(error.value).replace(str(old), "FOLDER")[: len(phrase)]] == [kind, phrase]


def test_a_checkpoint_of_its_own_counts_more(old, tmp_path):
    def with_start(start):
        case = (WARM_CASES["folder"][0], start)
        return warm_case(case, eb, old, WarmStartSettings, model_dir=str(tmp_path))

    first = with_start(lambda d: None)
    first.train(start_cases._ones, steps=1)
    assert first.get_variable_value("a").tolist() == [-1, -1, -1]
    again = with_start(lambda d: str(d / "whole"))
    again.train(start_cases._ones, steps=1)
    assert again.get_variable_value("a").tolist() == [-1, -1, -1]
    assert again.get_variable_value("global_step") == 2


def test_an_export_without_a_checkpoint_starts_too(old, tmp_path):
    def model_fn(features, labels, mode):
        a = v1.get_variable("a", [3], initializer=v1.zeros_initializer())
        return eb.EstimatorSpec(mode, predictions={"sum": features["x"] + tf.reduce_sum(a)})

    def receiver():
        x = v1.placeholder(tf.float32, [None])
        return eb.export.ServingInputReceiver({"x": x}, {"x": x})

    estimator = eb.Estimator(model_fn, str(tmp_path / "model"), warm_start_from=str(old / "whole"))
    path = estimator.export_saved_model(str(tmp_path), receiver)
    serve = tf.saved_model.load(path.decode()).signatures["serving_default"]
    assert serve(x=tf.constant([10.0]))["sum"].numpy().tolist() == [16.0]


def test_variables_that_model_fn_puts_into_the_list(old, tmp_path):
    variables = []

    def build():
        start_cases._same()
        variables[:] = [v for v in v1.global_variables() if v.op.name in ("moving", "scope/c")]

    case = (build, lambda d: (str(d / "whole"), variables))
    got = observed(
        warm_case(case, eb, old, WarmStartSettings, model_dir=str(tmp_path)), ("train",)
    )["train"]
    assert (got["moving"], got["scope/c"], got["a"]) == ([5, 6], [7], [-1, -1, -1])


def test_settings_are_a_tuple_with_defaults():
    settings = WarmStartSettings("folder")
    assert settings == ("folder", ".*", {}, {})
    assert repr(settings).startswith("WarmStartSettings(ckpt_to_initialize_from='folder', vars_to")
    assert settings._replace(vars_to_warm_start=None).vars_to_warm_start is None


def test_there_must_be_a_checkpoint(old, tmp_path):
    case = (WARM_CASES["folder"][0], lambda d: str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"Couldn't find 'checkpoint' file or checkpoints|nowhere"):
        observed(warm_case(case, eb, old, WarmStartSettings, model_dir=str(tmp_path)), ("train",))


def test_columns_are_as_many_as_the_old_vocabulary(old, tmp_path):
    """TensorFlow would take up what lies behind the values in memory."""
    vocabulary = VocabInfo(str(old / "new.txt"), 6, 0, str(old / "old.txt"), 3, axis=1)
    case = (
        lambda: v1.get_variable("scope/b", [2, 6]),
        lambda d: (str(d / "whole"), ".*", {"scope/b": vocabulary}),
    )
    with pytest.raises(ValueError, match=r"old_vocab of 'scope/b' .* 5 entries, .* has 3 columns"):
        observed(warm_case(case, eb, old, WarmStartSettings, model_dir=str(tmp_path)), ("train",))


def test_new_rows_cannot_be_scaled_by_a_shape_that_the_graph_computes(old, tmp_path):
    """As in 1.15.5 and 2.15.1, whose error names neither the initializer nor what to use."""
    glorot = v1.glorot_uniform_initializer()
    vocabulary = VocabInfo(str(old / "new.txt"), 6, 0, str(old / "old.txt"), 2, glorot)
    case = (
        lambda: v1.get_variable("scope/b", [6, 3]),
        lambda d: (str(d / "whole"), ".*", {"scope/b": vocabulary}),
    )
    message = (
        r"int\(\) argument must be .* GlorotUniform of 'scope/b'. Use one that does not, such as"
    )
    with pytest.raises(TypeError, match=message):
        observed(warm_case(case, eb, old, WarmStartSettings, model_dir=str(tmp_path)), ("train",))


@pytest.mark.parametrize("place", ["model_fn", "scaffold_fn"])
def test_on_replicas(old, tmp_path, place):
    def model_fn(features, labels, mode, params):
        with v1.variable_scope("mine", partitioner=v1.fixed_size_partitioner(2)):
            v1.get_variable("b", [2, 3])
            v1.get_variable("c", [1])
        total = tf.add_n([tf.reduce_sum(v) for v in v1.trainable_variables()])

        def start():
            v1.train.init_from_checkpoint(str(old / "whole"), {"scope/": "mine/"})
            return v1.train.Scaffold()

        if place == "model_fn":
            start()
        loss = total + 0.0 * tf.reduce_mean(features)
        step = v1.train.get_global_step()
        with tf.control_dependencies([v1.tpu.cross_replica_sum(loss)]):
            train_op = v1.assign_add(step, 1)
        return eb.tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            predictions={"total": tf.zeros_like(features) + total},
            eval_metrics=(lambda t: {"total": v1.metrics.mean(t)}, [tf.reshape(total, [1])]),
            scaffold_fn=start if place == "scaffold_fn" else None,
        )

    config = eb.tpu.RunConfig(master="emulated:2", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=4, eval_batch_size=4, predict_batch_size=4
    )

    def ones(params):
        return tf.data.Dataset.from_tensor_slices(np.ones([4], np.float32)).batch(4, True)

    assert estimator.evaluate(ones)["total"] == 82
    assert [float(p["total"]) for p in estimator.predict(ones)] == [82] * 4
    estimator.train(ones, steps=1)
    assert estimator.get_variable_value("mine/b").tolist() == [[10, 11, 12], [13, 14, 15]]
