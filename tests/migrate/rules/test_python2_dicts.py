"""EB032: a dict method of Python 2."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    "source",
    [
        "from six import iteritems\nfor a in iteritems(d): pass\n",
        "import six\nfor a in six.iteritems(d): pass\n",
        (
            "class D(dict):\n    def iteritems(self):\n        return self.items()\n"
            "D().iteritems()\n"
        ),
        "x = d.iteritems() if hasattr(d, 'iteritems') else d.items()\n",
        "try:\n    x = d.iteritems()\nexcept AttributeError:\n    x = d.items()\n",
        "x = d.has_key(*a)\n",
        "x = d.items()\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for a, b in d.iteritems(): pass\n", "for a, b in d.items(): pass\n"),
        ("x = self.d . iterkeys ()\n", "x = self.d . keys ()\n"),
        ("y = not d.has_key(a + b)\n", "y = not (a + b in d)\n"),
        ("y = d[a].has_key(b) and c\n", "y = (b in d[a]) and c\n"),
        ("x = d.viewvalues()\n", "x = d.values()\n"),
    ],
)
def test_changed(before, after):
    check_changed("EB032", before, after)
