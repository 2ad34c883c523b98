"""Functions that are called with the values that their arguments name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from estimator_bridge.model.fn_args import describe_fn, fn_args

__all__ = ["NamedArguments"]


class NamedArguments:
    """A function that is called with the values that its arguments name.

    Args:
      role: the function's role, for errors.
      fn: the function.
      available_names: the allowed argument names.

    Attributes:
      names: the names that the function takes.

    Raises:
      TypeError: `fn` is not callable.
      ValueError: an argument has another name.
    """

    def __init__(self, role: str, fn: Callable[..., Any], available_names: Sequence[str]):
        if not callable(fn):
            raise TypeError(f"{role} must be a function, got {type(fn).__name__}: {fn!r}.")
        self.role = role
        self._fn = fn
        self.names = fn_args(fn)
        unknown_names = [name for name in self.names if name not in available_names]
        if unknown_names:
            raise ValueError(
                f"{role} is {describe_fn(fn)}, but there is nothing called "
                f"{' or '.join(map(repr, unknown_names))} to pass to it. It may take any of "
                f"{', '.join(available_names)}. To set another argument, use functools.partial(fn, "
                f"{unknown_names[0]}=...)."
            )

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Calls the function.

        Args:
          values: values by name, including all of `names`.

        Returns:
          What the function returns.
        """
        return self._fn(**{name: values[name] for name in self.names})
