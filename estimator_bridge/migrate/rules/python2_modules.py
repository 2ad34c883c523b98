from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.moved_modules import find_moved_imports
from estimator_bridge.migrate.registry import rule

_TODAY = {
    "ConfigParser": "configparser",
    "HTMLParser": "html.parser",
    "Queue": "queue",
    "StringIO": "io",
    "__builtin__": "builtins",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
}


@rule("EB031", "a module that Python 3 renamed")
def python2_modules(module: Module) -> Iterator[Finding]:
    """Python 3 renamed some modules of Python 2's library.

    The variable keeps its name, so that its uses stay. An import in a `try` is left alone: such a
    program handles both names.

    Before:

    ```python
    import cPickle
    from StringIO import StringIO
    ```

    After:

    ```python
    import pickle as cPickle
    from io import StringIO
    ```
    """
    return find_moved_imports(module, "EB031", _place, "has another name in Python 3")


def _place(name: str) -> str:
    top, dot, below = name.partition(".")
    return f"{_TODAY[top]}{dot}{below}" if top in _TODAY else name
