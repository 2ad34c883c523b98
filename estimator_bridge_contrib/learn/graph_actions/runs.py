"""Runs of a graph with feeds."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.framework.tensor_checks import get_graph_from_inputs
from estimator_bridge_contrib.learn.graph_actions.graph_parts import restore

__all__ = ["infer", "run_feeds", "run_feeds_iter", "run_n"]

_v1 = tf.compat.v1
# A queue's threads get this long to end.
_GRACE_S = 120


def run_feeds_iter(
    output_dict: Mapping[str, Any],
    feed_dicts: Iterable[Any],
    restore_checkpoint_path: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Runs tensors with several feeds, in a new session.

    Args:
      output_dict: the tensors by name.
      feed_dicts: the feeds; None for a run without.
      restore_checkpoint_path: the checkpoint; without one, variables are initialized.

    Yields:
      For each feed, the values by name.

    Raises:
      ValueError: there is no tensor or no feed.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}. Name at least one tensor.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}. Give [None] for one run.")
    graph = get_graph_from_inputs(list(output_dict.values()))
    with graph.as_default(), _v1.Session("") as session:
        session.run(_resources())
        if restore_checkpoint_path:
            restore(session, graph, restore_checkpoint_path)
        else:
            session.run(_v1.global_variables_initializer())
        session.run(_v1.local_variables_initializer())
        session.run(_v1.tables_initializer())
        coordinator = tf.train.Coordinator()
        threads = None
        try:
            threads = _v1.train.start_queue_runners(session, coord=coordinator)
            for feed in feed_dicts:
                yield session.run(output_dict, feed)
        finally:
            coordinator.request_stop()
            if threads:
                coordinator.join(threads, stop_grace_period_secs=_GRACE_S)


def run_feeds(*args: Any, **kwargs: Any) -> list[dict[str, Any]]:
    """Returns the values of `run_feeds_iter`, which has the arguments, as a list."""
    return list(run_feeds_iter(*args, **kwargs))


def run_n(
    output_dict: Mapping[str, Any],
    feed_dict: Any = None,
    restore_checkpoint_path: str | None = None,
    n: int = 1,
) -> list[dict[str, Any]]:
    """Runs tensors several times with one feed; see `run_feeds_iter`.

    Args:
      output_dict: the tensors by name.
      feed_dict: the feed.
      restore_checkpoint_path: the checkpoint.
      n: the number of runs.
    """
    feeds = itertools.repeat(feed_dict, n)
    return run_feeds(output_dict, feeds, restore_checkpoint_path=restore_checkpoint_path)


def infer(
    restore_checkpoint_path: str | None, output_dict: Mapping[str, Any], feed_dict: Any = None
) -> dict[str, Any]:
    """Runs tensors once; see `run_feeds_iter`.

    Args:
      restore_checkpoint_path: the checkpoint.
      output_dict: the tensors by name.
      feed_dict: the feed.
    """
    (values,) = run_feeds(output_dict, [feed_dict], restore_checkpoint_path)
    return values


def _resources() -> tf.Operation:
    """Returns the operation that makes the default graph's resources, such as tables of counts."""
    keys = (_v1.GraphKeys.RESOURCES, _v1.GraphKeys.LOCAL_RESOURCES)
    return tf.group(*(each.create for key in keys for each in _v1.get_collection(key)))
