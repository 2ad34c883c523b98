"""EB040: a name that NumPy has removed."""

import numpy as np
import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported

from estimator_bridge.migrate.rules.numpy_names import _NUMPY_TYPES, _RENAMED, _TYPES


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.float32\nnp.random.random()\n",
        "import numpy as np\nnp.float = float\n",
        "import numpy as np\nx = np.random.rank\n",
        "import mine as np\nx = np.float\n",
        "from numpy import float32, random\n",
        "from mine import float_\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import numpy as np\nx = np.float\n", "import numpy as np\nx = float\n"),
        ("import numpy as np\nx = np.bool8\n", "import numpy as np\nx = np.bool_\n"),
        ("import numpy\nx = numpy.product(a)\n", "import numpy\nx = numpy.prod(a)\n"),
        (
            "from numpy import array, float_, product as p\nx = float_(p(array([1])))\n",
            "from numpy import array, float64 as float_, prod as p\nx = float_(p(array([1])))\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB040", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import numpy as np\nnp.asscalar(a)\n", "Write a.item()."),
        ("import numpy as np\nnp.rank(a)\n", "Write np.ndim(a)."),
        ("import numpy as np\nx = np.NINF\n", "Write -np.inf."),
        ("import numpy as np\nfloat = 1\nx = np.float\n", "rename it, or write np.float64."),
        ("from numpy import asscalar\n", "Write a.item()."),
        ("from numpy import int\n", "Leave it out: it was Python's own int."),
    ],
)
def test_reported(source, words):
    check_reported("EB040", "by hand", source, words)


def test_what_the_rule_writes_is_there():
    assert [name for name in _RENAMED.values() if not hasattr(np, name)] == []
    assert set(_NUMPY_TYPES) == set(_TYPES.values())
    names = [name.partition(".")[2] for name in _NUMPY_TYPES.values()]
    assert [name for name in names if not hasattr(np, name)] == []
