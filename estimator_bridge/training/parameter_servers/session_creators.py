"""Sessions on a cluster, made anew when a server was lost; each wait for a server has an end."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import check_checkpoint, restored_variables
from estimator_bridge.errors import WorkerError
from estimator_bridge.model import RunConfig
from estimator_bridge.runtime.addresses import problems_at
from estimator_bridge.runtime.cluster import wait_for_servers
from estimator_bridge.training.initialize import first_restorable, recover_last_checkpoints
from estimator_bridge.training.parameter_servers.session_config import cluster_session_config

__all__ = ["ChiefCreator", "WorkerCreator"]

_v1 = tf.compat.v1
_SessionCreator: Any = _v1.train.SessionCreator
_LOST = (tf.errors.AbortedError, tf.errors.UnavailableError)
_PAUSE = 1.0  # seconds between two attempts
_LOOK_SECS = 5  # between a worker's looks for first values: by default 30, longer than many jobs


class _Creator(_SessionCreator):
    """Makes sessions that see the servers, and the processes that the device filters name.

    Args:
      scaffold: the model's.
      config: the RunConfig of the estimator.
    """

    def __init__(self, scaffold: tf.compat.v1.train.Scaffold, config: RunConfig):
        self._scaffold, self._config = scaffold, config
        self._place = f"{config.task_type} {config.task_id}"
        self._session_config = cluster_session_config(config)
        self._addresses = _seen_addresses(config, self._session_config.device_filters)

    def create_session(self) -> tf.compat.v1.Session:
        """Returns a session whose variables have values.

        Raises:
          WorkerError: a server does not answer, or sessions fail, for
            ``session_creation_timeout_secs``; or this process has no server.
        """
        self._scaffold.finalize()
        limit = seconds_left = self._config.session_creation_timeout_secs
        end = time.monotonic() + limit
        while True:
            wait_for_servers(self._addresses, seconds_left, self._place)
            self._check_own_server()
            try:
                return self._create(max(0.0, end - time.monotonic()))
            except _LOST as error:
                seconds_left = round(end - time.monotonic(), 1)
                if seconds_left <= 0:
                    raise WorkerError(
                        f"{self._place} could not make a session on the servers "
                        f"{', '.join(self._addresses)} for {limit:g} s "
                        f"(RunConfig.session_creation_timeout_secs): {error.message}"
                    ) from error
                logging.info("A server was lost while a session was made: %s", error.message)
                time.sleep(_PAUSE)

    def _check_own_server(self) -> None:
        """Checks what the session asks first: TensorFlow would wait for it without end."""
        address = self._config.master.rpartition("//")[2]
        for problem in problems_at([address]).values() if address else ():
            raise WorkerError(
                f"{self._place} has no server: none answers at {address}, its address in TF_CONFIG "
                f"({problem}). Call train_and_evaluate, which starts one, or start a "
                "tf.distribute.Server before train(). tf.contrib.learn's Experiment starts one if "
                'TF_CONFIG has "environment": "cloud".'
            )

    def _manager(self) -> Any:
        scaffold = self._scaffold
        return _v1.train.SessionManager(
            local_init_op=scaffold.local_init_op,
            local_init_feed_dict=scaffold.local_init_feed_dict,
            ready_op=scaffold.ready_op,
            ready_for_local_init_op=scaffold.ready_for_local_init_op,
            graph=_v1.get_default_graph(),
            recovery_wait_secs=_LOOK_SECS,
        )

    @abc.abstractmethod
    def _create(self, secs: float) -> Any:
        """Returns a session.

        Args:
          secs: the longest wait for the chief.
        """


class ChiefCreator(_Creator):
    """Makes the chief's sessions: variables are restored, or initialized.

    Args:
      scaffold: the model's.
      config: the RunConfig of the estimator.
      latest: returns the checkpoint to restore, or None.
      fallback_checkpoint: see ``initialize_session``.
    """

    def __init__(
        self,
        scaffold: tf.compat.v1.train.Scaffold,
        config: RunConfig,
        latest: Callable[[], str | None],
        fallback_checkpoint: Callable[[str], str | None],
    ):
        super().__init__(scaffold, config)
        self._latest, self._fallback_checkpoint = latest, fallback_checkpoint

    def _create(self, secs: float) -> Any:
        path, saver = self._latest(), self._scaffold.saver
        if path:
            names = restored_variables(_v1.get_default_graph(), saver.saver_def)
            path = first_restorable(
                path, lambda each: check_checkpoint(each, names), self._fallback_checkpoint
            )
        session = self._manager().prepare_session(
            self._config.master,
            init_op=self._scaffold.init_op,
            saver=saver,
            config=self._session_config,
            checkpoint_filename_with_path=path,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )
        if path:
            recover_last_checkpoints(saver, path)
        return session


class WorkerCreator(_Creator):
    """Makes a worker's sessions, once the chief has given the variables values."""

    def _create(self, secs: float) -> Any:
        try:
            return self._manager().wait_for_session(
                self._config.master, self._session_config, max(1, int(secs))
            )
        except tf.errors.DeadlineExceededError as error:
            raise WorkerError(
                f"{self._place} waited {self._config.session_creation_timeout_secs:g} s "
                "(RunConfig.session_creation_timeout_secs) for the chief, which gives the "
                "variables their first values. Start the chief with the same 'cluster' in its "
                f"TF_CONFIG. {error.message}"
            ) from error


def _seen_addresses(config: RunConfig, device_filters: Iterable[str]) -> list[str]:
    """Returns the addresses of the processes that a session of this process connects to."""
    filters = [tf.DeviceSpec.from_string(f) for f in device_filters]
    own = (config.task_type, config.task_id)
    spec = config.cluster_spec
    return [
        spec.task_address(job, task)
        for job in spec.jobs
        for task in spec.task_indices(job)
        if (job, task) != own and (not filters or any(_fits(f, job, task) for f in filters))
    ]


def _fits(device: tf.DeviceSpec, job: str, task: int) -> bool:
    return device.job in (None, job) and device.task in (None, task)
