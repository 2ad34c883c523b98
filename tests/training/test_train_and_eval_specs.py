"""TrainSpec and EvalSpec refuse values that train_and_evaluate could not use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


class NamedExporter(eb.Exporter):
    def __init__(self, name):
        self._name = name

    @property
    def name(self):
        return self._name

    def export(self, *args, **kwargs):
        return None


def input_fn():
    return tf.data.Dataset.range(3)


def test_defaults():
    assert eb.TrainSpec(input_fn) == (input_fn, None, (), ())
    assert eb.EvalSpec(input_fn) == (input_fn, 100, None, (), (), 120, 600)


def test_all_arguments_are_kept():
    hook, listener = v1.train.SessionRunHook(), v1.train.CheckpointSaverListener()
    train = eb.TrainSpec(input_fn, 7, [hook], [listener])
    assert train == (input_fn, 7, (hook,), (listener,))
    exporter = NamedExporter("a")
    spec = eb.EvalSpec(input_fn, None, "dev", [hook], exporter, 1, 2)
    assert spec == (input_fn, None, "dev", (hook,), (exporter,), 1, 2)
    both = [exporter, NamedExporter("b")]
    assert eb.EvalSpec(input_fn, exporters=both).exporters == tuple(both)


@pytest.mark.parametrize("spec", [eb.TrainSpec, eb.EvalSpec])
def test_dataset_in_place_of_an_input_fn(spec):
    with pytest.raises(TypeError, match=r"`input_fn` must be callable.*lambda: dataset"):
        spec(tf.data.Dataset.range(3))


@given(st.integers(max_value=0))
def test_counts_are_positive(count):
    with pytest.raises(ValueError, match="Must specify max_steps > 0, given"):
        eb.TrainSpec(input_fn, count)
    with pytest.raises(ValueError, match="Must specify steps > 0, given"):
        eb.EvalSpec(input_fn, count)


@given(st.integers(max_value=-1), st.sampled_from(["start_delay_secs", "throttle_secs"]))
def test_times_are_not_negative(seconds, name):
    with pytest.raises(ValueError, match=f"Must specify {name} >= 0, given: {seconds}"):
        eb.EvalSpec(input_fn, **{name: seconds})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: eb.TrainSpec(input_fn, hooks=[1]), "All hooks must be `SessionRunHook` inst"),
        (lambda: eb.EvalSpec(input_fn, hooks=[1]), "All hooks must be `SessionRunHook` inst"),
        (
            lambda: eb.TrainSpec(input_fn, saving_listeners=[1]),
            "All saving_listeners must be `CheckpointSaverListener` instances",
        ),
        (lambda: eb.EvalSpec(input_fn, name=5), "`name` must be string, given: 5"),
        (lambda: eb.EvalSpec(input_fn, exporters=5), "`exporters` must be an Exporter"),
        (lambda: eb.EvalSpec(input_fn, exporters=[5]), "`exporters` must be an Exporter"),
    ],
)
def test_wrong_types(make, message):
    with pytest.raises(TypeError, match=message):
        make()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "a"], r"`exporters` must have unique names.*\['a', 'a'\]"),
        (["a", None], "An Exporter cannot have a name that is `None` or empty"),
        ([""], "An Exporter cannot have a name that is `None` or empty"),
        ([5], "An Exporter must have a string name. Given: 5"),
    ],
)
def test_names_of_exporters(names, message):
    with pytest.raises(ValueError, match=message):
        eb.EvalSpec(input_fn, exporters=[NamedExporter(name) for name in names])
