"""Runs tf.estimator and TPUEstimator programs on today's TensorFlow.

Importing this package loads neither TensorFlow nor the rest of the library: a name is loaded when
it is first used. So commands that do not need TensorFlow start at once, and a program can still
configure TensorFlow before it imports it.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from estimator_bridge.base.compatibility import (
    check_versions,
    is_the_command,
    settle_tpu_wheel,
)
from estimator_bridge.base.gc_tuning import tune_tensorflow_import
from estimator_bridge.base.lazy_namespace import make_lazy
from estimator_bridge.base.legacy_keras import use_legacy_keras
from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.base.public_names import OWN_PLACES
from estimator_bridge.base.version import __version__ as __version__

# These run before TensorFlow is imported: the import fixes its search paths.
if not is_the_command(getattr(sys, "argv", [])):
    check_versions()
settle_tpu_wheel()
use_legacy_keras()
tune_tensorflow_import()

# The table written out for type checkers, which do not run code.
if TYPE_CHECKING:
    from estimator_bridge import data as data
    from estimator_bridge import errors as errors
    from estimator_bridge import experimental as experimental
    from estimator_bridge import export as export
    from estimator_bridge import heads as heads
    from estimator_bridge import inputs as inputs
    from estimator_bridge import keras as keras
    from estimator_bridge import records as records
    from estimator_bridge import runtime as runtime
    from estimator_bridge import testing as testing
    from estimator_bridge import tpu as tpu
    from estimator_bridge import training as training
    from estimator_bridge import v1 as v1
    from estimator_bridge import weights as weights
    from estimator_bridge.canned import BaselineClassifier as BaselineClassifier
    from estimator_bridge.canned import BaselineEstimator as BaselineEstimator
    from estimator_bridge.canned import BaselineRegressor as BaselineRegressor
    from estimator_bridge.canned import DNNClassifier as DNNClassifier
    from estimator_bridge.canned import DNNEstimator as DNNEstimator
    from estimator_bridge.canned import DNNLinearCombinedClassifier as DNNLinearCombinedClassifier
    from estimator_bridge.canned import DNNLinearCombinedEstimator as DNNLinearCombinedEstimator
    from estimator_bridge.canned import DNNLinearCombinedRegressor as DNNLinearCombinedRegressor
    from estimator_bridge.canned import DNNRegressor as DNNRegressor
    from estimator_bridge.canned import LinearClassifier as LinearClassifier
    from estimator_bridge.canned import LinearEstimator as LinearEstimator
    from estimator_bridge.canned import LinearRegressor as LinearRegressor
    from estimator_bridge.experimental.extenders import add_metrics as add_metrics
    from estimator_bridge.heads import BinaryClassHead as BinaryClassHead
    from estimator_bridge.heads import Head as Head
    from estimator_bridge.heads import LogisticRegressionHead as LogisticRegressionHead
    from estimator_bridge.heads import MultiClassHead as MultiClassHead
    from estimator_bridge.heads import MultiHead as MultiHead
    from estimator_bridge.heads import MultiLabelHead as MultiLabelHead
    from estimator_bridge.heads import PoissonRegressionHead as PoissonRegressionHead
    from estimator_bridge.heads import RegressionHead as RegressionHead
    from estimator_bridge.heads import (
        classifier_parse_example_spec as classifier_parse_example_spec,
    )
    from estimator_bridge.heads import regressor_parse_example_spec as regressor_parse_example_spec
    from estimator_bridge.legacy.install import install as install
    from estimator_bridge.legacy.v1_behavior import bridge_v1_behavior as bridge_v1_behavior
    from estimator_bridge.model import EstimatorSpec as EstimatorSpec
    from estimator_bridge.model import ModeKeys as ModeKeys
    from estimator_bridge.model import Model as Model
    from estimator_bridge.model import RunConfig as RunConfig
    from estimator_bridge.model import WarmStartSettings as WarmStartSettings
    from estimator_bridge.training import BestExporter as BestExporter
    from estimator_bridge.training import Estimator as Estimator
    from estimator_bridge.training import EvalSpec as EvalSpec
    from estimator_bridge.training import Exporter as Exporter
    from estimator_bridge.training import FinalExporter as FinalExporter
    from estimator_bridge.training import LatestExporter as LatestExporter
    from estimator_bridge.training import TrainSpec as TrainSpec
    from estimator_bridge.training import train_and_evaluate as train_and_evaluate
    from estimator_bridge.training.session_run_hooks import (
        CheckpointSaverHook as CheckpointSaverHook,
    )
    from estimator_bridge.training.session_run_hooks import (
        CheckpointSaverListener as CheckpointSaverListener,
    )
    from estimator_bridge.training.session_run_hooks import FeedFnHook as FeedFnHook
    from estimator_bridge.training.session_run_hooks import FinalOpsHook as FinalOpsHook
    from estimator_bridge.training.session_run_hooks import (
        GlobalStepWaiterHook as GlobalStepWaiterHook,
    )
    from estimator_bridge.training.session_run_hooks import LoggingTensorHook as LoggingTensorHook
    from estimator_bridge.training.session_run_hooks import (
        NanLossDuringTrainingError as NanLossDuringTrainingError,
    )
    from estimator_bridge.training.session_run_hooks import NanTensorHook as NanTensorHook
    from estimator_bridge.training.session_run_hooks import ProfilerHook as ProfilerHook
    from estimator_bridge.training.session_run_hooks import SecondOrStepTimer as SecondOrStepTimer
    from estimator_bridge.training.session_run_hooks import SessionRunArgs as SessionRunArgs
    from estimator_bridge.training.session_run_hooks import SessionRunContext as SessionRunContext
    from estimator_bridge.training.session_run_hooks import SessionRunHook as SessionRunHook
    from estimator_bridge.training.session_run_hooks import SessionRunValues as SessionRunValues
    from estimator_bridge.training.session_run_hooks import StepCounterHook as StepCounterHook
    from estimator_bridge.training.session_run_hooks import StopAtStepHook as StopAtStepHook
    from estimator_bridge.training.session_run_hooks import SummarySaverHook as SummarySaverHook
    from estimator_bridge.training.session_run_hooks import VocabInfo as VocabInfo

__all__ = [*sorted(OWN_PLACES)]  # noqa: PLE0604 - names are strings

make_lazy(__name__)
_fail = missing_getattr(__name__)

# Type checkers see only the names above.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in OWN_PLACES:
            return _fail(name)
        place, _, attribute = OWN_PLACES[name].rpartition(".")
        if place == __name__:
            return importlib.import_module(f"{place}.{attribute}")
        globals()[name] = value = getattr(importlib.import_module(place), attribute)
        return value


def load_ipython_extension(shell: Any) -> None:
    """Serves `%load_ext estimator_bridge`: the notebook's cells see TensorFlow 1."""
    from estimator_bridge.legacy.running.ipython_extension import load_extension

    load_extension(shell)


def __dir__() -> list[str]:
    return __all__
