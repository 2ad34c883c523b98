"""A RunConfig with TPU settings: which TPU, and how a TPUEstimator divides its work."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import tensorflow as tf

from estimator_bridge.base.tpu_presence import RUNTIME
from estimator_bridge.model import run_config
from estimator_bridge.model.cluster import TaskType
from estimator_bridge.model.reprs import changed_from_defaults
from estimator_bridge.model.tpu_config import TPUConfig

__all__ = ["RunConfig"]


class RunConfig(run_config.RunConfig):
    """The configuration of a `TPUEstimator`'s run.

    Args:
      tpu_config: the division of steps and batches; `TPUConfig()` by default.
      evaluation_master: address to evaluate on; `master` by default.
      master: address to train on: a TPU worker's address, or "emulated:8" for eight cores emulated
        on this machine's CPU.
      cluster: a TPU cluster resolver, instead of `master`. Its ``master()`` and ``cluster_spec()``
        are used.
      **kwargs: the settings of `estimator_bridge.RunConfig`.

    Raises:
      ValueError: both `master` and `cluster` are given, or `cluster` together with a session_config
        that has a cluster_def; or a setting is not valid.
      TypeError: `tpu_config` is not a `TPUConfig`, `cluster` not a resolver, or a master not a
        string.
    """

    # One client drives all the TPU's workers, so it must see all of them.
    _has_device_filters = False

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ):
        if master is not None and cluster is not None:
            raise ValueError(
                f"Both master and cluster are set. Given master={master!r} and cluster="
                f"{cluster!r}: leave one of them out, or pass None."
            )
        _check_tpu_config(tpu_config)
        for name, address in (("master", master), ("evaluation_master", evaluation_master)):
            if address is not None and not isinstance(address, str):
                raise TypeError(
                    f"{name} must be a string, such as 'grpc://10.0.0.2:8470' or 'emulated:8', got "
                    f"{address!r}. A cluster resolver goes into cluster=."
                )
        self._names = master, getattr(cluster, "kind", None)
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if cluster is not None:
            master = self._join(cluster)
        place = self._cluster_place
        if master is not None:
            place = dataclasses.replace(place, master=master)
        if evaluation_master is None:
            evaluation_master = place.evaluation_master
            # An evaluator uses the address in TF_CONFIG, which may be empty: this process.
            if not evaluation_master and place.task_type != TaskType.EVALUATOR:
                evaluation_master = place.master
        self._cluster_place = dataclasses.replace(place, evaluation_master=evaluation_master)

    @property
    def tpu_config(self) -> TPUConfig:
        """The division of steps and batches."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The TPU cluster resolver, or None."""
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """Copies this config with some settings changed; `tpu_config` may be one of them.

        Args:
          **kwargs: the settings of `estimator_bridge.RunConfig.replace`, and `tpu_config`.

        Returns:
          The copy.

        Raises:
          ValueError: a name is not a setting, or a value is not valid.
          TypeError: `tpu_config` is not a `TPUConfig`, or a setting must be a number but is not.
        """
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        _check_tpu_config(tpu_config)
        config = super().replace(**kwargs)
        assert isinstance(config, RunConfig)  # a copy of self
        config._tpu_config = tpu_config or TPUConfig()
        return config

    def _shown_values(self) -> dict[str, Any]:
        tpu_settings = {"tpu_config": self._tpu_config, "cluster": self._cluster}
        if self._tpu_config == TPUConfig():
            del tpu_settings["tpu_config"]
        settings = {
            **changed_from_defaults(RunConfig.__init__, tpu_settings),
            **super()._shown_values(),
        }
        if self._cluster is not None:  # the resolver determines these
            settings = {
                key: settings[key] for key in settings if key not in ("cluster_spec", "master")
            }
        if settings.get("evaluation_master") == self.master:
            del settings["evaluation_master"]
        return settings

    def _shared(self) -> list[Any]:
        # A resolver holds a connection to its TPU.
        return [*super()._shared(), self._cluster]

    def _trains_in_step(self) -> bool:
        # Processes on JAX need no chief: without one, the first worker is.
        names = [*self._names, os.environ.get(RUNTIME)]
        return super()._trains_in_step() or any(str(n).partition(":")[0] == "jax" for n in names)

    def _join(self, cluster: Any) -> str:
        """Adds the cluster's nodes to this config, and returns its master."""
        # Resolvers of TensorFlow 1 called it get_master.
        master: Any = getattr(cluster, "master", None) or getattr(cluster, "get_master", None)
        for name, method in (
            ("master", master),
            ("cluster_spec", getattr(cluster, "cluster_spec", None)),
        ):
            if not callable(method):
                raise TypeError(
                    f"cluster must be a TPU cluster resolver, but {cluster!r} has no {name}(). "
                    "Pass tpu.TPUClusterResolver(...), or an address as master=."
                )
        session_config = tf.compat.v1.ConfigProto()
        if self.session_config is None:
            session_config.allow_soft_placement = True
            session_config.isolate_session_state = True
        else:
            session_config.CopyFrom(self.session_config)
        if session_config.HasField("cluster_def"):
            raise ValueError(
                "You cannot provide a ClusterResolver and session_config.cluster_def. "
                "Leave one of them out."
            )
        # Emulated cores are in this process, where a session needs no cluster; a mock has any name.
        is_in_process = getattr(cluster, "in_process", False) is True
        spec = None if is_in_process else cluster.cluster_spec()
        if spec:
            session_config.cluster_def.CopyFrom(spec.as_cluster_def())
        self._settings["session_config"] = session_config
        if getattr(cluster, "kind", None) != "jax":  # TF_CONFIG's processes run it together
            self._cluster_place = dataclasses.replace(
                self._cluster_place, cluster_spec=spec or tf.train.ClusterSpec({})
            )
        return master()


def _check_tpu_config(tpu_config: Any) -> None:
    if tpu_config is not None and not isinstance(tpu_config, TPUConfig):
        raise TypeError(
            f"tpu_config must be a TPUConfig, such as tpu.TPUConfig(iterations_per_loop=100), got "
            f"{tpu_config!r}."
        )
