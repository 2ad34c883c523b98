from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.legacy.running.default_graph import signs_of
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.migrate.findings import Edit, Finding, Severity, Span
from estimator_bridge.migrate.main_modules import is_main
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule


@rule("EB018", "a program of `tensorflow.compat.v1` that relies on graph mode", under_run=True)
def graphs_of_compat_v1(module: Module) -> Iterator[Finding]:
    """Until TensorFlow 1.15, programs with `import tensorflow.compat.v1 as tf` ran in graph mode.

    Such a program opens a session of the default graph, or reads the `.value` of a dimension, and
    does not select graph mode. Today it has to.

    Before:

    ```python
    import tensorflow.compat.v1 as tf

    if __name__ == "__main__":
        with tf.Session() as session:
            print(session.run(tf.constant(1)))
    ```

    After:

    ```python
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()

    if __name__ == "__main__":
        with tf.Session() as session:
            print(session.run(tf.constant(1)))
    ```
    """
    if module.dialect is Dialect.TF1 or not is_main(module):
        return
    signs = signs_of(module.text.encode())
    if signs.is_explicit or not signs.line:
        return
    for import_ in module.imports:
        top = import_.statement in module.tree.body and isinstance(import_.statement, ast.Import)
        if top and import_.target == "tensorflow.compat.v1":
            end = module.lines.span(import_.statement).end
            rest = module.text[end:].split("\n", 1)[0]
            call = f"{import_.variable}.disable_v2_behavior()"
            if rest.lstrip().startswith(";"):  # more statements, which may rely on it already
                edit = Edit(Span(end, end), f"; {call}")
            else:
                at = end + len(rest.rstrip("\r"))
                edit = Edit(Span(at, at), f"{module.newline}{call}")
            yield module.finding(
                "EB018", import_.statement, Severity.REWRITTEN,
                f"the program relies on graph mode: {signs.what} in line {signs.line}",
                f"Call {import_.variable}.disable_v2_behavior() first.", (edit,),
            )  # fmt: skip
            return
