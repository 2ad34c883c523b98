"""Draws the examples of a Python generator a batch at a time."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from estimator_bridge.graph.joined_rows import JoinedRows, PaddedRows
from estimator_bridge.tensorflow_private.generators import GeneratorCalls

__all__ = ["Cut", "ExampleBatches"]

_SHAPES = 64  # that are kept as right
_WRAPS = int(np.__version__.split(".")[0]) > 1  # TensorFlow undoes an error of NumPy 2


@dataclasses.dataclass(frozen=True)
class Cut:
    """How examples are cut into batches.

    Attributes:
      size: the examples of a batch.
      passes: how often the generator is read; None: without end.
      ahead: the examples that are drawn before those of the first batch.
      drops_short: whether a short last batch is left out.
      may_split: whether a batch ends where the shape of the examples changes.
      goes_on: whether an iterator that follows one that has ended begins in its last batch.
      padding: for each component, the number of its dimensions, and the value that fills shorter
        examples up; None if examples of one batch have equal shapes.
    """

    size: int
    passes: int | None
    ahead: int = 0
    drops_short: bool = False
    may_split: bool = False
    goes_on: bool = False
    padding: Sequence[tuple[int, Any]] | None = None


@dataclasses.dataclass
class _Reading:
    """An iterator's place in the generator.

    Attributes:
      args: the generator's arguments.
      number: the number of the pass.
      size: the examples of the next batch.
      count: the examples drawn so far, and those of the batch in which the first one is.
      passes_left: how many passes follow this one; None: without end.
      is_empty: whether this pass has had no example yet.
      has_ended: whether the last pass has ended.
      waiting: the arrays of an example that did not fit into the batch before; perhaps none.
    """

    args: tuple[Any, ...]
    number: np.ndarray
    size: int
    count: int
    passes_left: int | None
    is_empty: bool = True
    has_ended: bool = False
    waiting: list[np.ndarray] | None = None


class ExampleBatches:
    """The functions behind a dataset of a generator's batches, which tf.data calls.

    They call the generator when, and as often as, ``repeat(passes).batch(size)`` does.

    Args:
      calls: TensorFlow's functions of the generator.
      cut: how its examples are cut.
    """

    def __init__(self, calls: GeneratorCalls, cut: Cut):
        self._calls, self._cut = calls, cut
        self._components = _components_of(calls.structure)
        self._converters: list[Callable[[Any], np.ndarray]] = []
        self._shapes: set[tuple[tuple[int, ...], ...]] = set()
        self._open: dict[int, _Reading] = {}
        self._before = 0  # the examples of the next batch that the pass before has given
        self._numbers = itertools.count()

    def begin(self, *args: np.ndarray) -> np.ndarray:
        """Opens an iterator, and returns its number."""
        number, cut, before = next(self._numbers), self._cut, self._before
        passes_left = None if cut.passes is None else cut.passes - 1
        size = (cut.ahead - before) % cut.size or cut.size
        self._open[number] = _Reading(args, self._calls.begin(*args), size, before, passes_left)
        self._before = 0
        return np.array(number, np.int64)

    def end(self, number: np.ndarray) -> np.ndarray:
        """Closes an iterator."""
        reading = self._open.pop(number.item())
        if not reading.has_ended:
            self._calls.end(reading.number)
        goes_on = reading.has_ended and self._cut.goes_on
        self._before = reading.count % self._cut.size if goes_on else 0
        return np.array(0, np.int64)  # a function of tf.data has a result

    def draw(self, number: np.ndarray) -> list[np.ndarray]:
        """Returns the arrays of an iterator's next batch.

        Raises:
          StopIteration: there is no further batch.
          ValueError: the examples of the batch have different shapes.
          Exception: from the generator, or about an example that is not of the dataset's types.
        """
        reading, cut = self._open[number.item()], self._cut
        rows = JoinedRows(reading.size) if cut.padding is None else PaddedRows(cut.padding)
        while rows.count < reading.size:
            arrays = self._next(reading)
            if arrays is None:
                break
            if cut.may_split and not rows.fit(arrays):
                reading.waiting = arrays
                reading.size -= rows.count
                return rows.columns()
            rows.put(arrays)
        is_short, reading.size = rows.count < reading.size, cut.size
        if not rows.count or (is_short and cut.drops_short):
            raise StopIteration
        return rows.columns()

    def _next(self, reading: _Reading) -> list[np.ndarray] | None:
        """Returns the next example's arrays; None at the end of the last pass."""
        if reading.waiting is not None:
            arrays, reading.waiting = reading.waiting, None
            return arrays
        while not reading.has_ended:
            try:
                # TensorFlow calls the generator here, in the first draw of a pass.
                element = next(self._calls.iterator(reading.number))
            except StopIteration:
                self._begin_next_pass(reading)
                continue
            reading.is_empty = False
            reading.count += 1
            return self._arrays(reading, element)
        return None

    def _begin_next_pass(self, reading: _Reading) -> None:
        self._calls.end(reading.number)
        is_endless = reading.passes_left is None
        # An endless repetition of nothing ends, as tf.data's does.
        if reading.passes_left == 0 or (is_endless and reading.is_empty):
            reading.has_ended = True
            return
        if reading.passes_left is not None:
            reading.passes_left -= 1
        reading.number, reading.is_empty = self._calls.begin(*reading.args), True

    def _arrays(self, reading: _Reading, element: Any) -> list[np.ndarray]:
        """Returns an element's arrays, of the dataset's types and shapes.

        TensorFlow's own conversion takes ten times as long. It decides about each shape once, and
        about all that is not as usual, so errors are its own.
        """
        components = self._components(element)
        if components is not None:
            try:
                arrays = [as_array(c) for c, as_array in zip(components, self._converters)]
            except (TypeError, ValueError, OverflowError):
                arrays = []
            if tuple([array.shape for array in arrays]) in self._shapes:
                return arrays
        arrays = self._calls.convert(reading.number, element)
        if len(self._shapes) < _SHAPES:
            self._converters = [_converter(array.dtype) for array in arrays]
            self._shapes.add(tuple([array.shape for array in arrays]))
        return arrays


def _converter(kind: np.dtype) -> Callable[[Any], np.ndarray]:
    """Returns the function by which TensorFlow makes an array of a value."""
    if _WRAPS and np.issubdtype(kind, np.number):
        return lambda value: np.asarray(value).astype(kind, copy=False)
    return lambda value: np.asarray(value, kind)


def _components_of(structure: Any) -> Callable[[Any], Sequence[Any] | None]:
    """Returns a function that lists an element's components in tf.data's order.

    Args:
      structure: the structure of an element.

    Returns:
      A function that returns None for an element of another form, which may be an error.
    """
    if type(structure) is tuple:
        keys: Sequence[Any] = range(len(structure))
    elif type(structure) is dict:
        keys = sorted(structure)
    elif isinstance(structure, (tuple, dict)) or hasattr(structure, "__attrs_attrs__"):
        return lambda element: None  # such as a named tuple
    else:
        return lambda element: (element,)
    kind, count = type(structure), len(structure)
    readers = [_components_of(structure[key]) for key in keys]

    def read(element: Any) -> Sequence[Any] | None:
        if type(element) is not kind or len(element) != count:
            return None
        components: list[Any] = []
        for key, reader in zip(keys, readers):
            part = reader(element[key]) if kind is tuple or key in element else None
            if part is None:
                return None
            components += part
        return components

    return read
