"""Signatures are written out where users read them; these tests hold the repeated ones equal."""

import inspect
import re

import pytest

from estimator_bridge import canned
from estimator_bridge_contrib import layers
from estimator_bridge_contrib.layers.weighted_layer import WeightedLayer

CANNED = [
    name[:-2]
    for name in dir(canned)
    if name.endswith("V1") and inspect.isclass(getattr(canned, name))
]
LAYERS = ["fully_connected", "conv2d", "conv2d_transpose", "separable_conv2d", "conv2d_in_plane"]
# Where version 2 of an estimator differs from version 1 in the original.
OWN_DEFAULTS = {"loss_reduction", "optimizer", "linear_optimizer", "dnn_optimizer"}


def described(function):
    """The arguments' descriptions in a docstring."""
    section = re.search(r"Args:\n(.*?)(?:\n\n|\Z)", inspect.getdoc(function), re.DOTALL)
    items = re.finditer(r"^  (\w+): (.*?)(?=^  \w+:|\Z)", section[1], re.DOTALL | re.MULTILINE)
    return {item[1]: " ".join(item[2].split()) for item in items}


def parameters(function):
    every = inspect.signature(function).parameters.items()
    return {name: each for name, each in every if name != "self"}


def test_there_are_such_estimators():
    assert {"DNNClassifier", "LinearRegressor", "DNNLinearCombinedEstimator"} <= set(CANNED)


@pytest.mark.parametrize("name", CANNED)
def test_both_versions_of_a_canned_estimator_are_described_in_the_same_words(name):
    new, old = (getattr(canned, each) for each in (name, name + "V1"))
    of_new, of_old = described(new), described(old)
    assert set(of_new) == set(parameters(new.__init__))
    assert set(of_old) == set(parameters(old.__init__))
    for argument in set(of_new) & set(of_old):
        assert (
            of_new[argument].replace("a tf_keras optimizer", "a v1 optimizer") == (of_old[argument])
        ), argument


@pytest.mark.parametrize("name", CANNED)
def test_both_versions_of_a_canned_estimator_have_the_same_defaults(name):
    new, old = (parameters(getattr(canned, each).__init__) for each in (name, name + "V1"))
    for argument in set(new) & set(old) - OWN_DEFAULTS:
        assert new[argument].default == old[argument].default, argument
        assert new[argument].annotation == old[argument].annotation, argument


@pytest.mark.parametrize("name", LAYERS[1:])
def test_layers_describe_shared_arguments_in_the_same_words(name):
    first, other = (getattr(layers, each) for each in (LAYERS[0], name))
    of_first, of_other = described(first), described(other)
    for argument in inspect.signature(WeightedLayer).parameters:
        assert of_first[argument] == of_other[argument], argument
        assert parameters(first)[argument].annotation == (parameters(other)[argument].annotation), (
            argument
        )
