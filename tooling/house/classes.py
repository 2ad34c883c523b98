"""The rule about classes of the engine: few constructor parameters, few attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tooling.house.layers import FRONT
from tooling.house.tree import Tree

ENGINE = ("graph", "runtime", "tpu", "training")
MOST_PARAMETERS, MOST_ATTRIBUTES = 8, 10
# Wider classes: (parameters, attributes). tf.estimator's signatures force them.
PINNED = {
    "tpu/estimator.py:TPUEstimator": (15, 8),
    "tpu/embedding_spec.py:_Fields": (10, 10),
}


def _is_record(kind: ast.ClassDef) -> bool:
    """Returns whether a class's annotated fields are its constructor's parameters."""
    decorators = [ast.unparse(one) for one in kind.decorator_list]
    bases = [ast.unparse(base) for base in kind.bases]
    return any("dataclass" in d for d in decorators) or any(b.endswith("NamedTuple") for b in bases)


def widths(kind: ast.ClassDef) -> tuple[int, int]:
    """Returns the numbers of constructor parameters and of attributes that methods set."""
    methods = [node for node in kind.body if isinstance(node, ast.FunctionDef)]
    attributes = {
        node.attr
        for method in methods
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    parameters = 0
    if _is_record(kind):
        fields = {ast.unparse(n.target) for n in kind.body if isinstance(n, ast.AnnAssign)}
        parameters, attributes = len(fields), attributes | fields
    for method in methods:
        if method.name == "__init__":
            signature = method.args
            arguments = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
            parameters = len(arguments) - 1 + bool(signature.vararg) + bool(signature.kwarg)
    return parameters, len(attributes)


def classes_of_the_engine_are_small(tree: Tree) -> Iterator[str]:
    """Finds classes that lack a concept, and entries of `PINNED` that are no longer true."""
    pins = dict(PINNED)
    for path in tree.modules(FRONT):
        if path.parts[1] not in ENGINE:
            continue
        for node in tree.nodes(path):
            if not isinstance(node, ast.ClassDef):
                continue
            parameters, attributes = widths(node)
            name = f"{'/'.join(path.parts[1:])}:{node.name}"
            pinned_widths = pins.pop(name, None)
            place = f"{path}:{node.lineno}: {node.name} has {parameters} parameters and "
            if pinned_widths and pinned_widths != (parameters, attributes):
                yield f"{place}{attributes} attributes: PINNED says {pinned_widths}"
            elif not pinned_widths and (
                parameters > MOST_PARAMETERS or attributes > MOST_ATTRIBUTES
            ):
                yield (
                    f"{place}{attributes} attributes, more than {MOST_PARAMETERS} and "
                    f"{MOST_ATTRIBUTES}: look for the missing concept"
                )
    for name in pins:
        yield f"tooling/house/classes.py: PINNED names {name}, which is gone"


RULES = [classes_of_the_engine_are_small]
