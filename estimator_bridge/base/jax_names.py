"""The names of JAX's devices: 'jax', 'jax:N' and 'jax:cpu:N'. Loads neither JAX nor TensorFlow."""

from __future__ import annotations

import dataclasses
import re

__all__ = ["JaxName", "parse_jax_name"]

_NAME = re.compile(r"jax(?::(?P<rest>.*))?")


@dataclasses.dataclass(frozen=True)
class JaxName:
    """The devices that a program asks for.

    Attributes:
      count: their number; None for all.
      on_cpu: whether they are CPU devices, for tests.
    """

    count: int | None
    on_cpu: bool = False

    def __str__(self) -> str:
        count = "" if self.count is None else f":{self.count}"
        return f"jax{':cpu' if self.on_cpu else ''}{count}"


def parse_jax_name(name: str | None) -> JaxName | None:
    """Returns the devices that 'jax', 'jax:N' or 'jax:cpu:N' names; None for any other name.

    Raises:
      ValueError: it begins like one and is none.
    """
    match = _NAME.fullmatch(name or "")
    if not match:
        return None
    if match["rest"] is None:
        return JaxName(None)
    parts = re.fullmatch(r"(cpu:)?([1-9]\d*)", match["rest"])
    if not parts:
        raise ValueError(
            f"{name!r} names no devices of JAX. Write 'jax' (all devices of its default platform), "
            "'jax:8' (eight of them) or 'jax:cpu:8' (eight CPU devices, for tests)."
        )
    return JaxName(int(parts[2]), bool(parts[1]))
