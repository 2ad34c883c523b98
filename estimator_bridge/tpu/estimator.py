"""The TPUEstimator."""

from __future__ import annotations

import contextlib
import copy
import os
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import INSTEAD_OF_JAX, NotOnJaxError
from estimator_bridge.model import InputPipelineConfig, ModeKeys, TPURunConfig
from estimator_bridge.model.number_checks import check_positive_integer
from estimator_bridge.runtime import (
    alone,
    cores_for_any_tpu,
    default_strategy,
    is_on_jax,
    tpu_strategy,
    workers_of,
)
from estimator_bridge.tpu.cpu_execution import CPUExecution, DistributedCPUExecution
from estimator_bridge.tpu.embedding_features import embedding_features
from estimator_bridge.tpu.embedding_spec import EmbeddingConfigSpec
from estimator_bridge.tpu.evaluation_master import EvaluationMaster
from estimator_bridge.tpu.execution import TPUExecution
from estimator_bridge.tpu.global_batch import GlobalBatch
from estimator_bridge.training import Estimator, EstimatorV1
from estimator_bridge.training.distribution import strategy_for
from estimator_bridge.training.execution import Execution
from estimator_bridge.training.notebook_errors import shorten_notebook_errors
from estimator_bridge.training.params import shown_params
from estimator_bridge.training.program import Program

__all__ = ["TPUEstimator"]

_RESERVED = ("batch_size", "context")
_BATCH_SIZE_ARGUMENT = {
    ModeKeys.TRAIN: "train_batch_size",
    ModeKeys.EVAL: "eval_batch_size",
    ModeKeys.PREDICT: "predict_batch_size",
}


