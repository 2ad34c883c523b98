"""One TensorFlow for the whole session: quiet, with Keras 2, and eight cores on one CPU.

TensorFlow fixes its devices at first use, so the cores are made as soon as any test imports it.
Tests that do not need TensorFlow do not pay for its import.
"""

import contextlib
import gc
import importlib.abc
import importlib.machinery
import json
import logging
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

CORES = 8

# The same examples in each run, so that a failure is due to the change at hand.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["NVIDIA_TF32_OVERRIDE"] = "0"  # also in the processes that tests start, and in JAX
os.environ["JAX_NUM_CPU_DEVICES"] = str(CORES)  # JAX, too, fixes its devices at first use


# A collection in a fork of this process would delete iterators of TensorFlow, which waits without
# end for their threads: a fork has none of its parent's.
os.register_at_fork(after_in_child=gc.disable)


class _EightCores(importlib.abc.MetaPathFinder):
    """Finds TensorFlow as usual, and splits its CPU as soon as it has been loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_split(module):
            from estimator_bridge.base.quiet_start import quietly

            with quietly():  # pytest shows below its summary what its own process writes
                load(module)
            config = sys.modules[name].config
            config.experimental.enable_tensor_float_32_execution(False)  # GPUs: 10 bits of 23
            config.set_logical_device_configuration(
                config.list_physical_devices("CPU")[0],
                [config.LogicalDeviceConfiguration() for _ in range(CORES)],
            )

        spec.loader.exec_module = load_and_split
        return spec


sys.meta_path.insert(0, _EightCores())


def pytest_collection_modifyitems(items):
    """In several processes, puts the longest files first: so the processes end together.

    A file without a recorded time is new, and comes first of all.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    times = Path(__file__).parent / "selections" / "seconds.json"
    seconds = json.loads(times.read_text(encoding="utf-8"))
    items.sort(key=lambda item: -seconds.get(item.nodeid.partition("::")[0], float("inf")))


def pytest_sessionfinish():
    """Drops the lines that monitored trainings would write below the summary."""
    closing_lines = sys.modules.get("estimator_bridge.training.monitoring.closing_lines")
    if closing_lines is not None:
        closing_lines._lines.clear()


def pytest_collection_finish():
    """Lets garbage collections pass over what is loaded for good: TensorFlow, and all tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _own_tpu_functions():
    """Restores the functions of ``tf.compat.v1.tpu`` after a module's tests replaced them."""
    yield
    if "tensorflow" in sys.modules:
        namespace = sys.modules["tensorflow"].compat.v1.tpu
        for name, function in list(vars(namespace).items()):
            if hasattr(function, "of_tensorflow"):
                setattr(namespace, name, function.of_tensorflow)


@pytest.fixture(scope="module", autouse=True)
def _own_log_levels():
    """Restores what is logged after a module's programs chose it for the process."""
    loggers = [logging.getLogger(name) for name in (None, "tensorflow", "absl")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels):
        logger.setLevel(level)


@pytest.fixture(scope="module", autouse=True)
def _event_files_end():
    """Closes the event files of a module's folders, which stay open for the next call, as in TF."""
    yield
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].compat.v1.summary.FileWriterCache.clear()


@contextlib.contextmanager
def _ending_iterators():
    """Ends the iterators that are made meanwhile, but for those that an inner context ends.

    Deleting an iterator may wait a minute for its own thread, the longer the older it is.
    """
    iterators: list = []
    private = sys.modules.get("tensorflow.python.data.ops.iterator_ops")
    if private is None:
        yield
        return
    make = private.OwnedIterator.__init__
    original = getattr(make, "original", make)

    def make_and_keep(self, *arguments, **keywords):
        original(self, *arguments, **keywords)
        if hasattr(self._iterator_resource, "numpy"):  # not one of a graph
            iterators.append(self)

    make_and_keep.original = original
    private.OwnedIterator.__init__ = make_and_keep
    yield
    private.OwnedIterator.__init__ = make
    if iterators:
        from estimator_bridge.tensorflow_private.datasets import end_iterator

        for iterator in iterators:
            end_iterator(iterator)


@pytest.fixture(scope="module", autouse=True)
def _iterators_of_fixtures_end():
    """Ends the iterators that a module's fixtures made."""
    with _ending_iterators():
        yield


@pytest.fixture(autouse=True)
def _iterators_end():
    """Ends the iterators that a test made; one for another test belongs in a wider fixture."""
    with _ending_iterators():
        yield
