"""Errors of JAX's devices, as the types that TensorFlow's devices raise, with what lay on them."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.runtime.on_jax.step import JaxStep
from estimator_bridge.runtime.on_jax.values import JaxValues

__all__ = ["explained_device_errors"]

_STATUS = re.compile(r"\s*([A-Z_]+): ")
_SHOWN = 3  # of the largest variables
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


@contextlib.contextmanager
def explained_device_errors(step: JaxStep) -> Iterator[None]:
    """Raises errors of JAX's devices again, as those of TensorFlow.

    Args:
      step: the step that runs.

    Raises:
      tf.errors.ResourceExhaustedError: a device is out of memory; it says what lay on it.
      tf.errors.OpError: of the type of the device's status, such as InternalError for a device
        that was lost; or another process was.
    """
    import jax

    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if step.strategy.processes is not None:
            step.strategy.processes.check_soon()  # it may be the end of another process
        status = _STATUS.match(str(error))
        code = getattr(tf.errors, status[1], None) if status else None
        if code == tf.errors.RESOURCE_EXHAUSTED:
            message = _out_of_memory(error, step)
        else:
            message = (
                f"A device of JAX failed in a step: {error}\nThe steps since the last checkpoint "
                "are lost. Start the program again, and it resumes from that checkpoint."
            )
        kind = tf.errors.UnknownError
        if isinstance(code, int):
            kind = tf.compat.v1.errors.exception_type_from_error_code(code)
        raise kind(None, None, message) from error


def _out_of_memory(error: Exception, step: JaxStep) -> str:
    devices = step.strategy.jax_devices
    values = step.session.resources.on_device
    sizes = values.sizes() if isinstance(values, JaxValues) else {}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:_SHOWN]
    listing = ", ".join(f"{name} {_in_units(sizes[name])}" for name in largest)
    batch = sum(math.prod(s.shape.as_list()) * s.dtype.size for s in step.run.used_specs)
    lines = [
        f"A device of JAX is out of memory ({devices[0].device_kind}, {len(devices)} in use): "
        f"{error}",
        f"On each device were {len(sizes)} variables of {_in_units(sum(sizes.values()))} in all "
        f"(the largest: {listing}), and batches of {_in_units(batch)} for up to "
        f"{step.steps_of_block} steps. The rest is what a step computes, which grows with the "
        "batch.",
    ]
    limit = _limit_of(devices)
    if limit:
        lines.append(f"The device has {_in_units(limit)} for programs.")
    lines.append(
        "Lower train_batch_size (or eval_batch_size), or compute in bfloat16. For a TPU, "
        "`--compile-for SLICE --compile-only --find-batch-size` finds the largest batch that fits. "
        "Nothing on disk is changed: training resumes from the last checkpoint."
    )
    return "\n".join(lines)


def _limit_of(devices: Sequence[Any]) -> int | None:
    """Returns the bytes that a device gives to programs; None if it does not say."""
    statistics = devices[0].memory_stats()
    return statistics.get("bytes_limit") if statistics else None


def _in_units(size: float) -> str:
    """Returns a number of bytes as people write it, such as '1.3 GB'."""
    power = min(int(math.log(max(size, 1), 1000)), len(_UNITS) - 1)
    return f"{size / 1000**power:.3g} {_UNITS[power]}"
