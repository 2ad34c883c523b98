"""The commands' table of names matches this TensorFlow and this library."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import make_names
import pytest

from estimator_bridge.base.compatibility import installed_versions
from estimator_bridge.migrate.names import Fate, look_up

TABLE = json.loads(make_names.PAGE.read_text(encoding="utf-8"))


def test_the_table_is_current():
    installed = next(iter(installed_versions().values()))
    if installed != TABLE["tensorflow"]:
        pytest.skip(f"the table is of TensorFlow {TABLE['tensorflow']}, here is {installed}")
    # In a process of its own: what other tests have installed into TensorFlow is not its API.
    done = subprocess.run(
        [sys.executable, "-c", "import make_names; print(make_names.text(), end='')"],
        cwd=make_names.__file__.rpartition("/")[0],
        env={**os.environ, "PYTHONPATH": str(make_names.PAGE.parents[2])},
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    again = "run `python tests/migrate/make_names.py`"
    assert json.loads(done.stdout) == TABLE, again


@pytest.mark.parametrize(
    ("name", "fate", "place"),
    [
        ("tf1.nn.relu", Fate.SAME, ""),
        ("tf1.keras.layers.Anything", Fate.SAME, ""),
        ("tf1.no_such_name", Fate.UNKNOWN, ""),
        ("tf1.estimator.Estimator", Fate.MOVED, "eb.v1.Estimator"),
        ("tf2.estimator.Estimator", Fate.MOVED, "eb.Estimator"),
        ("tf2.estimator.export.PredictOutput", Fate.MOVED, "eb.export.PredictOutput"),
        ("tf2.estimator.tpu.TPUEstimator", Fate.MISSING, ""),
        ("tf1.contrib.layers.conv2d", Fate.MOVED, "contrib.layers.conv2d"),
        ("tf1.contrib.framework.nest.map_structure", Fate.MOVED, "tf.nest.map_structure"),
        ("tf1.contrib.opt.ShampooWOptimizer", Fate.MISSING, ""),
        ("tf1.contrib.specs.eval_net", Fate.MISSING, ""),
        ("tf1.tpu.rewrite", Fate.MOVED, "eb.tpu.rewrite"),
        ("tf1.data.experimental.StatsAggregator", Fate.MISSING, ""),
        ("tensorflow.python.framework.ops", Fate.SAME, ""),
        ("tensorflow.python.no_such_file", Fate.UNKNOWN, ""),
    ],
)
def test_what_is_known_of_a_name(name, fate, place):
    entry = look_up(name)
    assert entry and (entry.fate, entry.place) == (fate, place)


def test_other_packages_are_not_known():
    assert look_up("numpy.float") is None
