"""Describes a model: the arguments and results of model_fn, and the run configuration.

``Model.keras_model`` (``model_in_keras``) calls the inference function with Keras's symbolic
tensors, once for each mode that it distinguishes; a variable creator gives later modes the
variables of the first. Metrics of TF1 need a graph with variables of its own, so they are wrapped
once and run on the host with gathered batches (``metrics_on_host``).
"""

from estimator_bridge.model.adapters import Model
from estimator_bridge.model.cluster import Cluster, TaskType, parse_cluster
from estimator_bridge.model.cross_shard import CrossShardOptimizer, cross_replica_sum
from estimator_bridge.model.estimator_spec import EstimatorSpec
from estimator_bridge.model.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from estimator_bridge.model.fn_args import describe_fn, fn_args
from estimator_bridge.model.host_calls import HostCallHook, call_host_fn
from estimator_bridge.model.modes import MODE_NAMES, ModeKeys
from estimator_bridge.model.number_checks import IterationsPerLoop, parse_iterations_per_loop
from estimator_bridge.model.replica_exchange import all_to_all, collective_permute
from estimator_bridge.model.reprs import call_repr
from estimator_bridge.model.run_config import RunConfig
from estimator_bridge.model.session_config import default_session_config
from estimator_bridge.model.tf_config import read_tf_config
from estimator_bridge.model.tpu_config import InputPipelineConfig, TPUConfig
from estimator_bridge.model.tpu_run_config import RunConfig as TPURunConfig
from estimator_bridge.model.tpu_spec import TPUEstimatorSpec
from estimator_bridge.model.warm_start import (
    VocabInfo,
    WarmStartSettings,
    parse_warm_start,
    warm_start,
)

__all__ = [
    "MODE_NAMES",
    "ClassificationOutput",
    "Cluster",
    "CrossShardOptimizer",
    "EstimatorSpec",
    "ExportOutput",
    "HostCallHook",
    "InputPipelineConfig",
    "IterationsPerLoop",
    "ModeKeys",
    "Model",
    "PredictOutput",
    "RegressionOutput",
    "RunConfig",
    "TPUConfig",
    "TPUEstimatorSpec",
    "TPURunConfig",
    "TaskType",
    "VocabInfo",
    "WarmStartSettings",
    "all_to_all",
    "call_host_fn",
    "call_repr",
    "collective_permute",
    "cross_replica_sum",
    "default_session_config",
    "describe_fn",
    "fn_args",
    "parse_cluster",
    "parse_iterations_per_loop",
    "parse_warm_start",
    "read_tf_config",
    "warm_start",
]
