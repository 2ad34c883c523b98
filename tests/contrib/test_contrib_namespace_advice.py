"""Each namespace of tf.contrib is here, or its error says what to use instead of it."""

import pytest

import estimator_bridge_contrib as contrib
from estimator_bridge.errors import MissingNameError
from estimator_bridge.tf_contrib.namespace_advice import OF_TF1, Namespaces
from estimator_bridge_contrib.namespaces import NAMESPACES

MISSING = sorted(OF_TF1 - set(NAMESPACES))
GENERAL = Namespaces()["no namespace of TensorFlow 1"]


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_namespace_has_its_own_advice(name):
    with pytest.raises(MissingNameError) as raised:
        getattr(contrib, name)
    text = str(raised.value)
    assert text.startswith(f"tf.contrib.{name} is not supported. ")
    assert GENERAL not in text


def test_advice_is_on_namespaces_that_are_missing():
    """What was built since is taken out of the table."""
    assert set(Namespaces()) == set(MISSING)


@pytest.mark.parametrize(
    ("namespace", "name", "instead"),
    [
        ("image", "single_image_random_dot_stereograms", "NumPy"),
        ("tfprof", "ProfileContext", "profiler.Profiler"),
        ("autograph", "convert", "tf.function"),
        ("nccl", "broadcast", "tf.distribute"),
    ],
)
def test_a_missing_name_says_what_to_use(namespace, name, instead):
    with pytest.raises(MissingNameError, match=instead):
        getattr(NAMESPACES[namespace].load(), name)
