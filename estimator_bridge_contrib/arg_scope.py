"""Default arguments for layers, set for a block of code: ``tf.contrib.framework.arg_scope``.

A scope is a dict: by a function's key, the default arguments of its calls. The innermost scope is
on top of a stack. tf_slim has its own stack of the same form; ``join`` merges the two, so that
layers of both kinds see each other's scopes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

__all__ = [
    "add_arg_scope",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
    "join",
]

Scope = dict[str, dict[str, Any]]
_Function = TypeVar("_Function", bound=Callable[..., Any])

_stack: list[Scope] = [{}]
_arguments: dict[str, tuple[str, ...]] = {}  # by key, the arguments that a scope can set
_twins: dict[str, str] = {}  # by key, the key of the same layer in the other library


def current_arg_scope() -> Scope:
    """Returns the innermost scope: by a function's key, its default arguments."""
    return _stack[-1]


def arg_scope_func_key(op: Any) -> str:
    """Returns the key of a function in scopes."""
    return getattr(op, "_key_op", str(op))


def has_arg_scope(func: Any) -> bool:
    """Returns whether a function was decorated with ``add_arg_scope``."""
    return arg_scope_func_key(func) in _arguments


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """Returns the arguments of a function that a scope can set: those with a default.

    Args:
      func: a function that was decorated with ``add_arg_scope``.

    Raises:
      ValueError: it was not decorated.
    """
    _check_decorated(func)
    return _arguments[arg_scope_func_key(func)]


def add_arg_scope(func: _Function) -> _Function:
    """Lets scopes set default arguments of a function.

    Args:
      func: the function.

    Returns:
      A function with the same signature. Arguments of a call override those of the scope.
    """
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def func_with_args(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

    _arguments[key] = _with_defaults(func)
    func_with_args._key_op = key  # type: ignore[attr-defined]
    return func_with_args  # type: ignore[return-value]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Sequence[Any] | Scope, **kwargs: Any) -> Iterator[Scope]:
    """Sets default arguments of functions for a block of code.

    Args:
      list_ops_or_scope: a list or tuple of functions that were decorated with ``add_arg_scope``;
        or a scope from an earlier ``with arg_scope(...) as scope``, to enter it again.
      **kwargs: the defaults. They add to those of enclosing scopes, and override them by name.

    Yields:
      The scope, for later use.

    Raises:
      TypeError: the first argument is neither.
      ValueError: a function is not decorated, or a scope is used again together with arguments.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by supplying a dictionary, kwargs must be "
                f"empty; got {', '.join(kwargs)}. Enter the scope, and set those in an arg_scope "
                "with a list of functions inside it."
            )
        scope = dict(list_ops_or_scope)
    else:
        scope = _extended(list_ops_or_scope, kwargs)
    _stack.append(scope)
    try:
        yield scope
    finally:
        _stack.pop()


def join(stack: list[Scope], arguments: dict[str, Any], twins: Mapping[str, str]) -> None:
    """Switches to another library's stack of scopes, so that both share one.

    Args:
      stack: its stack, with the scopes that are open there. Scopes open here move to it.
      arguments: its table of decorated functions' arguments, by key.
      twins: by key here, the key of the same layer there. A scope for one of them also applies
        to the other.
    """
    global _stack, _arguments  # noqa: PLW0603 - both libraries' functions look into one stack
    if stack is not _stack:
        stack.extend(_stack[1:])
        _stack = stack
    if arguments is not _arguments:
        arguments.update(_arguments)
        _arguments = arguments
    for here, there in twins.items():
        _twins[here] = there
        _twins[there] = here


def _extended(functions: Any, kwargs: dict[str, Any]) -> Scope:
    if not isinstance(functions, (list, tuple)):
        raise TypeError(
            "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict), got "
            f"{functions!r}. For one function write arg_scope([function], ...)."
        )
    scope = dict(current_arg_scope())
    for function in functions:
        _check_decorated(function)
        key = arg_scope_func_key(function)
        for each in (key, _twins.get(key, key)):
            scope[each] = {**scope.get(each, {}), **kwargs}
    return scope


def _check_decorated(function: Any) -> None:
    if not has_arg_scope(function):
        name = (getattr(function, "__module__", "?"), getattr(function, "__name__", str(function)))
        raise ValueError(
            f"{name} is not decorated with @add_arg_scope, so no arg_scope can set its arguments. "
            "Decorate its definition with tf.contrib.framework.add_arg_scope."
        )


def _with_defaults(func: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(func).parameters.values()
    return tuple(each.name for each in parameters if each.default is not each.empty)
