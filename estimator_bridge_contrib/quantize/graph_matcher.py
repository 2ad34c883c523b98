"""Patterns of operations, and their search in a graph."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["GraphMatcher", "MatchResult", "OneofPattern", "OpTypePattern", "Pattern"]

_MOST_INPUTS = 8  # their permutations are tried


class Pattern(abc.ABC):
    """A pattern of an operation and of those that it takes its inputs from."""

    @abc.abstractmethod
    def match(self, op: tf.Operation, tensor: tf.Tensor | None) -> MatchResult | None:
        """Compares an operation with the pattern.

        Args:
          op: the operation.
          tensor: the output of it that the pattern's user takes; None for the outermost pattern.

        Returns:
          What matched, or None.
        """


class OpTypePattern(Pattern):
    """Matches operations of some types, with inputs that match patterns.

    Args:
      op_type: an operation's type, several separated by "|", or "*" for all.
      name: a name for ``MatchResult``.
      inputs: a pattern, or its ``op_type``, for each of the inputs; None or empty for any inputs.
      ordered_inputs: whether the inputs have the patterns' order; otherwise any order matches.

    Raises:
      ValueError: there are more than eight inputs.
    """

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Pattern | str] | None = None,
        ordered_inputs: bool = True,
    ):
        inputs = inputs or []
        if len(inputs) > _MOST_INPUTS:
            raise ValueError(
                f"Only < 8 inputs are allowed when ordered_inputs is False; got {len(inputs)}."
            )
        self._types = None if op_type == "*" else frozenset(op_type.split("|"))
        self._name = name
        self._inputs = [
            each if isinstance(each, Pattern) else OpTypePattern(each) for each in inputs
        ]
        self._ordered = ordered_inputs

    @property
    def name(self) -> str | None:
        """The name for ``MatchResult``."""
        return self._name

    def match(self, op: tf.Operation, tensor: tf.Tensor | None) -> MatchResult | None:
        """Compares an operation with the pattern; see ``Pattern.match``."""
        if self._types is not None and op.type not in self._types:
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        orders = [self._inputs] if self._ordered else itertools.permutations(self._inputs)
        for order in orders:
            matches = _match_all(order, op.inputs if order else ())
            if matches is not None:
                result = MatchResult()
                result.add(self, op, tensor)
                for each in matches:
                    result.merge_from(each)
                return result
        return None


def _match_all(
    patterns: Iterable[Pattern], tensors: Iterable[tf.Tensor]
) -> list[MatchResult] | None:
    matches = []
    for pattern, tensor in zip(patterns, tensors):
        result = pattern.match(tensor.op, tensor)
        if result is None:
            return None
        matches.append(result)
    return matches


class OneofPattern(Pattern):
    """Matches what the first of several patterns matches that matches at all.

    Args:
      sub_patterns: the patterns.
    """

    def __init__(self, sub_patterns: Iterable[Pattern]):
        self._alternatives = list(sub_patterns)

    def match(self, op: tf.Operation, tensor: tf.Tensor | None) -> MatchResult | None:
        """Compares an operation with the patterns; see ``Pattern.match``."""
        results = (each.match(op, tensor) for each in self._alternatives)
        return next((each for each in results if each is not None), None)


class MatchResult:
    """The operations and tensors of a match, by pattern or by a pattern's name.

    A pattern's tensor is the output of its operation that the operation of the pattern around it
    takes.
    """

    def __init__(self) -> None:
        self._matches: dict[Pattern, tuple[tf.Operation, tf.Tensor | None]] = {}
        self._named: dict[str, Pattern] = {}

    def add(self, pattern: Any, op: tf.Operation, tensor: tf.Tensor | None) -> None:
        """Adds what a pattern matched.

        Args:
          pattern: the pattern; its name is read.
          op: the operation.
          tensor: the output of it that is taken.

        Raises:
          ValueError: another pattern has that name.
        """
        self._matches[pattern] = (op, tensor)
        if pattern.name is not None:
            if pattern.name in self._named:
                raise ValueError(f"Name {pattern.name} is already bound to another pattern")
            self._named[pattern.name] = pattern

    def get_op(self, pattern_or_name: Pattern | str) -> tf.Operation | None:
        """Returns a pattern's operation; None if the pattern is not in the match.

        Args:
          pattern_or_name: the pattern or its name.

        Raises:
          ValueError: it is neither.
        """
        return self._of(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Pattern | str) -> tf.Tensor | None:
        """Returns a pattern's tensor; None if the pattern is not in the match, or outermost.

        Args:
          pattern_or_name: the pattern or its name.

        Raises:
          ValueError: it is neither.
        """
        return self._of(pattern_or_name)[1]

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Adds what another match has."""
        self._matches.update(other_match_result._matches)
        self._named.update(other_match_result._named)

    def _of(self, pattern_or_name: Pattern | str) -> tuple[tf.Operation | None, tf.Tensor | None]:
        if isinstance(pattern_or_name, Pattern):
            return self._matches.get(pattern_or_name, (None, None))
        if not isinstance(pattern_or_name, str):
            raise ValueError(
                f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str."
            )
        if pattern_or_name not in self._named:
            return None, None
        return self._matches[self._named[pattern_or_name]]


class GraphMatcher:
    """Finds the operations that match a pattern.

    Args:
      pattern: the pattern.
    """

    def __init__(self, pattern: Pattern):
        self._pattern = pattern

    def match_op(self, op: tf.Operation) -> MatchResult | None:
        """Returns the match that ends with an operation, or None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[tf.Operation]) -> Iterator[MatchResult]:
        """Yields the matches that end with operations, in their order."""
        results = (self.match_op(op) for op in ops)
        return (each for each in results if each is not None)

    def match_graph(self, graph: tf.Graph) -> Iterator[MatchResult]:
        """Yields all matches in a graph, in the order in which their last operations were made."""
        yield from self.match_ops(graph.get_operations())
