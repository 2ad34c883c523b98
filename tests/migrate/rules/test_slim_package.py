"""EB021: a part of slim that needs the package tf-slim."""

import pytest
from migrate.rewritten import check_left_alone, check_reported, rewritten


@pytest.mark.parametrize(
    "source",
    [
        "import tf_slim as slim\nslim.nets\n",
        "from estimator_bridge.legacy.contrib import slim\nslim.conv2d\n",
        "from mine.slim import resnet_v2\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "from estimator_bridge.legacy.contrib.slim import resnet_v2\n",
            "slim's nets needs the package tf-slim. Run: pip install tf-slim.",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB021", "by hand", source, words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from tensorflow.contrib.slim.nets import vgg", "import vgg"),
        ("from tensorflow.contrib.slim.python.slim.nets import vgg as v", "import vgg as v"),
        ("import tensorflow.contrib.slim.nets as n", "import nets as n"),
        ("from tensorflow.contrib.slim.python.slim.data import dataset", "import dataset"),
        ("from tensorflow.contrib.slim import learning", "import learning"),
    ],
)
def test_a_part_of_slim_is_that_of_the_package_tf_slim(before, after):
    comment, statement = rewritten(before + "\n").splitlines()
    assert comment.startswith("# EB021: slim's ")
    assert statement == f"from estimator_bridge.legacy.contrib.slim {after}"
