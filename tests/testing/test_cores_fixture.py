"""The fixture of emulated cores."""

import pytest
from engine import run_program

import estimator_bridge as eb
from estimator_bridge.runtime import tpu_strategy

cores = eb.testing.cores_fixture(1, 2, 8)
seen = []


def test_a_test_runs_on_each_number_of_cores(cores):
    assert tpu_strategy(eb.tpu.RunConfig(cluster=cores).cluster).num_replicas_in_sync == cores.cores
    seen.append(cores.cores)


def test_it_was_called_for_each():
    assert seen == [1, 2, 8]


def test_more_cores_than_there_can_be_any_more():
    with pytest.raises(eb.errors.TooLateError, match="64 emulated cores"):
        eb.testing.cores_fixture(64)


def test_no_core():
    with pytest.raises(ValueError, match=r"must be positive, got \[0\]"):
        eb.testing.cores_fixture(0)


def test_the_library_does_not_import_pytest():
    assert run_program("import sys, estimator_bridge.testing; print('pytest' in sys.modules)") == [
        "False"
    ]
