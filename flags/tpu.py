"""The flags that select an accelerator, and their meaning on this machine."""

from __future__ import annotations

import dataclasses
import re
from typing import Callable

from absl import flags as absl_flags

__all__ = [
    "EMULATED_CORES",
    "Accelerator",
    "choose_accelerator",
    "compiled_replicas",
    "define_tpu_flags",
    "local_devices",
]

# A v2-8 or v3-8 host, which most TPU programs were written for, has this many cores.
EMULATED_CORES = 8
# Each emulated core is a TensorFlow device, which takes time to start.
_MOST_DEVICES = {"emulated": 1024, "gpu": 64}

# The flags belong to the program that calls define_..., so that its --help lists them.
absl_flags.disclaim_key_flags()


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """The accelerator that the flags select on this machine.

    Attributes:
        use_tpu: whether the program runs in TPU mode (on a TPU or on emulated cores).
        tpu: the name for `TPUClusterResolver`: a TPU's name, `"emulated:N"`, or None for the TPU
            that the machine or its environment names.
        num_replicas: the number of replicas, or None if only the TPU knows it.
        notice: one line for the user if the program made the choice, else None.
    """

    use_tpu: bool
    tpu: str | None
    num_replicas: int | None
    notice: str | None = None


def define_tpu_flags(
    flag_values: absl_flags.FlagValues = absl_flags.FLAGS,
    *,
    use_tpu: bool = True,
    iterations_per_loop: int = 100,
) -> None:
    """Defines use_tpu, tpu, its location, num_shards, iterations_per_loop, and compile_for.

    Args:
        flag_values: where to define them.
        use_tpu: the default of `--use_tpu`.
        iterations_per_loop: the default of `--iterations_per_loop`.
    """
    absl_flags.DEFINE_bool(
        "use_tpu",
        use_tpu,
        "Run in TPU mode (TPUEstimatorSpec, TPUStrategy or emulated cores); --nouse_tpu runs the "
        "same model as a plain Estimator.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "tpu",
        "auto",
        "The TPU to use: its name or grpc:// address (never replaced by anything else), 'local' "
        "for the chips of this machine, 'emulated:N' for N emulated CPU cores, 'gpu:N' for N GPUs "
        "of this machine, 'jax' for JAX's devices (TPU7x has no other runtime), "
        f"or 'auto': an attached TPU, else {EMULATED_CORES} emulated CPU cores.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "tpu_zone", None, "The Google Cloud zone of the TPU.", flag_values=flag_values
    )
    absl_flags.DEFINE_string(
        "gcp_project", None, "The Google Cloud project of the TPU.", flag_values=flag_values
    )
    absl_flags.DEFINE_string(
        "compile_for",
        None,
        "A TPU slice, such as v5e-8: run on as many emulated cores, and have the TPU's own "
        "compiler compile each step first (needs no TPU; install estimator-bridge[tpu-compile]).",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_bool(
        "compile_only",
        False,
        "With --compile_for: run no step and write no checkpoint; the program ends where it asks "
        "for a result of a step.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "compile_report",
        None,
        "With --compile_for: a file for the compiler's results: NAME.json, or NAME.html for a page "
        "to look at.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_bool(
        "find_batch_size",
        False,
        "With --compile_only: look for the largest global batch of each mode whose step fits the "
        "TPU's memory.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_integer(
        "num_shards",
        None,
        "The number of replicas that the program expects. By default, as many as there are.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_integer(
        "iterations_per_loop",
        iterations_per_loop,
        "Training steps in one call of the compiled loop, between host callbacks.",
        flag_values=flag_values,
    )


def local_devices(tpu: str) -> int | None:
    """Parses the number of devices in a `--tpu=emulated:N` or `--tpu=gpu:N` value.

    Args:
        tpu: the value of `--tpu`.

    Returns:
        N, or None for other values.

    Raises:
        ValueError: the value has this form, but N is missing, not a number, 0 or too large.
    """
    kind, colon, count = tpu.partition(":")
    if kind not in _MOST_DEVICES or (kind == "gpu" and not colon):  # a TPU named gpu
        return None
    limit = _MOST_DEVICES[kind]
    if re.fullmatch(r"[1-9][0-9]{0,5}", count) and int(count) <= limit:
        return int(count)
    example = EMULATED_CORES if kind == "emulated" else 2
    raise ValueError(f"want {kind}:N with N from 1 to {limit}, as in {kind}:{example}")


def compiled_replicas(compile_for: str) -> int:
    """Returns the number of replicas of a `--compile_for` value.

    Raises:
        ValueError: there is no such slice.
    """
    from estimator_bridge.compile_for import find_slice

    return find_slice(compile_for).replicas


def choose_accelerator(
    flag_values: absl_flags.FlagValues, tpu_present: Callable[[], bool]
) -> Accelerator:
    """Chooses the accelerator from the flags.

    A named TPU is never replaced; the resolver finds out whether it exists.

    Args:
        flag_values: parsed and checked flags.
        tpu_present: returns whether this machine has a TPU or its environment names one; called
            only if the flags leave the choice open.

    Returns:
        The choice.
    """
    if not flag_values.use_tpu:
        return Accelerator(use_tpu=False, tpu=None, num_replicas=1)
    if flag_values.compile_for:
        cores = compiled_replicas(flag_values.compile_for)
        return Accelerator(use_tpu=True, tpu=f"emulated:{cores}", num_replicas=cores)
    if flag_values.tpu in ("auto", ""):
        if tpu_present():
            return Accelerator(use_tpu=True, tpu=None, num_replicas=flag_values.num_shards)
        cores = flag_values.num_shards or EMULATED_CORES
        return Accelerator(
            use_tpu=True,
            tpu=f"emulated:{cores}",
            num_replicas=cores,
            notice=f"No TPU found (--tpu=auto): running on {cores} emulated CPU cores.",
        )
    cores = local_devices(flag_values.tpu) or flag_values.num_shards
    return Accelerator(use_tpu=True, tpu=flag_values.tpu, num_replicas=cores)
