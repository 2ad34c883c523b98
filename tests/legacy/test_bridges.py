"""Restores modules and names that Python and packages have removed."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.legacy.running import bridges
from estimator_bridge.legacy.running.bridges.python312 import LooseVersion, StrictVersion
from estimator_bridge.legacy.running.bridges.restored_names import MENDED
from estimator_bridge.legacy.running.error_advice import advice_on

numbers = st.lists(st.integers(0, 99), min_size=3, max_size=3)


@given(numbers, numbers)
def test_versions_compare_by_their_numbers(first, second):
    a, b = (".".join(map(str, v)) for v in (first, second))
    for kind in (LooseVersion, StrictVersion):
        assert (kind(a) < kind(b)) == (first < second)
        assert (kind(a) >= b) == (first >= second)
        assert (kind(a) == kind(b)) == (first == second)
        assert kind(str(kind(a))) == a


def test_versions_with_words():
    assert LooseVersion("1.10") > LooseVersion("1.9") > "1.4.0"
    assert LooseVersion("2.0rc1") < LooseVersion("2.0.1")
    assert LooseVersion("1.15.5") >= "1.11"
    assert LooseVersion("1.15.5").version == [1, 15, 5]
    assert len({LooseVersion("1.2"), LooseVersion("1.2")}) == 1


@pytest.fixture
def without(monkeypatch):
    """Makes a Python that lacks modules."""

    def remove(*names):
        def find(name):
            if name in names and name not in sys.modules:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return sys.modules.get(name, sys)

        for name in names:
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(bridges.importlib, "import_module", find)

    before = dict(sys.modules)
    yield remove
    monkeypatch.undo()
    sys.modules.clear()
    sys.modules.update(before)


def test_distutils_where_it_is_no_more(without):
    without("distutils", "distutils.version")
    assert bridges.prepare("distutils.version") is None
    from distutils import version

    assert version.LooseVersion is LooseVersion
    assert sys.modules["distutils"].version is version


def test_imp_where_it_is_no_more(without, tmp_path):
    without("imp")
    assert bridges.prepare("imp") is None
    imp = sys.modules["imp"]
    (tmp_path / "plug.py").write_text("value = 3\n")
    plug = imp.load_source("plug", str(tmp_path / "plug.py"))
    assert plug.value == 3
    assert sys.modules["plug"] is plug
    assert imp.new_module("x").__name__ == "x"


def test_python_2_modules_are_not_put_where_others_find_them():
    pickle = bridges.prepare("cPickle")
    assert pickle.loads(pickle.dumps([1])) == [1]
    assert bridges.prepare("cPickle") is pickle
    assert "cPickle" not in sys.modules
    assert bridges.prepare("pickle") is None


def test_names_that_a_package_has_are_left_alone():
    numpy = types.ModuleType("numpy")
    import numpy as real

    vars(numpy).update({**vars(real), "int": "its own"})
    numpy.__dict__.pop("float", None)
    MENDED["numpy"](numpy)
    assert numpy.int == "its own"
    assert numpy.float is float
    assert numpy.asfarray([1]).dtype == real.float64


def test_yaml_loads_without_a_loader():
    calls = []
    yaml = types.ModuleType("yaml")
    yaml.FullLoader = "full"
    yaml.load = lambda stream, Loader: calls.append((stream, Loader))
    for _ in range(2):  # each module that imports it comes here
        MENDED["yaml"](yaml)
    yaml.load("a")
    yaml.load("b", Loader="own")
    yaml.load("c", "own")
    assert calls == [("a", "full"), ("b", "own"), ("c", "own")]


def test_numpy_reads_bytes_and_text_by_fromstring(monkeypatch):
    monkeypatch.setattr(np, "fromstring", np.fromstring)
    MENDED["numpy"](np)
    MENDED["numpy"](np)  # a second module of the program
    for packed in (b"\x01\x02\xff", "\x01\x02\xff"):
        read = np.fromstring(packed, dtype=np.uint8)
        assert read.tolist() == [1, 2, 255]
        read += 1  # a copy, as it was
    assert np.fromstring(b"\x01\x02\xff", np.uint8, 2).tolist() == [1, 2]
    assert np.fromstring("1 2.5", sep=" ").tolist() == [1.0, 2.5]


def test_numpy_takes_the_old_argument_of_quantiles():
    numpy = types.ModuleType("numpy")
    vars(numpy).update(vars(np))
    for _ in range(2):  # each module that imports it comes here
        MENDED["numpy"](numpy)
    values = [1.0, 2.0, 4.0, np.nan]
    assert numpy.percentile(values[:3], 60, interpolation="nearest") == 2.0
    assert numpy.percentile(values[:3], 60, interpolation="higher") == 4.0
    assert numpy.nanpercentile(values, 60, interpolation="lower") == 2.0
    # As tensorflow/lattice asks for its keypoints.
    assert numpy.quantile(values[:3], [0.0, 0.6], interpolation="nearest").tolist() == [1.0, 2.0]
    assert numpy.nanquantile(values, 0.75, interpolation="midpoint") == 3.0
    assert numpy.quantile(values[:3], 0.75, method="higher") == 4.0
    assert numpy.quantile(values[:3], 0.75) == 3.0
    assert numpy.quantile.__doc__ == np.quantile.__doc__


@pytest.mark.parametrize(
    "line", ["import xml.etree.cElementTree as tree", "from xml.etree import cElementTree as tree"]
)
def test_the_second_name_of_element_tree(monkeypatch, line):
    from xml import etree

    monkeypatch.setitem(sys.modules, "xml.etree.cElementTree", etree.ElementTree)
    monkeypatch.delitem(sys.modules, "xml.etree.cElementTree")
    monkeypatch.setattr(etree, "cElementTree", None, raising=False)
    monkeypatch.delattr(etree, "cElementTree")
    assert bridges.prepare(line.split()[1]) is None
    namespace = {}
    exec(line, namespace)
    assert namespace["tree"].fromstring("<a b='1'/>").attrib == {"b": "1"}


def test_tostring_is_named():
    error = AttributeError("'numpy.ndarray' object has no attribute 'tostring'")
    assert ".tobytes()" in (advice_on(error) or "")
