"""The saver of a chief whose variables are on servers."""

from __future__ import annotations

import time
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import save_whole, saved_prefix
from estimator_bridge.tensorflow_private.names import SessionInterface
from estimator_bridge.training.graph_files import GraphSaverHook

__all__ = ["ServerSaverHook"]


class ServerSaverHook(GraphSaverHook):
    """Saves as CheckpointSaverHook does; a checkpoint gets its name when all servers have written.

    Attributes:
      slowest_secs: the duration of its slowest save.
    """

    slowest_secs = 0.0

    def _save(self, session: Any, step: int) -> Any:
        start = time.monotonic()
        try:
            return super()._save(_SavingSession(session), step)
        finally:
            self.slowest_secs = max(self.slowest_secs, time.monotonic() - start)


class _SavingSession(SessionInterface):
    """A session in whose folder a checkpoint appears when it is complete.

    Args:
      session: the session that computes.
    """

    def __init__(self, session: Any):
        self._session = session

    @property
    def graph(self) -> tf.Graph:
        """The session's graph."""
        return self._session.graph

    @property
    def sess_str(self) -> Any:
        """The session's address."""
        return self._session.sess_str

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Computes fetches; a saver's call writes under another name first."""
        prefix = saved_prefix(self.graph, fetches, feed_dict)
        run = self._session.run
        if prefix is None:
            return run(fetches, feed_dict, options, run_metadata)
        return save_whole(
            prefix,
            lambda path: run(fetches, dict.fromkeys(feed_dict, path), options, run_metadata),
        )

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """See ``tf.compat.v1.Session``."""
        return self._session.partial_run_setup(fetches, feeds)

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """See ``tf.compat.v1.Session``."""
        return self._session.partial_run(handle, fetches, feed_dict)
