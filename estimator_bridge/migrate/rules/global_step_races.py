from __future__ import annotations

import ast
from collections.abc import Iterator

from estimator_bridge.migrate.findings import Finding, Severity
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.registry import rule
from estimator_bridge.migrate.tpu_functions import functions_of, without_nested

_STEPS = (
    "get_global_step", "get_or_create_global_step", "create_global_step", "assert_global_step"
)  # fmt: skip
_ASSIGNS = ("assign", "assign_add")


@rule("EB060", "a global step that is assigned concurrently with the update that reads it")
def global_step_races(module: Module) -> Iterator[Finding]:
    """BERT's optimizer and its descendants assign the global step concurrently with the update.

    Without a control edge between them, TensorFlow 1 computed the learning rate from the step
    before or after the assignment, nondeterministically. Here a read that precedes the assignment
    in the program always comes first, so you need not change anything; but the numbers may be those
    of one step earlier than in the original's run. See docs/differences.md, "Numbers".

    Left alone:

    ```python
    import tensorflow.compat.v1 as tf

    def create_optimizer(loss, rate, steps):
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.polynomial_decay(rate, global_step, steps)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.apply_gradients(optimizer.compute_gradients(loss))
        return tf.group(train_op, [global_step.assign(global_step + 1)])
    ```
    """
    for function in functions_of(module):
        nodes = list(without_nested(function))
        steps = set(_step_variables(module, nodes))
        for call in nodes:
            if not isinstance(call, ast.Call) or not steps:
                continue
            step = _assigned(module, call)
            if step not in steps or _has_edge(module, call):
                continue
            if any(_reads(module, node, step, call) for node in nodes):
                yield module.finding(
                    "EB060", call, Severity.WORKS,
                    f"{step} is assigned concurrently with a read: TensorFlow 1 read it before or "
                    "after, nondeterministically; here it is always read before",
                )  # fmt: skip


def _step_variables(module: Module, nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and isinstance(node, ast.Assign):
            if module.name_of(value.func).rpartition(".")[2] not in _STEPS:
                continue
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _assigned(module: Module, call: ast.Call) -> str:
    """Returns the variable that a call assigns, or ""."""
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr not in _ASSIGNS:
        return ""
    target: ast.expr = method.value
    if module.name_of(method) in ("tf1.assign", "tf1.assign_add"):
        target = call.args[0] if call.args else method
    return target.id if isinstance(target, ast.Name) else ""


def _reads(module: Module, node: ast.AST, step: str, assignment: ast.Call) -> bool:
    """Returns whether a node reads the step for a purpose other than incrementing it."""
    if not isinstance(node, ast.Name) or node.id != step or not isinstance(node.ctx, ast.Load):
        return False
    above: ast.AST = node
    while above in module.parents and not isinstance(above, ast.stmt):
        above = module.parents[above]
        if above is assignment:
            return False
        if isinstance(above, ast.Call):
            method = above.func
            return not (
                isinstance(method, ast.Attribute)
                and method.attr in ("minimize", "apply_gradients", *_ASSIGNS)
            )
    return False


def _has_edge(module: Module, node: ast.AST) -> bool:
    while node in module.parents and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        node = module.parents[node]
        items = node.items if isinstance(node, ast.With) else []
        if any("control_dependencies" in ast.dump(item.context_expr) for item in items):
            return True
    return False
