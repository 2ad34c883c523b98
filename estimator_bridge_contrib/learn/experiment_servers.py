"""The servers of an Experiment's processes in a cluster with parameter servers."""

from __future__ import annotations

from typing import Any, NoReturn

from estimator_bridge.tensorflow_private.names import tf_logging
from estimator_bridge.training.parameter_servers import (
    announce_end_at_exit,
    has_servers,
    job_goes_on,
    serve,
    start_server,
)
from estimator_bridge_contrib.learn.configuration import RunConfig
from estimator_bridge_contrib.learn.keys import TaskType

__all__ = ["begin_training", "end_training", "serve_until_end"]

_LOCAL, _GOOGLE = "local", "google"


def begin_training(config: Any) -> None:
    """Starts the server of a process that is about to train, where the original started one.

    Args:
      config: of the experiment's estimator.

    Raises:
      ValueError: the config has a cluster and is none of tf.contrib.learn.
      WorkerError: another process holds the port, or TensorFlow cannot start the server.
    """
    if not config.cluster_spec or not config.master:
        return
    if not isinstance(config, RunConfig):
        raise ValueError(
            "For distributed runtime, Experiment class only works with tf.contrib.learn.RunConfig "
            f"for now, but provided {type(config)}. Make the estimator with "
            "config=tf.contrib.learn.RunConfig(...), or call tf.estimator.train_and_evaluate."
        )
    if config.environment == _LOCAL:
        tf_logging.warning(
            "ClusterSpec and master are provided, but environment is set to 'local'. Set "
            "environment to 'cloud' if you intend to use the distributed runtime."
        )
    if not has_servers(config):
        return
    job_goes_on(config)
    if config.environment not in (_LOCAL, _GOOGLE):
        start_server(config)


def end_training(config: Any) -> None:
    """Tells the parameter servers, when this process exits, that it has trained to its end.

    Args:
      config: of the experiment's estimator.
    """
    if has_servers(config) and config.master:
        announce_end_at_exit(config)


def serve_until_end(config: Any) -> NoReturn:
    """Serves variables until the job has ended, and then ends this process.

    Args:
      config: a parameter server's.

    Raises:
      ValueError: the config lacks what a server needs.
      NotImplementedError: the process is no parameter server.
      SystemExit: the job has ended, with code 0.
      WorkerError: nobody trains, or another process holds the port.
    """
    if (
        not config.cluster_spec
        or not config.task_type
        or not config.master
        or config.task_id is None
    ):
        raise ValueError(
            "Could not start server; be sure to specify cluster_spec, task_type, master, and task "
            "in RunConfig or set the TF_CONFIG environment variable."
        )
    if config.task_type != TaskType.PS:
        raise NotImplementedError(
            f"run_std_server serves variables until the job ends, and this process is "
            f"{config.task_type} {config.task_id}, which holds none. Leave schedule out of "
            "learn_runner.run, which chooses by the task, or start a tf.distribute.Server and "
            "call its join()."
        )
    serve(config)
    raise SystemExit(0)
