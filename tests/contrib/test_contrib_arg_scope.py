"""tf.contrib.framework.arg_scope: default arguments of functions, for a block of code."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge_contrib import arg_scope as module
from estimator_bridge_contrib.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)


@add_arg_scope
def first(*args, a=1, b=2):
    return args, {"a": a, "b": b}


@add_arg_scope
def second(x, a=None, **others):
    return (x,), {"a": a, **others}


def test_a_scope_sets_defaults_and_a_call_wins():
    with arg_scope([first], a=10, b=20):
        assert first(0) == ((0,), {"a": 10, "b": 20})
        assert first(a=5) == ((), {"a": 5, "b": 20})
    assert first() == ((), {"a": 1, "b": 2})


def test_scopes_nest_by_argument_and_by_function():
    with arg_scope([first, second], a=3), arg_scope((second,), c=4):
        assert first() == ((), {"a": 3, "b": 2})
        assert second("x") == (("x",), {"a": 3, "c": 4})
        with arg_scope([first], a=9):
            assert first() == ((), {"a": 9, "b": 2})
            assert second("x")[1]["a"] == 3
        assert first() == ((), {"a": 3, "b": 2})


def test_a_scope_is_used_again_in_place_of_the_current_one():
    with arg_scope([first], b=7) as scope:
        assert current_arg_scope() is scope
    with arg_scope([first], a=100), arg_scope(scope):
        assert first() == ((), {"a": 1, "b": 7})


def test_a_function_returns_its_scope():
    def layers_scope(decay):
        with arg_scope([first], a=decay), arg_scope([second], a=2 * decay) as scope:
            return scope

    with arg_scope(layers_scope(4)):
        assert first()[1]["a"] == 4
        assert second(0)[1]["a"] == 8


def test_an_error_inside_leaves_the_scope():
    with pytest.raises(RuntimeError, match="inside"), arg_scope([first], a=5):
        raise RuntimeError("inside")
    assert first()[1]["a"] == 1


def test_what_a_decorated_function_tells():
    assert has_arg_scope(first)
    assert not has_arg_scope(print)
    assert arg_scoped_arguments(second) == ("a",)
    assert first.__name__ == "first"
    assert list(inspect.signature(second).parameters) == ["x", "a", "others"]


def test_methods_can_be_decorated():
    class Layer:
        @add_arg_scope
        def call(self, size=1):
            return size

    with arg_scope([Layer.call], size=3):
        assert Layer().call() == 3


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: arg_scope([print], a=1), ValueError, "is not decorated with @add_arg_scope"),
        (lambda: arg_scope(first, a=1), TypeError, r"must either be a list/tuple.*\[function\]"),
        (lambda: arg_scope({}, a=1), ValueError, "kwargs must be empty; got a"),
    ],
)
def test_wrong_arguments_are_refused_with_the_fix(call, error, words):
    before = current_arg_scope()
    with pytest.raises(error, match=words), call():
        pytest.fail("the scope was entered")
    assert current_arg_scope() is before
    with pytest.raises(ValueError, match="not decorated"):
        arg_scoped_arguments(print)


@given(st.lists(st.dictionaries(st.sampled_from("ab"), st.integers()), max_size=4))
def test_the_innermost_value_of_each_argument_counts(scopes):
    expected = {"a": 1, "b": 2}

    def enter(rest):
        assert first() == ((), expected)
        if rest:
            expected.update(rest[0])
            with arg_scope([first], **rest[0]):
                enter(rest[1:])

    enter(scopes)


def test_two_libraries_share_their_scopes(monkeypatch):
    # Another library with a stack of its own in the same form, as tf_slim has.
    stack, arguments = [{}], {"theirs": ("a",)}
    for name in ("_stack", "_arguments", "_twins"):
        monkeypatch.setattr(module, name, type(getattr(module, name))(getattr(module, name)))

    def theirs(**kwargs):
        return {**stack[-1].get("theirs", {}), **kwargs}

    theirs._key_op = "theirs"
    with arg_scope([first], a=1):
        module.join(stack, arguments, {first._key_op: "theirs"})
        with arg_scope([first], a=6):
            assert theirs() == {"a": 6}
        with arg_scope([theirs], a=8):
            assert theirs() == {"a": 8}
            assert first()[1]["a"] == 8
    assert len(stack) == 1
    assert has_arg_scope(theirs)
    assert has_arg_scope(first)
