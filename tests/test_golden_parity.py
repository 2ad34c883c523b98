"""The real tf.estimator's checkpoints resume here, and go on as they went on there.

The golden files, and the programs that made them, are in ``goldens/``.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import estimator_bridge as eb

GOLDENS = Path(__file__).parent / "goldens"
sys.path.insert(0, str(GOLDENS))  # scripts: they run under TF 2.15 too, without this package

import observe  # noqa: E402
import programs  # noqa: E402


class Golden(NamedTuple):
    record: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def under(self, prefix: str) -> dict[str, np.ndarray]:
        start = prefix + "/"
        return {k[len(start) :]: v for k, v in self.arrays.items() if k.startswith(start)}


class Run(NamedTuple):
    model_dir: Path
    losses: list[float]
    evaluation: dict[str, Any]
    predictions: dict[str, np.ndarray]
    last: str


def golden_of(name: str) -> Golden:
    with np.load(GOLDENS / name / "golden.npz") as arrays:
        loaded = dict(arrays)
    return Golden(json.loads((GOLDENS / name / "golden.json").read_text()), loaded)


def resume(name: str, model_dir: Path, **options) -> Run:
    """Goes on from the golden checkpoint, in a copy, as ``make_goldens.py`` did."""
    shutil.copytree(GOLDENS / name / "model_dir", model_dir)
    losses: list[float] = []
    program = programs.PROGRAMS[name]
    settings = {**programs.RESUME_SETTINGS, **options}
    estimator = programs.build(name, eb, str(model_dir), losses, **settings)
    estimator.train(program.train_input, steps=programs.TRAIN_STEPS)
    evaluation = estimator.evaluate(program.test_input)
    predictions = observe.predictions(estimator.predict(program.predict_input))
    return Run(model_dir, losses, evaluation, predictions, estimator.latest_checkpoint())


@pytest.fixture(scope="module", params=list(programs.PROGRAMS))
def pair(request, tmp_path_factory) -> tuple[Golden, Run]:
    """What the original did, and what the bridge did from the same checkpoint."""
    name = request.param
    return golden_of(name), resume(name, tmp_path_factory.mktemp(name) / "model")


def assert_close(got: dict[str, Any], wanted: dict[str, Any], tolerance: float) -> None:
    assert sorted(got) == sorted(wanted)
    for key, value in wanted.items():
        np.testing.assert_allclose(got[key], value, rtol=tolerance, atol=tolerance, err_msg=key)


def test_each_step_has_the_same_loss(pair):
    golden, run = pair
    np.testing.assert_allclose(run.losses, golden.record["losses"], rtol=1e-5)


def test_weights_and_slots_end_the_same(pair):
    golden, run = pair
    assert_close(observe.weights(run.last), golden.under("weights"), 1e-5)


def test_evaluation_sees_the_short_last_batch_too(pair):
    golden, run = pair
    assert_close(run.evaluation, golden.record["evaluation"], 1e-6)


def test_predictions_are_the_same_in_number_and_value(pair):
    golden, run = pair
    assert_close(run.predictions, golden.under("predictions"), 1e-5)


def test_checkpoint_has_the_same_names_types_and_shapes(pair):
    golden, run = pair
    assert observe.shapes(run.last) == golden.record["variables"]


def test_model_dir_has_the_same_files(pair):
    golden, run = pair
    assert observe.files(run.model_dir) == golden.record["files"]


def test_checkpoint_file_lists_the_same_relative_paths(pair):
    golden, run = pair
    assert observe.checkpoint_list(run.model_dir) == golden.record["checkpoint_list"]


def test_event_files_have_the_same_tags_at_the_same_steps(pair):
    golden, run = pair
    assert observe.event_tags(run.model_dir) == golden.record["event_tags"]


@pytest.mark.parametrize("name", list(programs.PROGRAMS))
def test_training_from_nothing_starts_the_same(name, tmp_path):
    """Initial values and dropout masks follow from the graph's seed and the op seeds."""
    losses: list[float] = []
    estimator = programs.build(name, eb, str(tmp_path), losses)
    estimator.train(programs.PROGRAMS[name].train_input, steps=programs.SCRATCH_STEPS)
    np.testing.assert_allclose(losses, golden_of(name).record["scratch_losses"], rtol=1e-5)
    kept = observe.weights(str(GOLDENS / name / f"model_dir/model.ckpt-{programs.SCRATCH_STEPS}"))
    assert_close(observe.weights(estimator.latest_checkpoint()), kept, 1e-5)


def test_learning_rate_reads_the_step_before_it_is_raised(tmp_path):
    """A race in the original: a hand-written optimizer's step is raised beside its update."""
    golden = golden_of("handwritten")
    run = resume("handwritten", tmp_path / "model", ordered_step=False)
    np.testing.assert_allclose(run.losses, golden.record["losses"], rtol=1e-5)
    assert_close(observe.weights(run.last), golden.under("weights"), 1e-5)
