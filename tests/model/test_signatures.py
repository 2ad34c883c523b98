"""The API is the original's: names, argument order, defaults, values and error phrases."""

import json
import pathlib

import pytest
from goldens.signatures.configuration_cases import CASES
from goldens.signatures.face_observer import outcome, signature

from estimator_bridge import export, model

_GOLDENS = pathlib.Path(__file__).parents[1] / "goldens" / "signatures"
_SIGNATURES = json.loads((_GOLDENS / "signatures.json").read_text())
_CONFIGURATIONS = json.loads((_GOLDENS / "configurations.json").read_text())
_OURS = {
    "EstimatorSpec": model.EstimatorSpec,
    "ModeKeys": model.ModeKeys,
    "RunConfig": model.RunConfig,
    "VocabInfo": model.VocabInfo,
    "WarmStartSettings": model.WarmStartSettings,
    "export.ClassificationOutput": export.ClassificationOutput,
    "export.PredictOutput": export.PredictOutput,
    "export.RegressionOutput": export.RegressionOutput,
    "export.ServingInputReceiver": export.ServingInputReceiver,
    "export.TensorServingInputReceiver": export.TensorServingInputReceiver,
    "export.build_parsing_serving_input_receiver_fn": (
        export.build_parsing_serving_input_receiver_fn
    ),
    "export.build_raw_serving_input_receiver_fn": export.build_raw_serving_input_receiver_fn,
    "tpu.InputPipelineConfig": model.InputPipelineConfig,
    "tpu.RunConfig": model.TPURunConfig,
    "tpu.TPUConfig": model.TPUConfig,
    "tpu.TPUEstimatorSpec": model.TPUEstimatorSpec,
}
_CONSTRUCTORS = {
    "RunConfig": model.RunConfig,
    "tpu.RunConfig": model.TPURunConfig,
    "tpu.TPUConfig": model.TPUConfig,
}
# Python's own complaint about "3" >= 0 names no setting; ours does.
_REWORDED = {"text summary steps"}


# A class that takes no arguments has a signature of Python's own making.
@pytest.mark.parametrize("name", sorted(set(_OURS) - {"ModeKeys", "tpu.InputPipelineConfig"}))
def test_signature_is_the_originals(name):
    assert signature(_OURS[name]) == _SIGNATURES[f"tf.compat.v1.estimator.{name}"]
    if not name.startswith("tpu."):
        assert signature(_OURS[name]) == _SIGNATURES[f"tf.estimator.{name}"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_configuration_comes_to_the_same(case):
    ours, theirs = outcome(_CONSTRUCTORS, case), dict(_CONFIGURATIONS[case.name])
    if case.name in _REWORDED:
        ours.pop("message")
        theirs.pop("message")
    for side in (ours, theirs):  # a sentence that goes on in the one may end in the other
        if "message" in side:
            side["message"] = side["message"].rstrip(".")
    assert ours == theirs


@pytest.mark.parametrize("name", ["EstimatorSpec", "tpu.TPUEstimatorSpec", "tpu.TPUConfig"])
def test_fields_are_the_arguments_in_order(name):
    arguments = _SIGNATURES[f"tf.compat.v1.estimator.{name}"]
    assert list(_OURS[name]._fields) == [argument.split("=")[0] for argument in arguments]
