from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.name_edits import expression
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.scopes import Import

_CALL = "bridge_v1_behavior"
_SESSIONS = {f"{root}.{kind}" for root in ("tf1", "tf2.compat.v1") for kind in
             ("Session", "InteractiveSession")}  # fmt: skip
_WRITERS = {f"tf2.summary.{kind}" for kind in ("scalar", "histogram", "image", "text")}
_OF_ARRAYS = {"PIL", "cv2", "imageio", "numpy", "scipy", "skimage"}
_GIVES_ARRAYS = {"eval", "numpy", "run"}  # of a session, a tensor, an eager tensor
_FEEDS = ("infeed", "outfeed", "InfeedQueue", "InfeedEnqueue", "InfeedDequeue", "OutfeedEnqueue",
          "OutfeedDequeue")  # fmt: skip


@rule("EB019", "a program that needs the setup of `run`", under_run=True)
def v1_bridges(module: Module) -> Iterator[Finding]:
    """`run` supports some uses that TensorFlow 1 accepted and TensorFlow 2 rejects.

    These are a session of a TPU's master with emulated cores, infeed and outfeed without a TPU,
    `tf.summary`'s functions without the package tensorboard, a subclass of batch normalization
    whose `_moments` has no argument `mask`, and a dimension that was divided by `/`. A program that
    plain Python runs enables the same with one call.

    Before:

    ```python
    import tensorflow.compat.v1 as tf

    def train(master):
        with tf.Session(master) as session:
            session.run(tf.tpu.initialize_system())
    ```

    After:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf
    eb.bridge_v1_behavior()

    def train(master):
        with tf.Session(master) as session:
            session.run(eb.tpu.initialize_system())
    ```
    """
    if any(node.attr == _CALL for node in module.nodes(ast.Attribute)):
        return
    need = next(_needs(module), None)
    if need is None:
        return
    node, what = need
    import_ = _import_of_tensorflow(module)
    if import_ is None:
        yield module.finding(
            "EB019", node, Severity.BY_HAND, what,
            f"Call estimator_bridge.{_CALL}() before the program's first operation.",
        )  # fmt: skip
        return
    text, statement = expression(module, f"eb.{_CALL}", "")
    end = module.lines.span(import_.statement).end
    rest = module.text[end:].split("\n", 1)[0]
    at = end if ";" in rest else end + len(rest.rstrip("\r"))
    separator = "; " if ";" in rest else module.newline
    yield module.finding(
        "EB019", node, Severity.REWRITTEN, what, f"Call {text}() after the import of TensorFlow.",
        (Edit(Span(at, at), f"{separator}{text}()"),), (statement,) if statement else (),
    )  # fmt: skip


def _import_of_tensorflow(module: Module) -> Import | None:
    tops = (import_ for import_ in module.imports if import_.statement in module.tree.body)
    return next((f for f in tops if f.target in ("tensorflow", "tensorflow.compat.v1")), None)


def _needs(module: Module) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for call in module.nodes(ast.Call):
        if module.name_of(call.func) in _SESSIONS and _has_master(call):
            yield call, "a session of a master, which may be emulated cores"
        if module.name_of(call.func) in {f"{name}.reset" for name in _SESSIONS}:
            yield call, "Session.reset of a master, which may be emulated cores"
    names = [(use, module.name(use.target)) for use in module.scopes.references]
    of_tf1 = any(name.startswith("tf1.") for _, name in names)
    for use, name in names:
        # A pure TensorFlow 2 program already needs the package.
        if name in _WRITERS and of_tf1:
            yield use.node, f"{name.replace('tf2', 'tf', 1)} needs the package tensorboard"
        elif name.startswith("t") and any(part.startswith(_FEEDS) for part in name.split(".")):
            yield use.node, "infeed or outfeed, which only a TPU has"
    for function in module.nodes(ast.FunctionDef):
        takes = {argument.arg for argument in function.args.args}
        takes |= {"mask"} if function.args.kwarg else set()
        in_class = isinstance(module.parents[function], ast.ClassDef)
        if function.name == "_moments" and in_class and "mask" not in takes:
            yield function, "_moments now has one more argument"
    for division in module.nodes(ast.BinOp):
        if not isinstance(division.op, ast.Div) or _is_float(division.right):
            continue  # programs divide NumPy's shapes by floats, not TensorFlow's
        if _is_dimension(division.left) and not _is_of_array(module, division.left):
            yield division, "a dimension that was divided may be a float"


def _has_master(call: ast.Call) -> bool:
    target = call.args[0] if call.args else None
    for keyword in call.keywords:
        target = keyword.value if keyword.arg == "target" else target
    return target is not None and not (isinstance(target, ast.Constant) and not target.value)


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _is_of_array(module: Module, node: ast.expr) -> bool:
    """Returns whether a dimension is one of an array, as of an image that was read and resized."""
    scope: ast.AST = node
    while scope is not module.tree and not isinstance(scope, ast.FunctionDef):
        scope = module.parents[scope]
    values = [n for n in ast.walk(scope) if isinstance(n, ast.Assign)]
    visited: set[str] = set()
    name = _root(node)
    while name and name not in visited:
        if name == "self":  # the program's own attribute
            return True
        visited.add(name)
        sources = [a.value for a in values if name in _assigned(a)]
        name = ""
        for value in sources:
            if isinstance(value, ast.Call):
                package = module.name_of(value.func).partition(".")[0]
                if package in _OF_ARRAYS or getattr(value.func, "attr", "") in _GIVES_ARRAYS:
                    return True
            elif isinstance(value, ast.Subscript):
                name = _root(value)
    return False


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _assigned(statement: ast.Assign) -> set[str]:
    return {n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _is_dimension(node: ast.expr) -> bool:
    """Returns whether an expression is `x.shape[1]`, `x.shape[1].value` or `x.get_shape()[1]`."""
    if isinstance(node, ast.Attribute) and node.attr == "value":
        node = node.value
    if not isinstance(node, ast.Subscript):
        return False
    shape = node.value
    if isinstance(shape, ast.Call) and isinstance(shape.func, ast.Attribute):
        shape = shape.func.value if shape.func.attr == "as_list" else shape.func
        if isinstance(shape, ast.Call):
            shape = shape.func
    return isinstance(shape, ast.Attribute) and shape.attr in ("shape", "get_shape")
