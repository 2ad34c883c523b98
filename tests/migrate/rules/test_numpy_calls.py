"""EB043: a call that NumPy no longer supports."""

import numpy as np
import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.fromstring('1 2', sep=' ')\nnp.frombuffer(a)\n",
        "from lxml import etree\netree.tostring(a)\n",
        "import numpy as np\nnp.interp(a, b, interpolation=1)\nresize(a, interpolation=2)\n",
        "class A:\n    def tostring(self): return ''\nA().tostring()\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import numpy\nx = numpy.fromstring(a, dtype=numpy.int32)\n",
            "import numpy\nx = numpy.frombuffer(a, dtype=numpy.int32).copy()\n",
        ),
        ("x = a.tostring()\n", "x = a.tobytes()\n"),
        (
            "import numpy as np\nx = np.quantile(a, 0.5, interpolation=b)\n",
            "import numpy as np\nx = np.quantile(a, 0.5, method=b)\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB043", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import numpy as np\nnp.fromstring(string=a)\n", "Write np.frombuffer(...).copy()."),
        ("from numpy import fromstring\nfromstring(a)\n", "np.fromstring no longer reads bytes"),
    ],
)
def test_reported(source, words):
    check_reported("EB043", "by hand", source, words)


def test_what_the_rule_writes_works():
    assert np.percentile([1, 2, 4], 50, method="nearest") == 2
    copy = np.frombuffer(b"ab", np.uint8).copy()
    copy[0] = 1
    assert copy.tobytes() == b"\x01b"
