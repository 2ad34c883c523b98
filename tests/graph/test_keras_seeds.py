"""Seeds that Keras layers of a traced function take from Python."""

import random

import pytest

from estimator_bridge.graph import trace_graph
from estimator_bridge.tensorflow_private.keras import keras_seed_source


class Strict(random.Random):
    """Refuses floats, as Python 3.12 does."""

    def randint(self, a, b):
        if not isinstance(b, int):
            raise TypeError(f"'{type(b).__name__}' object cannot be interpreted as an integer")
        return super().randint(a, b)


@pytest.fixture
def seeds(monkeypatch):
    """The generator that tf.keras.utils.set_random_seed(3) sets."""
    source = keras_seed_source()
    monkeypatch.setattr(source, "generator", Strict(3), raising=False)
    return source


@pytest.mark.parametrize("seed", [None, 5])
def test_a_limit_that_is_a_float_is_taken(seeds, seed):
    expected, of_program = random.Random(3 if seed is None else seed), seeds.generator
    with trace_graph(seed):
        drawn = [seeds.generator.randint(1, 1e9) for _ in range(2)]  # as tf-keras 2.17 asks
    assert drawn == [expected.randint(1, 10**9) for _ in range(2)]
    assert seeds.generator is of_program


def test_without_any_seed_keras_draws_its_own(monkeypatch):
    source = keras_seed_source()
    monkeypatch.setattr(source, "generator", None, raising=False)
    with trace_graph():
        assert source.generator is None
