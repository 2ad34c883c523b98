"""EB030: a function or type that Python 3 renamed."""

import pytest
from migrate.rewritten import check_changed, check_left_alone, check_reported, rewritten


@pytest.mark.parametrize(
    "source",
    [
        "xrange = range\nxrange(3)\n",
        "from six.moves import xrange\nxrange(3)\n",
        "from functools import reduce\nreduce(f, a)\n",
        "for file in a: print(file)\n",
        "def unicode(x): return x\nunicode(1)\n",
        # What a program has for Python 2 stays Python 2's.
        (
            "import six\nif six.PY3:\n    t = str\nelif six.PY2:\n    t = unicode\nelse:\n"
            "    t = long\n"
        ),
        "import sys\nt = unicode if sys.version_info[0] < 3 else str\n",
        "import sys\nif sys.version_info >= (3, 0):\n    t = str\nelse:\n    t = unicode\n",
        "import sys\nif not sys.version_info.major > 2:\n    t = unicode\n",
        "from six import PY2\nif PY2:\n    t = unicode\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = [i for i in xrange(3)]\n", "x = [i for i in range(3)]\n"),
        ("x = unichr(1) + raw_input()\n", "x = chr(1) + input()\n"),
        ("x = isinstance(a, (basestring, long))\n", "x = isinstance(a, (str, int))\n"),
        ("x = reduce(f, a)\n", "from functools import reduce\nx = reduce(f, a)\n"),
        ("reload(m)\n", "from importlib import reload\nreload(m)\n"),
    ],
)
def test_changed(before, after):
    check_changed("EB030", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = cmp(a, b)\n", "Write (a > b) - (a < b)."),
        ("execfile('a.py')\n", "Write exec(open(path).read())."),
        ("x = file('a')\n", "Write open(path)."),
    ],
)
def test_reported(source, words):
    check_reported("EB030", "by hand", source, words)


@pytest.mark.parametrize(
    "guard", ["six.PY3", "sys.version_info >= (3,)", "sys.version_info[0] < 4", "six.PY2 or True"]
)
def test_what_python3_reaches_is_changed(guard):
    before = f"import six\nimport sys\nif {guard}:\n    t = unicode\n"
    assert rewritten(before) == before.replace("unicode", "str")
