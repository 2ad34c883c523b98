from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.main_modules import is_main
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.scopes import Import

_KERAS_2 = ("tf1.layers", "tf1.keras", "tf1.nn.rnn_cell")
_CHOOSES = {"disable_v2_behavior", "enable_v2_behavior", "disable_eager_execution"}


@rule("EB010", "`import tensorflow` that means TensorFlow 1", under_run=True)
def tensorflow_import(module: Module) -> Iterator[Finding]:
    """In a module that uses only names of TensorFlow 1, `import tensorflow` means TensorFlow 1.

    The current `tensorflow` is TensorFlow 2. TensorFlow 1's names are in `tensorflow.compat.v1`, so
    the import changes and the names that use it stay. A program's main module also enables graphs
    and sessions, as in TensorFlow 1, and imports `estimator_bridge` before TensorFlow, so that
    `tf.layers` and `tf.keras` are those of Keras 2.

    Before:

    ```python
    import tensorflow as tf

    if __name__ == "__main__":
        tf.app.run()
    ```

    After:

    ```python
    import estimator_bridge as eb
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()

    if __name__ == "__main__":
        tf.app.run()
    ```
    """
    if module.dialect is not Dialect.TF1:
        return
    first = True
    for import_ in module.imports:
        if not isinstance(import_.statement, ast.Import) or import_.variable == "*":
            continue
        if import_.target != "tensorflow":
            continue
        edits = [module.replacement(import_.alias, f"tensorflow.compat.v1 as {import_.variable}")]
        top = import_.statement in module.tree.body
        if first and top and is_main(module) and not _chooses(module):
            edits.append(_behavior(module, import_))
        imports = _library(module) if first and top else ()
        first = first and not top
        yield module.finding(
            "EB010",
            import_.alias,
            Severity.REWRITTEN,
            f"`{import_.variable}` is TensorFlow 1 here",
            "TensorFlow 2 has TensorFlow 1's names in tensorflow.compat.v1.",
            tuple(edits),
            imports,
        )


def _chooses(module: Module) -> bool:
    return any(node.attr in _CHOOSES for node in module.nodes(ast.Attribute))


def _behavior(module: Module, import_: Import) -> Edit:
    """Returns the line after the import that enables TensorFlow 1's behavior."""
    end = module.lines.span(import_.statement).end
    rest = module.text[end:].split("\n", 1)[0]
    at = end if ";" in rest else end + len(rest.rstrip("\r"))
    separator = "; " if ";" in rest else module.newline
    return Edit(Span(at, at), f"{separator}{import_.variable}.disable_v2_behavior()")


def _library(module: Module) -> tuple[str, ...]:
    """Returns the import of this library, if the module needs it before TensorFlow."""
    uses_keras = any(
        module.name(use.target).startswith(_KERAS_2) for use in module.scopes.references
    )
    has_it = any(import_.target.split(".")[0] == "estimator_bridge" for import_ in module.imports)
    if has_it or not (uses_keras or is_main(module)):
        return ()
    name = module.free_name("eb", "estimator_bridge", "eb_")
    return (f"import estimator_bridge{'' if name == 'estimator_bridge' else f' as {name}'}",)
