"""EB042: yaml.load without a loader."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        (
            "import yaml\nyaml.load(a, Loader=yaml.Loader)\nyaml.load(a, yaml.Loader)\n"
            "yaml.safe_load(a)\n"
        ),
        "import yaml\nyaml.load(*a)\n",
        "import mine as yaml\nyaml.load(a)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import yaml as y\nx = y.load(a)\n",
            "import yaml as y\nx = y.load(a, Loader=y.FullLoader)\n",
        ),
        (
            "import yaml\nx = yaml.load_all(a)\n",
            "import yaml\nx = yaml.load_all(a, Loader=yaml.FullLoader)\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB042", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("from yaml import load\nload(a)\n", "Add Loader=yaml.FullLoader."),
    ],
)
def test_reported(source, words):
    check_reported("EB042", "by hand", source, words)
