from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule

_NAMES = (
    "train.Server",
    "train.ClusterSpec",
    "train.replica_device_setter",
    "train.SyncReplicasOptimizer",
    "distribute.experimental.ParameterServerStrategy",
    "distribute.ParameterServerStrategy",
)


@rule("EB064", "a program that runs in a cluster")
def clusters(module: Module) -> Iterator[Finding]:
    """The program reads `TF_CONFIG`, or starts servers itself.

    `train_and_evaluate` reads `TF_CONFIG` as in the original. With the job `ps` in it, each chief
    and worker trains at its own pace on variables that the servers hold. Without `ps`, several
    workers need `RunConfig(train_distribute=tf.distribute.MultiWorkerMirroredStrategy())`, as
    otherwise each would train a model of its own, which is an error. `estimator-bridge run
    --cluster ps=1,worker=2,chief=1 PROGRAM` starts such a cluster on one machine. See
    docs/workers.md.

    Left alone:

    ```python
    import json
    import os

    cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]
    ```
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.expr) and (what := _sign(module, node)):
            yield module.finding(
                "EB064", node, Severity.WORKS,
                f"{what}: a cluster with the job 'ps' trains as it did; several workers without it "
                "need a MultiWorkerMirroredStrategy; `estimator-bridge run --cluster "
                "ps=1,worker=2,chief=1` tries it on one machine",
            )  # fmt: skip
            return


def _sign(module: Module, node: ast.expr) -> str:
    """Returns what shows that the program runs in a cluster, or ""."""
    if isinstance(node, ast.Constant) and node.value == "TF_CONFIG":
        return "the program reads TF_CONFIG"
    if isinstance(node, ast.Attribute):
        name = module.name_of(node)
        if name.startswith("tf") and name.endswith(tuple("." + each for each in _NAMES)):
            return name.rpartition(".")[2]
    return ""
