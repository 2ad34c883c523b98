"""Explains a TPU compiler's error with the user's lines and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from estimator_bridge.compile_for.lowered import STEP_IN_PROGRAM, LoweredStep

__all__ = ["explain_refusal"]

_NAMES = (
    re.compile(r'op_name="([^"]+)"'),
    # For a module with operation names as source locations.
    re.compile(r"Suspected Python Code Location:\s+(\S+):1\b"),
)
_NOISE = re.compile(r"\s*Suspected Python Code Location:.*|, metadata=\{[^}]*\}|^JaxRuntimeError: ",
                    re.DOTALL)  # fmt: skip
_MENDS = (
    (r"operand type for FFT: (c128|f64)", "A TPU's FFT is of complex64, or of float32 for real "
     "numbers: cast before it and back after it."),
    (r"X\{64\|128\}", "A TPU's numbers have 32 bits. It emulates 64 bits for many operations, but "
     "not for this one: cast to int32, or to float32, before it and back after it."),
    (r"dynamic dimension", "Its shape depends on values. Give it a fixed shape: use "
     "tf.where(condition, x, y), or multiply by the mask."),
)  # fmt: skip
_ELSEWHERE = "Compute it in input_fn, or on the host in the functions of eval_metrics or host_call."
_DISAGREE = (
    "TensorFlow's XLA for CPUs, which --check-tpu uses, accepts this step; the TPU's compiler does "
    "not, and its verdict counts."
)


def explain_refusal(message: str, step: LoweredStep, line_of: Callable[[str], str | None]) -> str:
    """Returns the compiler's message with the user's lines and how to fix it.

    Args:
      message: the compiler's message.
      step: the rejected step.
      line_of: maps an operation's name to the user's line.
    """
    lines = [_NOISE.sub("", message).strip()]
    lines += [f"  {place}" for place in _places(message, step, line_of)]
    mends = [mend for pattern, mend in _MENDS if re.search(pattern, message)]
    lines += [f"    {mend}" for mend in mends or [_ELSEWHERE]]
    return "\n".join([*lines, _DISAGREE])


def _places(message: str, step: LoweredStep, line_of: Callable[[str], str | None]) -> Sequence[str]:
    for pattern in _NAMES:
        names = dict.fromkeys(
            name.rpartition(f"/{STEP_IN_PROGRAM}/")[2] for name in pattern.findall(message)
        )
        places = [_made_at(name, line_of(name)) for name in names]
        if places:
            return places
    if "dynamic dimension" in message:  # the message then has no name
        return [_made_at(finding.op, finding.line) for finding in step.dynamic]
    return ["The compiler does not say which operation is at fault."]


def _made_at(name: str, line: str | None) -> str:
    return f"{name}, made at {line}" if line else name
