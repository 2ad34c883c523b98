"""Records the arguments of the public callables of tf.contrib, with the real TensorFlow 1.15.5.

    cd tests/contrib && PYTHON115 -m contrib_goldens.signatures.make_contrib_signatures [FILE]

PYTHON115 is the Python of contrib_goldens/make_contrib.py. Under `estimator-bridge run --tf1`, with
a FILE, the module writes those of this library, for the comparison. parity/contrib/names.json has
the names.
"""

import inspect
import json
import os
import sys

import tensorflow as tf
from contrib_goldens.observe import signature

__all__ = ["main"]

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, os.pardir, os.pardir, os.pardir)
NAMES = os.path.join(TESTS, os.pardir, "parity", "contrib", "names.json")


def main(path):
    """Writes the file."""
    with open(NAMES) as file:
        names = json.load(file)
    namespaces = {
        namespace: _signatures(namespace, words.split())
        for namespace, words in names.items()
        if namespace.split(".")[0] != "keras"  # Keras 2 is another release of Keras
    }
    lines = [
        "%s: %s" % (json.dumps(each), json.dumps(namespaces[each], sort_keys=True))
        for each in sorted(namespaces)
        if namespaces[each]
    ]
    with open(path, "w") as file:
        file.write("{\n%s\n}\n" % ",\n".join(lines))


def _signatures(namespace, names):
    recorded = {}
    for name in names:
        member = tf.contrib
        try:
            for part in namespace.split(".") + [name]:
                member = getattr(member, part)
            if callable(member) and not inspect.ismodule(member):
                recorded[name] = signature(member)
        except (AttributeError, ImportError, TypeError, ValueError):
            continue
    return recorded


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "contrib_signatures.json"))
