"""Checks, for tests on a CPU, that a model stays ready for TPUs."""

from estimator_bridge.testing.check import check_model_fn
from estimator_bridge.testing.cores import cores_fixture
from estimator_bridge.testing.described_tpu import TPUGraph, described_tpu
from estimator_bridge.testing.report import ModelCheckError, ModelReport
from estimator_bridge.testing.same_numbers import check_same_numbers
from estimator_bridge.testing.tpu_compilation import compile_for_tpu

__all__ = [
    "ModelCheckError",
    "ModelReport",
    "TPUGraph",
    "check_model_fn",
    "check_same_numbers",
    "compile_for_tpu",
    "cores_fixture",
    "described_tpu",
]


def __dir__() -> list[str]:
    return sorted(__all__)
