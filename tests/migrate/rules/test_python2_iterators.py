"""EB034: an iterator with Python 2's protocol."""

import pytest
from migrate.rewritten import check_changed, check_left_alone


@pytest.mark.parametrize(
    "source",
    [
        "x = iterator.next()\n",
        "def f(it):\n    return it.next()\n",
        "class A:\n    def next(self): return 1\n",
        (
            "class A(six.Iterator):\n    def __iter__(self): return self\n"
            "    def next(self): return 1\n"
        ),
        (
            "class A:\n    def __iter__(self): return self\n    def next(self): return 1\n"
            "    __next__ = next\n"
        ),
        (
            "class A:\n    def __iter__(self): return self\n    def __next__(self): return 1\n"
            "    def next(self): return 1\n"
        ),
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = iter(a).next()\n", "y = next(iter(a))\n"),
        ("f = open('a')\nx = f.next()\n", "f = open('a')\nx = next(f)\n"),
        (
            "class A:\n    def __iter__(self): return self\n    def next(self): return 1\n",
            (
                "class A:\n    def __iter__(self): return self\n    def next(self): return 1\n"
                "\n    __next__ = next\n"
            ),
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB034", before, after)
