"""The options `--cluster` and `--workers` of `estimator-bridge run`."""

from __future__ import annotations

import argparse

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.local_cluster.roles import (
    Cluster,
    parse_cluster,
    parse_workers,
)

__all__ = ["add_cluster_arguments", "options_of_processes", "requested_cluster"]

_CONFLICTING_OPTIONS = ("cores", "compile_for")


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the two options."""
    parser.add_argument(
        "--cluster",
        metavar="ROLES",
        help="start the processes of a cluster on this machine, each running SCRIPT with its own "
        "TF_CONFIG: such as ps=1,worker=2,chief=1,evaluator=1; the exit status is the chief's",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        help="start N synchronous workers on this machine, for programs with "
        "MultiWorkerMirroredStrategy, or with --runtime jax...; worker 0 is the chief",
    )


def requested_cluster(arguments: argparse.Namespace) -> Cluster | None:
    """Returns the cluster that the options request; None if they request none.

    Raises:
      ValueError: an option is wrong, or another one contradicts it.
    """
    if arguments.cluster is None and arguments.workers is None:
        return None
    if arguments.cluster is not None and arguments.workers is not None:
        raise ValueError("--cluster and --workers both name the processes: give one of them")
    option = "--workers" if arguments.cluster is None else "--cluster"
    for name in _CONFLICTING_OPTIONS:
        if getattr(arguments, name):
            raise ValueError(
                f"--{name.replace('_', '-')} is for a program in one process, and {option} starts "
                "several: give one of them"
            )
    if arguments.cluster is None:
        return parse_workers(arguments.workers)
    return parse_cluster(arguments.cluster)


def options_of_processes(arguments: argparse.Namespace) -> list[str]:
    """Returns the options of the command that each process has too."""
    options = []
    if arguments.tpu:
        options.append(f"--tpu={arguments.tpu}")
    if arguments.runtime:
        options.append(f"--runtime={arguments.runtime}")
    if arguments.dialect is not None:
        options.append("--tf1" if arguments.dialect is Dialect.TF1 else "--tf2")
    if arguments.verbose:
        options.append("-v")
    if arguments.monitor is not None:
        options.append("--monitor" if arguments.monitor else "--no-monitor")
    if arguments.is_module:
        options.append("-m")
    return options
