"""EB033: a list of Python 2 that is now an iterator."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(3): print(range(3)[0])\n",
        "x = sorted(d.keys()) + list(map(f, a))\n",
        "x = d.values()['name']\nlen(d.items())\n",
        "weight = operation.values()[0]\n",
        "from six.moves import range, zip\nx = range(3) + zip(a, b)[0]\n",
        "x = map(f, a)\nfor b in x: pass\n",
        "x = range(9)\ny = x[1]\n",
        # The variable may hold something else.
        "x = zip(a, b)\nx = 1\nx[0]\n",
        "def f(y):\n    y = y or 1\n    y = d.keys()\n    y.sort()\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = d.keys()[0]\n", "y = list(d.keys())[0]\n"),
        ("y = map(f, xrange(3))[1:]\n", "y = list(map(f, range(3)))[1:]\n"),
        ("y = len(filter(f, a))\n", "y = len(list(filter(f, a)))\n"),
        ("y = range(3) + range(4)\n", "y = list(range(3)) + list(range(4))\n"),
        ("y = d.keys()\ny.sort()\n", "y = list(d.keys())\ny.sort()\n"),
        ("y = range(3)\ny[0] = 1\n", "y = list(range(3))\ny[0] = 1\n"),
        (
            "import random\nx = range(9)\nrandom.shuffle(x)\n",
            "import random\nx = list(range(9))\nrandom.shuffle(x)\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB033", before, after)
