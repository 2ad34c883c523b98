"""tf.estimator.experimental: early stopping, and evaluation within training."""

from typing import TYPE_CHECKING

from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge.canned import (
    KMeans,
    LinearSDCA,
    RNNClassifier,
    RNNEstimator,
    dnn_logit_fn_builder,
    linear_logit_fn_builder,
)
from estimator_bridge.experimental.checkpoint_step import make_stop_at_checkpoint_step_hook
from estimator_bridge.experimental.early_stopping import (
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from estimator_bridge.experimental.in_memory_evaluator import InMemoryEvaluatorHook
from estimator_bridge.experimental.logit_fns import call_logit_fn
from estimator_bridge.export import build_raw_supervised_input_receiver_fn
from estimator_bridge.training import CheckpointInputPipelineHook
from estimator_bridge.training.event_files import read_eval_metrics

__all__ = [
    "CheckpointInputPipelineHook",
    "InMemoryEvaluatorHook",
    "KMeans",
    "LinearSDCA",
    "RNNClassifier",
    "RNNEstimator",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "dnn_logit_fn_builder",
    "linear_logit_fn_builder",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "read_eval_metrics",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]

# A type checker should see only the names above.
if not TYPE_CHECKING:
    __getattr__ = missing_getattr(__name__)


def __dir__() -> list[str]:
    return sorted(__all__)
