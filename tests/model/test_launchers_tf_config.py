"""RunConfig reads the TF_CONFIG of Kubeflow, tf-yarn, TensorFlowOnSpark and AI Platform."""

import json
import os
import pathlib
from unittest import mock

import pytest
from goldens.launchers.launcher_cases import CASES
from goldens.signatures.face_observer import outcome

from estimator_bridge.model import RunConfig

# Cases that the original ended with an error of Python or TensorFlow that does not name TF_CONFIG,
# and the start of the message here.
_REWORDED = {
    "sparse worker: worker 0": "0 is not a valid task_id for",
    "worker by a word: chief 0": 'The "cluster" in TF_CONFIG m',
    "an address for a list: ps 0": 'The "cluster" in TF_CONFIG m',
    "a number for a list: ps 0": 'The "cluster" in TF_CONFIG m',
    "no servers in the job: ps 0": "0 is not a valid task_id for",
    "index by a word": "The task index in TF_CONFIG ",
}
_NOT_A_LIST_OF_TASKS = "sparse worker: worker 0"  # a TypeError of the original's own arithmetic
_ORIGINAL = json.loads(
    (pathlib.Path(__file__).parents[1] / "goldens/launchers/launchers.json").read_text()
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_role_is_what_the_original_made_of_it(case):
    ours, theirs = outcome({"RunConfig": RunConfig}, case), dict(_ORIGINAL[case.name])
    for side in (ours, theirs):  # a sentence that goes on in the one may end in the other
        if "message" in side:
            side["message"] = side["message"].rstrip(".")
    if case.name in _REWORDED:
        theirs["message"] = _REWORDED[case.name]
    if case.name == _NOT_A_LIST_OF_TASKS:
        theirs["error"] = "ValueError"
    assert json.loads(json.dumps(ours)) == theirs


def _message(name):
    """Returns the text of the error that a case ends with."""
    (case,) = [case for case in CASES if case.name == name]
    with (
        mock.patch.dict(os.environ, TF_CONFIG=json.dumps(case.tf_config)),
        pytest.raises((TypeError, ValueError)) as caught,
    ):
        RunConfig()
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("TFJob without chief: worker 0", "a TFJob needs a replica of type Chief"),
        ("TFJob 1.6 enableDynamicWorker: ps 0", "Leave enableDynamicWorker out"),
        ("TFJob 1.6 enableDynamicWorker: worker 1", "Leave enableDynamicWorker out"),
        ("TFJob 1.7 enableDynamicWorker: worker 1", "a TFJob with enableDynamicWorker"),
        ("AI Platform master: evaluator 0", "Name the job `chief` in TF_CONFIG"),
        ("two chiefs: ps 0", "['a:1', 'e:1']: list the others as workers"),
        ("chief and master: ps 0", "Name the leading node in TF_CONFIG once, as `chief`"),
        ("no chief: worker 0", "list one process as 'chief' instead of 'worker'"),
        ("servers alone: ps 0", "nobody trains; add the address of a process that does"),
        ("cluster: ps 2", "its indices are [0, 1]"),
        ("cluster: painter 0", "its jobs are ['chief', 'ps', 'worker']"),
        ("sparse worker: worker 0", "its indices are [1]"),
        ("worker by a word: chief 0", "a dict from jobs to lists of addresses"),
        ("no index", "add 'index', which counts from 0 within the job"),
    ],
)
def test_an_error_names_the_mistake_and_its_fix(name, fix):
    assert fix in _message(name)


def test_a_worker_whose_cluster_is_not_read_says_that_it_trains_alone(caplog):
    (case,) = [case for case in CASES if case.name == "TFJob 1.6 enableDynamicWorker: worker 0"]
    with mock.patch.dict(os.environ, TF_CONFIG=json.dumps(case.tf_config)):
        assert not RunConfig().cluster_spec
    assert "this process trains alone: it has 'sparseCluster'" in caplog.text
