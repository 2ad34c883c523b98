"""At start-up, the garbage collector does not scan long-lived objects."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from estimator_bridge.base import gc_tuning

_IMPORT = """
import gc, importlib.util, sys, weakref
{before}
import estimator_bridge
assert importlib.util.find_spec("tensorflow")  # somebody asks whether it is there

class Cycle:
    pass

cycle = Cycle(); cycle.itself = cycle
gone = weakref.ref(cycle)
del cycle
seen = []
gc.isenabled() and gc.collect(0)  # the next collection is not due before the import
gc.callbacks.append(lambda phase, info: seen.append("tensorflow.python" in sys.modules))
import tensorflow as tf
during = len(seen)
print(gc.isenabled(), gc.get_freeze_count(), during, hasattr(tf.__loader__, "get_source"))
print([f for f in sys.meta_path if type(f).__module__ == "estimator_bridge.base.gc_tuning"])
gc.collect()
print(gone())
"""


@pytest.mark.parametrize(
    ("before", "is_enabled", "frozen", "collections"),
    [("", True, False, 0), ("gc.disable()", False, False, 0), ("gc.freeze()", True, True, 1)],
)
def test_nothing_is_collected_while_tensorflow_is_imported(before, is_enabled, frozen, collections):
    lines = subprocess.run(
        [sys.executable, "-c", _IMPORT.format(before=before)],
        check=True, capture_output=True, text=True, timeout=300,
    ).stdout.splitlines()  # fmt: skip
    enabled, freeze_count, during, has_loader = lines[0].split()
    assert enabled == str(is_enabled)
    assert (int(freeze_count) > 0) == frozen  # what the program froze stays so
    assert int(during) == 2 * collections  # each has a start and a stop
    assert has_loader == "True"
    assert lines[1] == "[]"
    assert lines[2] == "None"  # what was garbage is collected, if later


@pytest.fixture(name="first")
def _first(monkeypatch):
    """As if the process had not started a training yet."""
    monkeypatch.setattr(gc_tuning, "_state", gc_tuning._state.__class__(was=False, holds=False))
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_the_first_start_spares_what_there_was_until_its_first_steps(first):
    with gc_tuning.gc_frozen_at_startup():
        assert gc.get_freeze_count() > 1000
        gc_tuning.unfreeze_gc()
        assert gc.get_freeze_count() == 0
    with gc_tuning.gc_frozen_at_startup():  # a later one
        assert gc.get_freeze_count() == 0


def test_what_fails_gives_back_what_was_spared(first):
    with pytest.raises(KeyError), gc_tuning.gc_frozen_at_startup():
        raise KeyError
    assert gc.get_freeze_count() == 0


def test_what_a_program_froze_is_left_alone(first):
    gc.freeze()
    new = [[]]  # not frozen; what was frozen may go meanwhile
    with gc_tuning.gc_frozen_at_startup():
        assert any(each is new for each in gc.get_objects())
    assert gc.get_freeze_count() > 0


def test_a_collector_that_is_off_is_left_alone(first):
    gc.disable()
    try:
        with gc_tuning.gc_frozen_at_startup():
            assert gc.get_freeze_count() == 0
            assert not gc.isenabled()
    finally:
        gc.enable()
