"""Each public name of TensorFlow 1.15.5's tf.contrib is here, or its error says what to use."""

import json
import re

import pytest

from estimator_bridge.tf_contrib.namespace_advice import OF_TF1, Namespaces
from estimator_bridge_contrib.namespaces import NAMESPACES
from estimator_bridge_contrib.unsupported import UNSUPPORTED
from parity.contrib import missing

MISSING = missing.missing_names()
ALL = [f"{namespace}.{name}" for namespace, names in MISSING.items() for name in names]
# Words with which an advice tells what to do.
DOES = (
    r"\b(Use|Run|Call|Write|Read|Return|Make|Compute|Import|Convert|Derive|Group|Train|"
    r"Leave it out)\b"
)


def test_every_missing_name_has_advice():
    silent = [
        f"{namespace}.{name}"
        for namespace, names in MISSING.items()
        for name, message in names.items()
        if not message
    ]
    assert silent == [], "add them to a table of names, or with advice to unsupported.py"


@pytest.mark.parametrize("full", ALL)
def test_the_advice_names_what_takes_its_place(full):
    namespace, _, name = full.rpartition(".")
    message = MISSING[namespace][name]
    named, _, _ = message.partition(" ")
    assert f"tf.contrib.{namespace}.{name}.".startswith(f"{named}.")  # it, or a namespace of it
    assert re.search(DOES, message)
    assert not re.search(r"list-supported|tf\.contrib was removed", message)


def test_the_command_prints_each(capsys):
    missing.main([])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(ALL)
    assert any(line.startswith("tf.contrib.opt.AGNOptimizer is not supported") for line in printed)


def test_a_name_of_the_tables_is_not_missing():
    """The recorded names of 1.15.5 are read: some are there, and some are not."""
    assert "sparse_image_warp" not in MISSING["image"]
    assert set(MISSING["image"]) == {"single_image_random_dot_stereograms"}


def test_each_namespace_of_tf1_is_read():
    recorded = {name.partition(".")[0] for name in json.loads(missing.PATH.read_text())}
    assert {"bigtable", "tensor_forest"} <= {*MISSING, *Namespaces()}
    without_names = OF_TF1 - recorded
    here = {name for name in without_names if name in NAMESPACES}
    assert without_names - here <= set(Namespaces()), "1.15.5 does not load it, and has no advice"


@pytest.mark.parametrize("full", sorted(missing.IN_KERAS))
def test_what_keras_lacks_is_missing(full):
    namespace, _, name = full.rpartition(".")
    assert name in MISSING[namespace]


@pytest.mark.parametrize("namespace", sorted(set(UNSUPPORTED) & set(NAMESPACES)))
def test_no_name_is_supported_and_has_advice(namespace):
    table = NAMESPACES[namespace]
    assert not set(table.places) & set(table.unsupported)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("QuantizedDistribution", "tfp.distributions.QuantizedDistribution"),
        ("VectorLaplaceDiag", "tfp.distributions.Independent"),
        ("moving_mean_variance", "tfp.stats.assign_moving_mean_variance"),
        ("bijectors.ScaleTriL", "tfp.bijectors.FillScaleTriL"),
    ],
)
def test_a_distribution_is_named_in_tensorflow_probability(name, instead):
    namespace, _, last = f"distributions.{name}".rpartition(".")
    assert f"became: {instead}" in MISSING[namespace][last]
