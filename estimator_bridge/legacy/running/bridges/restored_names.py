"""Restores names that newer versions of Python and of packages have removed."""

from __future__ import annotations

import collections
import collections.abc
import functools
import inspect
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["MENDED", "restore_standard_library"]

# NumPy's aliases of Python's types (removed in 1.24) and of its own objects (removed in 2.0).
_NUMPY_TYPES = {
    "bool": bool, "complex": complex, "float": float, "int": int, "long": int, "object": object,
    "str": str, "unicode": str,
}  # fmt: skip
_NUMPY_NAMES = {
    "Inf": "inf", "Infinity": "inf", "NAN": "nan", "NaN": "nan", "alltrue": "all",
    "complex_": "complex128", "cumproduct": "cumprod", "float_": "float64", "in1d": "isin",
    "infty": "inf", "int0": "intp", "mat": "asmatrix", "product": "prod", "round_": "round",
    "row_stack": "vstack", "sometrue": "any", "string_": "bytes_", "trapz": "trapezoid",
    "unicode_": "str_",
}  # fmt: skip

_NUMPY_QUANTILES = ("nanpercentile", "nanquantile", "percentile", "quantile")


def _mend_numpy(numpy: Any) -> None:
    for name, value in _NUMPY_TYPES.items():
        _put_back(numpy, name, value)
    for name, today in _NUMPY_NAMES.items():
        _put_back(numpy, name, getattr(numpy, today, None))
    _put_back(numpy, "NINF", -numpy.inf)
    _put_back(numpy, "PINF", numpy.inf)
    _put_back(numpy, "asscalar", lambda a: a.item())
    _put_back(numpy, "asfarray", lambda a, dtype=numpy.float64: numpy.asarray(a, dtype))
    _mend_fromstring(numpy)
    for name in _NUMPY_QUANTILES:
        _mend_interpolation(numpy, name)


def _mend_interpolation(numpy: Any, name: str) -> None:
    """Restores the argument `interpolation`, which NumPy 1.22 renamed `method` and 2.4 removed."""
    today = getattr(numpy, name)
    if hasattr(today, "of_estimator_bridge"):
        return

    @functools.wraps(today)
    def with_interpolation(*args: Any, interpolation: str | None = None, **kwargs: Any) -> Any:
        if interpolation is not None:
            kwargs["method"] = interpolation
        return today(*args, **kwargs)

    with_interpolation.of_estimator_bridge = True  # type: ignore[attr-defined]
    setattr(numpy, name, with_interpolation)


def _mend_fromstring(numpy: Any) -> None:
    """Restores reading bytes, such as TFRecords and pictures; NumPy 2.3 reads text only."""
    of_text = numpy.fromstring
    if hasattr(of_text, "of_estimator_bridge"):
        return

    def fromstring(string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", like=None):
        if sep:
            return of_text(string, dtype, count, sep=sep, like=like)
        binary = string.encode("latin1") if isinstance(string, str) else string
        return numpy.frombuffer(binary, dtype, count, like=like).copy()

    fromstring.of_estimator_bridge = True  # type: ignore[attr-defined]
    numpy.fromstring = fromstring


def _mend_yaml(yaml: Any) -> None:
    load = yaml.load
    if hasattr(load, "of_estimator_bridge"):
        return

    def with_a_loader(stream: Any, Loader: Any = None) -> Any:
        return load(stream, Loader or yaml.FullLoader)

    with_a_loader.of_estimator_bridge = True  # type: ignore[attr-defined]
    yaml.load = with_a_loader


def _mend_xml(xml: ModuleType) -> None:
    """Restores `xml.etree.cElementTree`, an alias of ElementTree until Python 3.9."""
    from xml import etree
    from xml.etree import ElementTree

    sys.modules.setdefault("xml.etree.cElementTree", ElementTree)
    _put_back(etree, "cElementTree", sys.modules["xml.etree.cElementTree"])


# By package: the function that restores its names when a module of the program imports it.
MENDED: dict[str, Callable[[Any], None]] = {
    "numpy": _mend_numpy,
    "xml": _mend_xml,
    "yaml": _mend_yaml,
}


def restore_standard_library() -> None:
    """Restores what Python itself has removed since 3.6."""
    for name in collections.abc.__all__:
        _put_back(collections, name, getattr(collections.abc, name))
    _put_back(inspect, "getargspec", _getargspec)
    _put_back(time, "clock", time.process_time)


ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _getargspec(func: Callable[..., Any]) -> ArgSpec:
    return ArgSpec(*inspect.getfullargspec(func)[:4])


def _put_back(module: ModuleType, name: str, value: Any) -> None:
    if value is not None and name not in vars(module):
        setattr(module, name, value)
