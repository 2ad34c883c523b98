from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.calls import calls, keyword, rename_keyword
from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule

# By the last part of a function's name: renamed arguments, and removed ones.
_RENAMED = {
    "TPUClusterResolver": {"tpu_names": "tpu"},
}
_GONE = {
    "TPUConfig": {
        "computation_shape": "Write num_cores_per_replica, the number of cores of one replica.",
    },
}
_NO_EFFECT = {
    "TPUConfig": (
        "experimental_allow_per_host_v2_parallel_get_next",
        "experimental_feed_hook",
        "initial_infeed_sleep_secs",
        "tpu_job_name",
    ),
}
_ROOTS = ("tf1.", "tf2.", "estimator_bridge.")


@rule("EB063", "an argument that Estimator's classes renamed or removed")
def old_arguments(module: Module) -> Iterator[Finding]:
    """Early versions of TensorFlow 1 had arguments that 1.15 no longer had.

    Arguments that 1.15 only deprecated, such as `keep_dims`, `reduction_indices` and
    `squeeze_dims`, are not reported: tf.compat.v1 accepts them. Arguments without effect here are
    reported as such.

    Before:

    ```python
    import estimator_bridge as eb

    resolver = eb.tpu.TPUClusterResolver(tpu_names=["grpc://10.0.0.2:8470"])
    ```

    After:

    ```python
    import estimator_bridge as eb

    resolver = eb.tpu.TPUClusterResolver(tpu=["grpc://10.0.0.2:8470"])
    ```
    """
    for call, name in calls(module):
        last = name.rpartition(".")[2]
        if not name.startswith(_ROOTS):
            continue
        for old, today in _RENAMED.get(last, {}).items():
            argument = keyword(call, old)
            if argument is not None:
                yield module.finding(
                    "EB063", argument, Severity.REWRITTEN, f"{last} has no argument {old}",
                    f"Write {today}.", (rename_keyword(module, argument, today),),
                )  # fmt: skip
        for old, how in _GONE.get(last, {}).items():
            argument = keyword(call, old)
            if argument is not None:
                yield module.finding(
                    "EB063", argument, Severity.BY_HAND, f"{last} has no argument {old}", how
                )
        for old in _NO_EFFECT.get(last, ()):
            argument = keyword(call, old)
            if argument is not None and not _is_none(argument.value):
                yield module.finding(
                    "EB063", argument, Severity.WORKS, f"{last}'s {old} is accepted, without effect"
                )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
