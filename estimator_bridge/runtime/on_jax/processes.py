"""The processes that run steps together on JAX: how they meet, agree, and notice a loss."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.base.tpu_presence import is_one_of_several_hosts
from estimator_bridge.errors import TooLateError, WorkerError
from estimator_bridge.runtime.deadlines import connect_secs, interruptible_wait
from estimator_bridge.runtime.on_jax.draws import DRAWS_VARIABLE, device_draws
from estimator_bridge.runtime.on_jax.front import Front
from estimator_bridge.runtime.on_jax.peers import Peers
from estimator_bridge.runtime.on_jax.place import Place, place_in_cluster
from estimator_bridge.runtime.on_jax.relay import Relay
from estimator_bridge.runtime.on_jax.wires import start_thread

__all__ = ["JaxProcesses", "meet"]

_NEVER = 1_000_000_000  # seconds: the connections say who is lost, and JAX would end the process
_SHUTDOWN_SECS = 5
_LOOK_SECS = 1.0  # the longest time before a wait notices a loss
_KNOWN_SECS = 3.0  # from a loss to the end of the connection
_EXIT_SECS = 5.0  # for the end of a process whose devices still wait for a lost one
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0001, 0.02  # seconds between two looks at a result
_KEYS = "estimator_bridge"

_met: list[JaxProcesses | None] = []  # what `meet` returned: JAX starts once


class JaxProcesses:
    """All processes that run steps together, as one of them sees them.

    All of them have to call ``exchange`` in the same order.

    Args:
      place: this process's place.
      peers: what is known of the others.
      link: the connections to them; None if JAX alone has some.

    Attributes:
      place: as given.
      peers: as given.
    """

    def __init__(self, place: Place, peers: Peers, link: Front | Relay | None):
        self.place, self.peers, self._link = place, peers, link
        self._client = _state().client
        self._round = 0

    def exchange(self, text: str, timeout_secs: float = 0.0) -> list[str]:
        """Returns the texts of all processes, in their order.

        Args:
          text: this process's.
          timeout_secs: the longest wait for the others; 0: as long as they live.

        Raises:
          tf.errors.OpError: another process ended, failed or did not come in time.
        """
        number, self._round = self._round, self._round + 1
        own, count = self.place.index, len(self.place.addresses)
        self.check()
        self._send(number, text)
        end = time.monotonic() + timeout_secs if timeout_secs else None
        return [
            text if i == own else self._text(f"{_KEYS}/{number}/{i}", i, end) for i in range(count)
        ]

    def wait(self, results: Sequence[Any]) -> None:
        """Waits until JAX's devices have computed results that need all processes.

        Raises:
          tf.errors.OpError: another process ended or failed, so that they never will.
        """
        pause = _FIRST_PAUSE
        for result in results:
            while not result.is_ready():
                self.check()
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def check(self) -> None:
        """Checks that all processes run.

        Raises:
          tf.errors.UnavailableError: another process ended or is out of reach.
          tf.errors.InternalError: another process's program failed.
        """
        if self.peers.failure is not None:
            raise tf.errors.InternalError(
                None, None, f"The coordination of the processes ended. {self.peers.failure}"
            )
        addresses = ", ".join(self.peers.lost_addresses)
        if addresses:
            raise tf.errors.UnavailableError(
                None, None, f"The coordination of the processes ended: lost {addresses}."
            )

    def check_soon(self) -> None:
        """Checks that all processes run, once it is known if they do not.

        The devices may notice a loss before the connections do.

        Raises:
          tf.errors.OpError: see ``check``.
        """
        end = time.monotonic() + _KNOWN_SECS
        while self.peers.is_whole and time.monotonic() < end:
            time.sleep(_LONGEST_PAUSE)
        self.check()

    def tell_failure(self, text: str) -> None:
        """Tells the others, who wait for this process, that its program failed."""
        if self._link is not None:
            self._link.tell({"failed": text})

    def _send(self, number: int, text: str) -> None:
        """Gives a text to the others, in a thread: JAX sets no deadline if the chief has gone."""
        end, errors, own = threading.Event(), [], self.place.index

        def send() -> None:
            try:
                self._client.key_value_set(f"{_KEYS}/{number}/{own}", text)
            except RuntimeError as error:
                errors.append(error)
            finally:
                end.set()
            if number > 1:  # all have read it: they have sent what they send after it
                with contextlib.suppress(RuntimeError):  # it takes memory, and nobody reads it
                    self._client.key_value_delete(f"{_KEYS}/{number - 2}/{own}")

        start_thread(send)
        while not end.wait(_LOOK_SECS):
            self.check()
        if errors:
            self.check()
            raise tf.errors.UnavailableError(
                None, None, f"The coordination service of JAX failed: {errors[0]}"
            )

    def _text(self, key: str, index: int, end: float | None) -> str:
        from jax.errors import JaxRuntimeError

        while True:
            left = _LOOK_SECS if end is None else min(_LOOK_SECS, end - time.monotonic())
            if left <= 0:
                raise tf.errors.DeadlineExceededError(
                    None,
                    None,
                    f"Collective has timed out waiting for other workers: {self.place.name} has "
                    f"heard nothing from {self.place.name_of(index)}.",
                )
            try:
                return self._client.blocking_key_value_get(key, max(1, int(1000 * left)))
            except JaxRuntimeError as error:
                text = str(error)
            self.check()
            if "DEADLINE_EXCEEDED" not in text:
                raise tf.errors.UnavailableError(
                    None, None, f"The coordination service of JAX failed: {text}"
                )


def meet(jax: Any, devices: str, on_cpu: bool) -> JaxProcesses | None:
    """Starts JAX for all processes of the job, and waits for them.

    Args:
      jax: the module.
      devices: the devices that the program names.
      on_cpu: whether they are CPU devices.

    Returns:
      None if this is the only process.

    Raises:
      ValueError: TF_CONFIG is wrong.
      WorkerError: the others did not come in time, or have another cluster or other devices.
      TooLateError: JAX has already started.
    """
    if not _met:
        # Processes with other generators would compile other programs, and wait for each other.
        own = f"{devices} ({DRAWS_VARIABLE}=device)" if device_draws() else devices
        place = place_in_cluster(own)
        if place is not None:
            _met.append(_meet_by_tf_config(jax, place))
        elif not on_cpu and is_one_of_several_hosts(os.environ):
            _met.append(_meet_by_environment(jax, devices))
        else:
            _met.append(None)
    return _met[0]


def _meet_by_tf_config(jax: Any, place: Place) -> JaxProcesses:
    # Without the first, JAX's coordinator ends all processes with one; the second takes SIGTERM.
    jax.config.update("jax_enable_recoverability", True)
    jax.config.update("jax_enable_preemption_service", False)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    peers, secs = Peers(), connect_secs()
    link: Front | Relay
    if place.index == 0:
        link, port = Front(place, peers), _free_port()
        with interruptible_wait("the other processes of TF_CONFIG"):
            link.wait_for_all(secs)
        link.start(port)
    else:
        link = Relay(place, peers)
        with interruptible_wait(f"the chief, {place.name_of(0)}"):
            link.join(secs)
        port = link.port
    # It runs before JAX's own, which was registered earlier.
    atexit.register(lambda: _leave(peers, link))
    _start(
        lambda: jax.distributed.initialize(
            f"127.0.0.1:{port}",
            len(place.addresses),
            place.index,
            cluster_detection_method="deactivate",
            initialization_timeout=max(1, int(secs)),
            heartbeat_timeout_seconds=_NEVER,
            shutdown_timeout_seconds=_SHUTDOWN_SECS,
            coordinator_bind_address=f"127.0.0.1:{port}",
        ),
        place.devices,
        peers,
    )
    return JaxProcesses(place, peers, link)


def _start(initialize: Callable[[], None], devices: str, peers: Peers) -> None:
    """Starts JAX in a thread, as nothing interrupts its wait for a process that has gone."""
    end, errors = threading.Event(), []

    def start() -> None:
        try:
            initialize()
        except Exception as error:
            errors.append(error)
        finally:
            end.set()

    start_thread(start)
    with interruptible_wait("the other processes on JAX"):
        while not end.wait(_LOOK_SECS):
            if not peers.is_whole:
                raise WorkerError(
                    f"{', '.join(peers.lost_addresses)} ended while JAX started on {devices!r}. "
                    "Start all processes of TF_CONFIG's cluster again."
                )
    if errors:
        raise _not_started(devices, errors[0]) from errors[0]


def _meet_by_environment(jax: Any, devices: str) -> JaxProcesses:
    """Starts JAX on a TPU of several hosts, each of which runs this program."""
    jax.config.update("jax_enable_preemption_service", False)
    peers, secs = Peers(), int(connect_secs())
    _start(lambda: jax.distributed.initialize(initialization_timeout=secs), devices, peers)
    names = tuple(f"host {i} of the TPU" for i in range(jax.process_count()))
    return JaxProcesses(Place(names, jax.process_index(), devices), peers, None)


def _leave(peers: Peers, link: Front | Relay) -> None:
    """Prepares the end of this process, whatever the others do."""
    if not peers.is_whole:
        # JAX would wait for its devices, and they for the lost process.
        timer = threading.Timer(_EXIT_SECS, _end_now)
        timer.daemon = True
        timer.start()
    if isinstance(link, Front):
        link.close()  # before JAX's coordinator ends, which would end the others' processes
    else:
        # JAX would say goodbye to a coordinator that may have gone, and wait for its answer.
        state = _state()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(state.client))
        state.client = None
        link.leave()


def _not_started(devices: str, error: Exception) -> Exception:
    if "must be called before" in str(error) or "only be called once" in str(error):
        return TooLateError(
            f"The processes that run steps on {devices!r} have to meet before the first JAX "
            f"operation runs, and some has run: {error} Make the TPUEstimator first."
        )
    return WorkerError(
        f"{devices!r}: JAX cannot start for all processes within {connect_secs():g} s "
        f"(ESTIMATOR_BRIDGE_CONNECT_SECS): {error} Perhaps one of them ended meanwhile: start all "
        "of them again."
    )


def _state() -> Any:
    """Returns what JAX knows of its processes.

    The client, with the values that processes give each other, has no public name.
    """
    from jax._src import distributed

    return distributed.global_state


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _end_now() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
