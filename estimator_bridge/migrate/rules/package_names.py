from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.moved_modules import find_moved_imports
from estimator_bridge.migrate.registry import rule

_ABSTRACT = """
    AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection Container
    Coroutine Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView
    MutableMapping MutableSequence MutableSet Reversible Sequence Set Sized ValuesView
"""
_TODAY = {
    **{f"collections.{name}": f"collections.abc.{name}" for name in _ABSTRACT.split()},
    "os.getcwdu": "os.getcwd",
    "string.letters": "string.ascii_letters",
    "string.lowercase": "string.ascii_lowercase",
    "string.uppercase": "string.ascii_uppercase",
    "sys.maxint": "sys.maxsize",
    "time.clock": "time.process_time",
    "urllib.pathname2url": "urllib.request.pathname2url",
    "urllib.quote": "urllib.parse.quote",
    "urllib.quote_plus": "urllib.parse.quote_plus",
    "urllib.unquote": "urllib.parse.unquote",
    "urllib.unquote_plus": "urllib.parse.unquote_plus",
    "urllib.urlencode": "urllib.parse.urlencode",
    "urllib.urlopen": "urllib.request.urlopen",
    "urllib.urlretrieve": "urllib.request.urlretrieve",
    "xml.etree.cElementTree": "xml.etree.ElementTree",
}
_BY_HAND = {
    "imp": "Python 3.12 has no imp. Use importlib: importlib.reload, importlib.import_module.",
    "distutils": "Python 3.12 has no distutils. For versions use packaging.version.",
    "itertools.ifilter": "Write filter(...).",
    "itertools.imap": "Write map(...).",
    "itertools.izip": "Write zip(...).",
    "itertools.izip_longest": "Write itertools.zip_longest(...).",
    "string.join": "Write separator.join(texts).",
    "string.maketrans": "Write str.maketrans(...), or bytes.maketrans(...).",
    "sys.setdefaultencoding": "Leave it out: texts are Unicode, and `reload(sys)` is not needed.",
    "inspect.getargspec": "Use inspect.getfullargspec, whose result has seven fields: args, "
    "varargs, varkw, defaults, ...",
    "scipy.misc.imread": "Use imageio.imread.",
    "scipy.misc.imresize": "Use PIL.Image.resize.",
    "scipy.misc.imshow": "Use matplotlib.pyplot.imshow.",
    "scipy.misc.imsave": "Use imageio.imwrite.",
    "scipy.misc.logsumexp": "Use scipy.special.logsumexp.",
    "scipy.misc.comb": "Use scipy.special.comb.",
    "scipy.misc.factorial": "Use scipy.special.factorial.",
    "scipy.misc.fromimage": "Use numpy.asarray(image).",
    "scipy.misc.imrotate": "Use PIL.Image.rotate.",
    "scipy.misc.toimage": "Use PIL.Image.fromarray.",
    "sklearn.externals": "Import the package itself: joblib, six.",
}


@rule("EB041", "a name that Python or a package has moved or removed")
def package_names(module: Module) -> Iterator[Finding]:
    """Newer versions of Python and of packages lack some names that old programs use.

    Before:

    ```python
    import collections
    import time

    start = time.clock()
    is_mapping = isinstance({}, collections.Mapping)
    ```

    After:

    ```python
    import collections.abc
    import collections
    import time

    start = time.process_time()
    is_mapping = isinstance({}, collections.abc.Mapping)
    ```
    """
    yield from find_moved_imports(module, "EB041", lambda name: _TODAY.get(name, name), "has moved")
    for use in module.scopes.references:
        name, depth = _row(use.target)
        behind = use.target.count(".") + 1 - depth
        if not name or use.is_store or len(use.nodes) - behind < 2:
            continue
        last = use.nodes[len(use.nodes) - behind - 1]
        if name in _BY_HAND:
            yield module.finding(
                "EB041", use.node, Severity.BY_HAND, f"{name} was removed", _BY_HAND[name]
            )
            continue
        span = module.span(use.nodes[0], last)
        inner = module.text[span.start : span.end].rpartition(".")[0]
        after = _TODAY[name][len(name.rpartition(".")[0]) :]
        home = _TODAY[name].rpartition(".")[0]
        imports = (f"import {home}",) if "." in home and home != name.rpartition(".")[0] else ()
        yield module.finding(
            "EB041", use.nodes[0], Severity.REWRITTEN, f"{name} has moved",
            f"Write {inner}{after}.", (Edit(span, f"{inner}{after}"),), imports,
        )  # fmt: skip
    for import_ in module.imports:
        name, _ = _row(import_.target)
        if name in _BY_HAND and not import_.has_guard:
            yield module.finding(
                "EB041", import_.statement, Severity.BY_HAND, f"{name} was removed", _BY_HAND[name]
            )


def _row(target: str) -> tuple[str, int]:
    """Returns the longest prefix of a name that is in a table, and its number of parts."""
    parts = target.split(".")
    for end in range(min(len(parts), 3), 0, -1):
        name = ".".join(parts[:end])
        if name in _TODAY or name in _BY_HAND:
            return name, end
    return "", 0
