"""The run configuration of an Estimator: checkpoints, summaries, cluster and strategies."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Callable

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.redaction import redacted
from estimator_bridge.model.cluster import Cluster, parse_cluster
from estimator_bridge.model.config_checks import (
    SAVE_CHECKPOINTS_ERROR,
    check_model_dir,
    check_settings,
)
from estimator_bridge.model.reprs import call_repr, changed_from_defaults
from estimator_bridge.model.session_config import cluster_session_config, default_session_config
from estimator_bridge.model.settings import Place, Setting
from estimator_bridge.model.strategy_checks import merge_strategies
from estimator_bridge.model.tf_config import read_tf_config

__all__ = ["RunConfig"]


class _Unset:
    """The type of a marker for "not given"; None turns checkpoints off."""

    def __repr__(self) -> str:
        return "<unset>"


_UNSET: Any = _Unset()
_DEFAULT_SAVE_CHECKPOINTS_SECS = 600


class RunConfig:
    """The configuration of an `Estimator`'s run; read-only, see `replace`.

    A program may set its own attributes on it; they reach model_fn and survive `replace`.

    Args:
      model_dir: folder of checkpoints, the graph and summaries; may be a path-like object. None
        leaves the choice to TF_CONFIG's ``model_dir``, then to the estimator.
      tf_random_seed: the graph's seed. None draws different initial weights in each run.
      save_summary_steps: steps between summaries.
      save_checkpoints_steps: steps between checkpoints; not with `save_checkpoints_secs`.
      save_checkpoints_secs: seconds between checkpoints, 600 if neither is given. None for both
        turns checkpoints off.
      session_config: a ``tf.compat.v1.ConfigProto``.
      keep_checkpoint_max: number of recent checkpoints to keep; 0 or None keeps all.
      keep_checkpoint_every_n_hours: hours between checkpoints that are kept permanently.
      log_step_count_steps: steps between log lines of loss and speed.
      train_distribute: the ``tf.distribute`` strategy to train under.
      device_fn: takes an operation ``op``, returns its device.
      protocol: protocol of the cluster's servers, "grpc" or "grpc+verbs".
      eval_distribute: the strategy to evaluate under.
      experimental_distribute: an object with ``train_distribute`` and ``eval_distribute``, instead
        of those two arguments.
      experimental_max_worker_delay_secs: maximum delay before a worker starts.
      session_creation_timeout_secs: maximum time that a worker waits for the chief.
      checkpoint_save_graph_def: whether to write ``graph.pbtxt`` and ``.meta`` files.

    Raises:
      ValueError: an argument or TF_CONFIG is not valid, or both checkpoint intervals are set.
      TypeError: an argument that must be a number is not one.
    """

    # Whether a cluster's workers see only themselves and the parameter servers.
    _has_device_filters = True
    # By argument: addresses of other processes, which tf.contrib.learn's RunConfig accepts.
    _other_processes: Mapping[str, str] = {}

    model_dir = Setting("The folder of checkpoints, the graph and summaries; None if not set yet.")
    tf_random_seed = Setting("The graph's seed, or None.")
    save_summary_steps = Setting("Steps between summaries.")
    save_checkpoints_steps = Setting("Steps between checkpoints, or None.")
    save_checkpoints_secs = Setting("Seconds between checkpoints, or None.")
    session_config = Setting("The ConfigProto, or None.")
    keep_checkpoint_max = Setting("The number of recent checkpoints to keep.")
    keep_checkpoint_every_n_hours = Setting("Hours between checkpoints kept permanently.")
    log_step_count_steps = Setting("Steps between log lines.")
    train_distribute = Setting("The strategy to train under, or None.")
    device_fn = Setting("A function from an operation to its device, or None.")
    protocol = Setting("The protocol of the cluster's servers, or None.")
    eval_distribute = Setting("The strategy to evaluate under, or None.")
    experimental_distribute = Setting("The object with the two strategies, or None.")
    experimental_max_worker_delay_secs = Setting("The maximum delay before a worker starts.")
    session_creation_timeout_secs = Setting("The maximum wait for the chief.")
    checkpoint_save_graph_def = Setting("Whether the graph is written with checkpoints.")

    cluster_spec = Place("The cluster; empty for a program that runs alone, and an evaluator.")
    task_type = Place("This process's job, such as 'chief' or 'worker'.")
    task_id = Place("This process's index within its job.")
    is_chief = Place("Whether this process saves checkpoints and writes summaries.")
    master = Place("The address of the training server; '' for this process.")
    evaluation_master = Place("The address of the evaluation server; '' for this process.")
    num_ps_replicas = Place("The number of parameter servers in the cluster.")
    num_worker_replicas = Place("The number of workers in the cluster, including the chief.")
    global_id_in_cluster = Place("This process's index among all tasks; None for an evaluator.")
    service = Place("TF_CONFIG's service dict, or None.")

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _UNSET,
        save_checkpoints_secs: float | None = _UNSET,
        session_config: tf.compat.v1.ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: tf.distribute.Strategy | None = None,
        device_fn: Callable[[tf.Operation], str] | None = None,
        protocol: str | None = None,
        eval_distribute: tf.distribute.Strategy | None = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
        checkpoint_save_graph_def: bool = True,
    ):
        if save_checkpoints_secs is _UNSET:
            is_unset = save_checkpoints_steps is _UNSET
            save_checkpoints_secs = _DEFAULT_SAVE_CHECKPOINTS_SECS if is_unset else None
        if save_checkpoints_steps is _UNSET:
            save_checkpoints_steps = None
        tf_config = read_tf_config()
        if tf_config:
            text = json.loads(redacted(json.dumps(tf_config)))
            logging.info("TF_CONFIG environment variable: %s", text)
        path = model_dir if model_dir is None else os.fsdecode(model_dir)
        strategies = merge_strategies(train_distribute, eval_distribute, experimental_distribute)
        self._settings: dict[str, Any] = {
            "model_dir": check_model_dir(path, tf_config),
            "tf_random_seed": tf_random_seed,
            "save_summary_steps": save_summary_steps,
            "save_checkpoints_steps": save_checkpoints_steps,
            "save_checkpoints_secs": save_checkpoints_secs,
            "session_config": session_config,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours,
            "log_step_count_steps": log_step_count_steps,
            "train_distribute": strategies[0],
            "device_fn": device_fn,
            "protocol": protocol,
            "eval_distribute": strategies[1],
            "experimental_distribute": experimental_distribute,
            "experimental_max_worker_delay_secs": experimental_max_worker_delay_secs,
            "session_creation_timeout_secs": session_creation_timeout_secs,
            "checkpoint_save_graph_def": checkpoint_save_graph_def,
        }
        check_settings(self._settings, self._settings)
        self._cluster_place: Cluster = self._find_place(tf_config)

    def replace(self, **kwargs: Any) -> RunConfig:
        """Copies this config with some settings changed.

        Setting one of save_checkpoints_steps and save_checkpoints_secs clears the other.

        Args:
          **kwargs: settings, named as the constructor's arguments.

        Returns:
          The copy, including the user's own attributes.

        Raises:
          ValueError: a name is not a setting, or a value is not valid.
          TypeError: a setting that must be a number is not one.
        """
        unknown_names = [name for name in kwargs if name not in self._settings]
        if unknown_names:
            raise ValueError(
                f"Replacing {', '.join(unknown_names)} is not supported. Allowed properties are "
                f"{list(self._settings)}."
            )
        steps, secs = kwargs.get("save_checkpoints_steps"), kwargs.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError(SAVE_CHECKPOINTS_ERROR.format(steps, secs))
        settings = dict(kwargs)
        if settings.get("model_dir") is not None:
            settings["model_dir"] = os.fsdecode(settings["model_dir"])
        if steps is not None:
            settings["save_checkpoints_secs"] = None
        if secs is not None:
            settings["save_checkpoints_steps"] = None
        config = copy.deepcopy(self)
        config._settings.update(settings)
        check_settings(config._settings, settings)
        return config

    def __repr__(self) -> str:
        return call_repr(type(self).__name__, self._shown_values())

    def _shown_values(self) -> dict[str, Any]:
        """Returns the values of the repr, by the names of arguments and properties."""
        values = dict(self._settings)
        intervals = (
            self._settings["save_checkpoints_steps"],
            self._settings["save_checkpoints_secs"],
        )
        if intervals == (None, _DEFAULT_SAVE_CHECKPOINTS_SECS):
            del values["save_checkpoints_steps"], values["save_checkpoints_secs"]
        elif None in intervals and intervals != (None, None):
            del values[("save_checkpoints_steps", "save_checkpoints_secs")[intervals.index(None)]]
        if values["session_config"] == default_session_config():
            del values["session_config"]
        if values["experimental_distribute"] is not None:
            del values["train_distribute"], values["eval_distribute"]
        settings = changed_from_defaults(RunConfig.__init__, values)
        place = {f.name: getattr(self._cluster_place, f.name) for f in fields(Cluster)}
        if place["cluster_spec"]:
            place["cluster_spec"] = place["cluster_spec"].as_dict()
        else:
            del place["cluster_spec"]
        return {**settings, **changed_from_defaults(Cluster, place)}

    def __deepcopy__(self, memo: dict[int, Any]) -> RunConfig:
        # A copied strategy is another strategy: its variables are foreign to the original. Objects
        # that represent machines are shared, the rest is copied.
        for shared in self._shared():
            memo[id(shared)] = shared
        config = type(self).__new__(type(self))
        memo[id(self)] = config
        config.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return config

    def _shared(self) -> list[Any]:
        """Lists the objects that a copy of this config shares with it."""
        names = ("train_distribute", "eval_distribute", "experimental_distribute", "device_fn")
        return [self._settings[name] for name in names]

    def _find_place(self, tf_config: Mapping[str, Any]) -> Cluster:
        collective = self._trains_in_step()
        place = parse_cluster(tf_config, collective=collective)
        if self._has_device_filters and not collective and not self._settings["session_config"]:
            self._settings["session_config"] = cluster_session_config(place)
        return place

    def _trains_in_step(self) -> bool:
        """Returns whether the workers of a cluster run each step together."""
        strategy = self._settings["train_distribute"]
        return strategy is not None and not type(strategy).__name__.startswith("TPUStrategy")
