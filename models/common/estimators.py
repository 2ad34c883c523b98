"""Builds the estimator of a model from the shared flags."""

from __future__ import annotations

import os
from typing import Any, Callable, TypeVar

from absl import flags as absl_flags

import estimator_bridge as eb
from flags import Accelerator
from flags.rules import xla_choice
from models.common.errors import UserError
from models.common.keras_trainer import KerasTrainer, Settings, make_strategy
from models.common.task import Task

__all__ = ["build_estimator"]

_Config = TypeVar("_Config")


def build_estimator(
    task: Task,
    flag_values: absl_flags.FlagValues,
    accelerator: Accelerator,
    *,
    model_dir: str,
    params: dict[str, Any],
    report: Callable[[Any], None],
) -> eb.Estimator | KerasTrainer:
    """Builds a `TPUEstimator` in TPU mode, or else a plain `Estimator`, of the same model.

    With `--api=keras` or `--api=loop` it is a `KerasTrainer`, with an estimator's methods.

    Args:
        task: the model to train.
        flag_values: parsed and checked flags.
        accelerator: the accelerator that the flags select on this machine.
        model_dir: folder of checkpoints and summaries.
        params: parameters for the model's functions.
        report: called with the progress, unless an estimator's hook reports it.

    Returns:
        The estimator.

    Raises:
        estimator_bridge.errors.AcceleratorNotFoundError: the named TPU was not found.
        UserError: TF_CONFIG describes no cluster that this process belongs to.
    """
    every = flag_values.save_checkpoints_steps
    seed = flag_values.tf_random_seed
    if flag_values.api != "estimator":
        settings = Settings(
            flag_values.api,
            model_dir,
            params,
            every,
            flag_values.iterations_per_loop,
            flag_values.train_batch_size,
            seed,
        )
        keras_resolver = _resolver(flag_values, accelerator) if accelerator.use_tpu else None
        assert isinstance(task.model, eb.Model)  # Entry.apis says so
        return KerasTrainer(task.model, make_strategy(keras_resolver), settings, report)
    xla = xla_choice(flag_values)
    if xla:  # a ConfigProto can say neither 'auto' nor that XLA is required
        os.environ["ESTIMATOR_BRIDGE_XLA"] = xla
    if not accelerator.use_tpu:
        plain = _config(
            eb.RunConfig,
            model_dir=model_dir,
            save_checkpoints_steps=every,
            tf_random_seed=seed,
        )
        return eb.Estimator(
            task.model.model_fn, config=plain, params=params, warm_start_from=task.warm_start
        )
    resolver = _resolver(flag_values, accelerator)
    config = _config(
        eb.tpu.RunConfig,
        cluster=resolver,
        model_dir=model_dir,
        save_checkpoints_steps=every,
        tf_random_seed=seed,
        tpu_config=eb.tpu.TPUConfig(
            iterations_per_loop=flag_values.iterations_per_loop,
            num_shards=accelerator.num_replicas,
            # Several hosts evaluate and predict one input together, and one host does as before.
            eval_training_input_configuration=eb.tpu.InputPipelineConfig.SLICED,
        ),
    )
    return eb.tpu.TPUEstimator(
        task.model.tpu_model_fn,
        config=config,
        params=params,
        use_tpu=True,
        train_batch_size=flag_values.train_batch_size,
        eval_batch_size=flag_values.eval_batch_size,
        predict_batch_size=flag_values.predict_batch_size,
        warm_start_from=task.warm_start,
    )


def _resolver(flag_values: absl_flags.FlagValues, accelerator: Accelerator) -> Any:
    return eb.tpu.TPUClusterResolver(
        tpu=accelerator.tpu, zone=flag_values.tpu_zone, project=flag_values.gcp_project
    )


def _config(kind: Callable[..., _Config], **settings: Any) -> _Config:
    try:
        return kind(**settings)
    except (ValueError, TypeError) as error:
        if not os.environ.get("TF_CONFIG"):
            raise
        raise UserError(
            f"{error} TF_CONFIG is an environment variable; to train on this machine alone, unset "
            "it."
        ) from error
