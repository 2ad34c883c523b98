"""Functions that name what they want."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from estimator_bridge.model.fn_args import describe_fn, fn_args

__all__ = ["ByName"]


class ByName:
    """A function that is called with those of many values that its arguments name.

    Args:
      role: what it is for, as errors name it.
      fn: the function.
      offered: the names that its arguments may have.

    Attributes:
      names: those of `offered` that the function takes.

    Raises:
      TypeError: it is not callable.
      ValueError: an argument has another name.
    """

    def __init__(self, role: str, fn: Callable[..., Any], offered: Sequence[str]):
        if not callable(fn):
            raise TypeError(f"{role} must be a function, got {type(fn).__name__}: {fn!r}.")
        self.role = role
        self._fn = fn
        self.names = fn_args(fn)
        unknown = [name for name in self.names if name not in offered]
        if unknown:
            raise ValueError(
                f"{role} is {describe_fn(fn)}, but there is nothing called "
                f"{' or '.join(map(repr, unknown))} to pass to it. It may take any of "
                f"{', '.join(offered)}. To set another argument, use functools.partial(fn, "
                f"{unknown[0]}=...)."
            )

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Calls the function.

        Args:
          values: by name, at least those in `names`.

        Returns:
          What the function returns.
        """
        return self._fn(**{name: values[name] for name in self.names})