class TPUEstimator(EstimatorV1):
    """An Estimator whose steps run on all cores of a TPU, each on its part of the batch.

    Args:
      model_fn: returns a TPUEstimatorSpec for one replica's batch.
      model_dir: see Estimator.
      config: a tpu.RunConfig; its cluster or master names the TPU, or 'emulated:N' for N cores
        emulated on the CPU.
      params: passed to model_fn and input_fn, with 'batch_size' and, on a TPU, 'context' added.
        For input_fn, 'batch_size' is the size of the batch that the call returns: a host's or, if
        input_fn is called per replica, a replica's. For model_fn, it is a replica's batch size.
      use_tpu: False runs the same model_fn with one replica, on the global batch.
      train_batch_size: the global batch size in training, divisible by the number of replicas.
      eval_batch_size: the global batch size in evaluation. The last batch may be smaller.
      predict_batch_size: the global batch size in prediction. The last batch may be smaller.
      batch_axis: the batch dimension of each tensor that input_fn returns; None means 0 for all.
        Ignored if input_fn returns a replica's batch (PER_SHARD_V1, PER_HOST_V2).
      eval_on_tpu: False evaluates with one replica.
      export_to_tpu: without effect: an export is one graph, tagged 'serve', which runs anywhere.
        An export needs export_to_tpu or export_to_cpu.
      export_to_cpu: see export_to_tpu.
      warm_start_from: see Estimator.
      embedding_config_spec: the TPU embedding columns and the optimizer of their tables; ignored
        if use_tpu is False, as in the original.
      export_saved_model_api_version: 1 or 2, without effect: both write the same format.

    Raises:
      ValueError: config is not a tpu.RunConfig, params has a reserved key, num_shards is not the
        number of replicas, or export_saved_model_api_version is neither 1 nor 2.
      TypeError: a batch size is not an integer, or a column of embedding_config_spec is none of
        TPU embeddings.
      AcceleratorNotFoundError: use_tpu is True and the TPU cannot be found.
      NotImplementedError: embedding_config_spec is used with a TPU that is not emulated.
    """

    _config: TPURunConfig
    _rate_tags = ("global_step/sec", "examples/sec")
    # Whether model_fn's optimizers sum the replicas' gradients, without a CrossShardOptimizer.
    _joins_by_strategy = False

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | os.PathLike[str] | None = None,
        config: TPURunConfig | None = None,
        params: Mapping[str, Any] | None = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ):
        shorten_notebook_errors()
        _check_api_version(export_saved_model_api_version)
        if not isinstance(config, TPURunConfig):
            raise ValueError(
                "`config` must be provided with type `tpu.RunConfig`, got "
                f"{type(config).__name__}. Write config=estimator_bridge.tpu.RunConfig(...)."
            )
        for key in _RESERVED:
            if params is not None and key in params:
                raise ValueError(
                    f"{key} are reserved keys but existed in params: {key!r} is set by "
                    f"TPUEstimator for each call, got {shown_params(params)[key]!r}. Remove it, "
                    "and pass train_batch_size, eval_batch_size and predict_batch_size instead."
                )
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        for mode, size in self._batch_sizes.items():
            if use_tpu and size is not None:  # the original checks no batch size without a TPU
                check_positive_integer(size, _BATCH_SIZE_ARGUMENT[mode])
        self._use_tpu, self._eval_on_tpu = use_tpu, eval_on_tpu
        self._batch_axis = batch_axis
        self._may_export = export_to_tpu or export_to_cpu
        super().__init__(model_fn, model_dir, config, params, warm_start_from)
        logging.info("_TPUContext: eval_on_tpu %s", eval_on_tpu)
        if eval_on_tpu and not use_tpu:
            logging.warning("eval_on_tpu ignored because use_tpu is False.")
        self._strategy = self._make_strategy(config) if use_tpu else default_strategy()
        self._embeddings = embedding_config_spec
        if use_tpu and embedding_config_spec is not None:
            self._check_embeddings(embedding_config_spec)
        self._evaluation_master: EvaluationMaster | None = None
        if use_tpu and eval_on_tpu:
            self._evaluation_master = EvaluationMaster(config, self._strategy)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        config: TPURunConfig | None = None,
        *,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        use_tpu: bool = True,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
    ) -> TPUEstimator:
        """Runs an Estimator, such as a canned one, on the cores of a TPU.

        ::

            regressor = eb.DNNRegressor([64, 32], columns, model_dir="runs/dnn")
            config = eb.tpu.RunConfig(master="emulated:8")
            on_cores = eb.tpu.TPUEstimator.from_estimator(regressor, config, train_batch_size=512)
            on_cores.train(input_fn, max_steps=1000)

        The model needs no CrossShardOptimizer: TensorFlow's and Keras' optimizers sum the
        gradients of the cores, as under a ``tf.distribute`` strategy. An input_fn without params
        must return batches of the size that params['batch_size'] would have.

        Args:
          estimator: the source of model_fn, params and warm start.
          config: a tpu.RunConfig; by default the estimator's, if it is a tpu.RunConfig. If it has
            no model_dir, the estimator's is used.
          train_batch_size: the global batch size in training, which training requires.
          eval_batch_size: the global batch size in evaluation; by default that of training.
          predict_batch_size: the global batch size in prediction; by default that of training.
          use_tpu: see the class.
          batch_axis: see the class.
          eval_on_tpu: see the class.

        Returns:
          The estimator on cores, which reads and writes the same checkpoints.

        Raises:
          TypeError: estimator is not an Estimator.
          ValueError: estimator is a TPUEstimator, or neither config nor the estimator's is a
            tpu.RunConfig.
        """
        if not isinstance(estimator, Estimator):
            raise TypeError(
                "from_estimator takes an Estimator, canned or with its own model_fn, got "
                f"{type(estimator).__name__}. Pass an estimator_bridge.Estimator."
            )
        if isinstance(estimator, TPUEstimator):
            raise ValueError(
                "from_estimator takes an Estimator, got a TPUEstimator, which already runs on "
                "cores. Use it directly."
            )
        config_here: Any = estimator.config if config is None else config
        model_dir = getattr(config, "model_dir", None) or estimator.model_dir
        on_cores = cls(
            estimator._model_fn,
            model_dir,
            config_here,
            estimator.params or None,
            use_tpu=use_tpu,
            train_batch_size=train_batch_size,
            eval_batch_size=eval_batch_size or train_batch_size,
            predict_batch_size=predict_batch_size or train_batch_size,
            batch_axis=batch_axis,
            eval_on_tpu=eval_on_tpu,
            warm_start_from=estimator._warm_start_settings,
        )
        on_cores._joins_by_strategy = True
        return on_cores

    @contextlib.contextmanager
    def _loop(self, name: str) -> Iterator[None]:
        try:
            yield
        finally:
            logging.info("%s marked as finished", name)

    def _shown_values(self) -> dict[str, Any]:
        values = super()._shown_values()
        for mode, size in self._batch_sizes.items():
            if size is not None:
                values[_BATCH_SIZE_ARGUMENT[mode]] = size
        return {**values, "use_tpu": self._use_tpu}

    @property
    def _writes_results(self) -> bool:
        """Whether this process does, of those that train together and may all evaluate."""
        return workers_of(self._strategy).is_chief

    def _check_embeddings(self, spec: Any) -> None:
        if not isinstance(spec, EmbeddingConfigSpec):
            raise TypeError(
                f"embedding_config_spec is a {type(spec).__name__}. Pass a "
                "tf.compat.v1.estimator.tpu.experimental.EmbeddingConfigSpec."
            )
        embedding_features(spec)  # checks the columns
        if is_on_jax(self._strategy):
            raise NotOnJaxError(
                "embedding_config_spec: steps on JAX have no tables of a TPU's embedding engine. "
                + INSTEAD_OF_JAX
            )
        if isinstance(self._strategy, tf.distribute.TPUStrategy):
            raise NotImplementedError(
                "embedding_config_spec: a TPU's embedding engine is not supported, and the "
                "columns' lookups do not run on its cores. Train on emulated cores or with "
                "use_tpu=False. Or create the tables with tf.compat.v1.get_variable and look up "
                "dense ids with tf.gather, which runs on a TPU's cores."
            )

    def _make_strategy(self, config: TPURunConfig) -> tf.distribute.Strategy:
        tpu_config = config.tpu_config
        # config.master may be 'emulated:N' too. If a cluster is given, only messages use master.
        strategy = tpu_strategy(config.cluster, config.master, tpu_config.num_cores_per_replica)
        replicas = strategy.num_replicas_in_sync
        # num_shards is for the program's own TPU. It does not apply if the user has chosen a
        # number of cores for any TPU.
        shards = None if replicas == cores_for_any_tpu() else tpu_config.num_shards
        if shards not in (None, replicas):
            raise ValueError(
                "TPUConfig.num_shards is not set correctly. According to the TPU "
                f"({config.master or 'local'!r}), num_replicas should be ({replicas}), got "
                f"({tpu_config.num_shards}). Leave out num_shards, or set it to {replicas}: it "
                f"counts replicas, each of {tpu_config.num_cores_per_replica or 1} core(s)."
            )
        return strategy

    def _check_steps(self, purpose: str, **counts: int | None) -> None:
        """Checks steps as Estimator does, and that each count fits a loop's counter.

        The words of each purpose are the original's, which users search for.
        """
        if purpose == "Train":
            super()._check_steps(purpose, **counts)
        for name, count in counts.items():
            if count is not None:
                check_positive_integer(count, f"{purpose} {name}")
        super()._check_steps(purpose, **counts)

    def _export(self, *args: Any, **kwargs: Any) -> bytes:
        if not self._may_export:
            raise ValueError(
                "One of export_to_cpu and export_to_tpu must be true. This TPUEstimator was "
                "created with both False. Leave them out."
            )
        return super()._export(*args, **kwargs)

    def _with_batch(self, mode: str, size: int) -> TPUEstimator:
        other = copy.copy(self)
        other._batch_sizes = {**self._batch_sizes, mode: size}
        return other

    def _export_execution(self) -> Execution:
        return CPUExecution(default_strategy(), self._config, batch_size=None)

    def _trace(
        self, execution: Execution, input_fn: Callable[..., Any], mode: str, checkpoint: str | None
    ) -> Program:
        workers = workers_of(execution.strategy)
        if workers.shares_programs and execution.config.tf_random_seed is None:
            # Operations without a seed would draw one in each process, for a program of its own.
            seed = int(workers.texts(str(random.SystemRandom().getrandbits(31)))[0])
            execution.config = execution.config.replace(tf_random_seed=seed)
        return super()._trace(execution, input_fn, mode, checkpoint)

    def _execution(self, mode: str) -> Execution:
        size = self._batch_sizes[mode]
        on_tpu = self._use_tpu and (mode != ModeKeys.EVAL or self._eval_on_tpu)
        strategy = strategy_for(self._config, mode)
        if strategy is not None:
            if on_tpu:
                raise ValueError(
                    f"RunConfig has a strategy for mode {mode!r} ({type(strategy).__name__}), but "
                    "use_tpu=True uses its own strategy. Leave out train_distribute and "
                    "eval_distribute, or pass use_tpu=False to run under the strategy."
                )
            return DistributedCPUExecution(strategy, self._config, size)
        if not on_tpu:
            return CPUExecution(default_strategy(), self._config, size)
        argument = _BATCH_SIZE_ARGUMENT[mode]
        if mode == ModeKeys.TRAIN and self._config.num_ps_replicas:
            raise ValueError(
                f"TF_CONFIG's cluster has {self._config.num_ps_replicas} parameter server(s) (job "
                "'ps'), and a TPU's cores hold the variables themselves. Take 'ps' out of the "
                "cluster, or pass use_tpu=False to train on CPUs and parameter servers."
            )
        if size is None:
            # The original has one phrase for training and another for the other modes.
            phrase = f"{argument} in TPUEstimator constructor"
            if mode == ModeKeys.TRAIN:
                phrase = f"`{argument}`"
            raise ValueError(
                f"{phrase} cannot be `None` in mode {mode!r} on a "
                f"TPU: pass the global batch size as TPUEstimator({argument}=...)."
            )
        strategy = self._strategy
        if mode == ModeKeys.EVAL and self._evaluation_master:
            strategy = self._evaluation_master.strategy()
        if mode != ModeKeys.TRAIN:
            strategy = alone(strategy)
        replicas = strategy.num_replicas_in_sync
        tpu_config = self._config.tpu_config
        is_sliced = mode != ModeKeys.TRAIN and (
            tpu_config.eval_training_input_configuration == InputPipelineConfig.SLICED
        )
        is_whole = tpu_config.per_host_input_for_training == InputPipelineConfig.BROADCAST
        if size % replicas and (is_sliced or not is_whole):
            below = size - size % replicas
            fitting = [str(n) for n in (below, below + replicas) if n]
            raise ValueError(
                f"{argument.replace('_', ' ')} {size} must be divisible by number of replicas "
                f"{replicas}. Set it to {' or '.join(fitting)}."
            )
        execution = TPUExecution(
            strategy,
            self._config,
            GlobalBatch.of(tpu_config, size, self._batch_axis, is_sliced),
            self._embeddings,
            self._joins_by_strategy,
        )
        execution.check_hosts(mode)
        return execution


def _check_api_version(version: Any) -> None:
    if version is not None and getattr(version, "value", version) not in (1, 2):
        raise ValueError(
            f"export_saved_model_api_version should be 1 or 2; got {version!r}. Leave it out: both "
            "write the same format."
        )
