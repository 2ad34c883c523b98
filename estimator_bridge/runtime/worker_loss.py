"""Tells errors of a lost worker from errors of the program.

A worker is lost if its process died, was started again, or was stopped for longer than TensorFlow's
heartbeats allow. Which error its peers get depends on who notices first: the coordination service,
a collective that runs, or the network.
"""

from __future__ import annotations

import re

import tensorflow as tf

__all__ = ["is_loss", "is_slow_peer"]

# Types of errors that the network, a collective or the coordination service ends with.
_TYPES = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.InternalError,
    tf.errors.UnavailableError,
    tf.errors.UnknownError,
)
_MARKS = re.compile(
    r"[Cc]ollective"  # "Collective ops is aborted by:", names of nodes and of resolvers
    r"|[Cc]oordination"  # "Failed to send RPC to coordination service", "the coordination leader"
    r"|[Hh]eartbeat"  # "heartbeat timeout. This indicates that the remote task has failed"
    r"|RecvBuf|WorkerService|remote target /job:"  # gRPC calls between workers
)
# A process with this address, but not the one that this process has met.
_INCARNATION_TYPES = (*_TYPES, tf.errors.FailedPreconditionError, tf.errors.InvalidArgumentError)
_INCARNATION = re.compile(
    r"different (?:device )?incarnation"  # RecvBuf, RecvTensor, a connect of a restarted task
    r"|incarnation (?:ID mismatch|doesn't match|id -?\d+ (?:is stale|is not connected))",
    re.IGNORECASE,
)
_UNREGISTERED = re.compile(r"must be registered before sending heartbeat")
_SLOW = re.compile(r"Collective has timed out (?:waiting for other workers|during execution)")


def is_loss(error: BaseException) -> bool:
    """Returns whether an error says that the collectives of this process no longer work."""
    text = str(error)
    if isinstance(error, _INCARNATION_TYPES) and (
        _INCARNATION.search(text) or _UNREGISTERED.search(text)
    ):
        return True
    return isinstance(error, _TYPES) and _MARKS.search(text) is not None


def is_slow_peer(error: BaseException) -> bool:
    """Returns whether a collective's own deadline passed: the others live, and did not come."""
    return isinstance(error, tf.errors.DeadlineExceededError) and bool(_SLOW.search(str(error)))
