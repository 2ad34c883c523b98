"""Completes the RunConfig of an estimator."""

from __future__ import annotations

import inspect
import os
import tempfile
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.model import RunConfig, TPURunConfig, default_session_config

__all__ = ["config_with_folder"]


def config_with_folder(
    config: RunConfig | None, model_dir: str | os.PathLike[str] | None
) -> RunConfig:
    """Returns the configuration of an estimator, with the folder of its checkpoints.

    Args:
      config: the caller's RunConfig; None for the defaults.
      model_dir: the caller's folder; None uses config's, '' a new temporary folder.

    Returns:
      A copy.

    Raises:
      ValueError: config is not a RunConfig, or names another folder or process.
      TypeError: model_dir is not a path.
    """
    if config is None:
        logging.info("Using default config.")
        config = RunConfig()
    elif not isinstance(config, RunConfig):
        raise ValueError(
            f"config must be an instance of `RunConfig`, but provided {type(config).__name__}: "
            f"{config!r}."
        )
    for name, address in config._other_processes.items():
        raise ValueError(
            f"{name}={address!r} is the address of another process, for which "
            "tf.contrib.learn.RunConfig opened a session. Omit it to run in this process, or set "
            "TF_CONFIG to make processes work together."
        )
    path = _path(model_dir) if model_dir is not None else None
    if path and config.model_dir and path != config.model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: {path!r}, in `RunConfig`: {config.model_dir!r}. Give one of them."
        )
    path = path or config.model_dir
    if not path:
        path = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", path)
    changes = {} if path == config.model_dir else {"model_dir": path}
    if config.session_config is None:
        changes["session_config"] = default_session_config()
    config = config.replace(**changes)
    logging.info("Using config: %s", _as_attributes(config))
    return config


def _path(model_dir: Any) -> str:
    try:
        return os.fsdecode(model_dir)
    except TypeError:
        raise TypeError(
            f"model_dir must be the path of a folder (str, bytes or os.PathLike object), got "
            f"{type(model_dir).__name__}: {model_dir!r}."
        ) from None


def _as_attributes(config: RunConfig) -> dict[str, Any]:
    """Returns the config's values by the names that the original logged."""
    place = ["service", "cluster_spec", "task_type", "task_id", "global_id_in_cluster", "master"]
    place += ["evaluation_master", "is_chief", "num_ps_replicas", "num_worker_replicas"]
    names = [*inspect.signature(RunConfig).parameters, *place]
    if isinstance(config, TPURunConfig):
        names += ["tpu_config", "cluster"]
    return {f"_{name}": getattr(config, name) for name in names}
