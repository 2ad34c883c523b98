"""A TPU compiler's refusal, told by the user's lines and with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from estimator_bridge.compile_for.lowered import LoweredStep

__all__ = ["explain_refusal"]

_NAMES = (
    re.compile(r'op_name="([^"]+)"'),
    # Of a module whose operations were given their names as their places.
    re.compile(r"Suspected Python Code Location:\s+(\S+):1\b"),
)
_NOISE = re.compile(r"\s*Suspected Python Code Location:.*|, metadata=\{[^}]*\}|^JaxRuntimeError: ",
                    re.DOTALL)  # fmt: skip
_MENDS = (
    (r"operand type for FFT: (c128|f64)", "A TPU's FFT is of complex64, or of float32 for real "
     "numbers: cast before it, and back after it."),
    (r"X\{64\|128\}", "A TPU has 32 bits a number. It puts 64 together for many operations, but "
     "not for this one: cast to int32, or to float32, before it, and back after it."),
    (r"dynamic dimension", "Its shape depends on values. Give it one shape: use "
     "tf.where(condition, x, y), or multiply by the mask."),
)  # fmt: skip
_ELSEWHERE = "Compute it in input_fn, or in what eval_metrics or host_call run on the host."
_DISAGREE = (
    "TensorFlow's XLA for CPUs, which --check-tpu asks, takes this step; the TPU's compiler does "
    "not, and its word counts."
)


def explain_refusal(message: str, step: LoweredStep, line_of: Callable[[str], str | None]) -> str:
    """The compiler's message with the user's lines and a mend.

    Args:
      message: the compiler's.
      step: that was refused.
      line_of: the user's line of an operation by its name.
    """
    lines = [_NOISE.sub("", message).strip()]
    lines += [f"  {place}" for place in _places(message, step, line_of)]
    mends = [mend for pattern, mend in _MENDS if re.search(pattern, message)]
    lines += [f"    {mend}" for mend in mends or [_ELSEWHERE]]
    return "\n".join([*lines, _DISAGREE])


def _places(message: str, step: LoweredStep, line_of: Callable[[str], str | None]) -> Sequence[str]:
    for pattern in _NAMES:
        names = dict.fromkeys(pattern.findall(message))
        places = [_made_at(name, line_of(name)) for name in names]
        if places:
            return places
    if "dynamic dimension" in message:  # which is then without a name
        return [_made_at(found.op, found.line) for found in step.dynamic]
    return ["The compiler does not say which operation it is about."]


def _made_at(name: str, line: str | None) -> str:
    return f"{name}, made at {line}" if line else name
