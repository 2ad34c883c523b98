from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.names import tf_slim_name
from estimator_bridge.migrate.registry import rule


@rule("EB021", "a part of slim that needs the package tf-slim")
def slim_package(module: Module) -> Iterator[Finding]:
    """This library has slim's layers, scopes, losses and metrics, but not its nets, data and loops.

    These are in the package tf-slim. If it is installed, this library's `contrib.slim` includes
    them, and they share its `arg_scope`. The rule reports a module once, at the first such name;
    other rules rewrite the names.

    Before:

    ```python
    import tensorflow as tf
    from tensorflow.contrib.slim.nets import resnet_v2

    slim = tf.contrib.slim
    decoder = slim.tfexample_decoder.TFExampleDecoder({}, {})
    ```

    After:

    ```python
    from estimator_bridge.legacy import contrib
    import tensorflow.compat.v1 as tf
    # EB021: slim's nets, tfexample_decoder need the package tf-slim. Run: pip install tf-slim.
    from estimator_bridge.legacy.contrib.slim import resnet_v2

    slim = contrib.slim
    decoder = slim.tfexample_decoder.TFExampleDecoder({}, {})
    ```
    """
    imports = [
        (import_.statement, name)
        for import_ in module.imports
        if (name := tf_slim_name(module.name(import_.target)))
    ]
    uses = [
        (use.node, name)
        for use in module.scopes.references
        if not use.is_store and (name := tf_slim_name(module.name(use.target)))
    ]
    if not imports and not uses:
        return
    first = min((node for node, _ in [*imports, *uses]), key=lambda n: (n.lineno, n.col_offset))
    names = sorted({name for _, name in [*imports, *uses]})
    yield module.finding(
        "EB021",
        first,
        Severity.BY_HAND,
        f"slim's {', '.join(names)} need{'s' if len(names) == 1 else ''} the package tf-slim",
        "Run: pip install tf-slim.",
    )
