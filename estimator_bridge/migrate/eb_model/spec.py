"""Finds the parts of an EstimatorSpec, and the optimizer of its train_op."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from estimator_bridge.migrate.eb_model.data_flow import sets
from estimator_bridge.migrate.eb_model.refusal import CannotTakeApartError

__all__ = [
    "Optimizer",
    "is_shard_wrapper",
    "optimizer_of",
    "parts_of",
    "value_of",
    "without_shards",
]

_LACKS = {
    "training_hooks": "hooks: give them to train()",
    "training_chief_hooks": "hooks: give them to train()",
    "evaluation_hooks": "hooks: give them to evaluate()",
    "prediction_hooks": "hooks: give them to predict()",
    "scaffold": "scaffold",
    "scaffold_fn": "scaffold_fn",
    "host_call": "host_call",
}
_ORDER = ("mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs",
          "training_chief_hooks", "training_hooks", "scaffold", "evaluation_hooks",
          "prediction_hooks")  # fmt: skip
_ORDER_FOR_TPU = (*_ORDER[:4], "eval_metrics", "export_outputs", "scaffold_fn", "host_call",
                  "training_hooks", "evaluation_hooks", "prediction_hooks")  # fmt: skip


def parts_of(spec: ast.Call) -> dict[str, ast.expr]:
    """Returns the arguments of a spec's call by name.

    Raises:
      CannotTakeApartError: `eb.Model` has no part for one of them.
    """
    name = getattr(spec.func, "attr", getattr(spec.func, "id", ""))
    parts = dict(zip(_ORDER_FOR_TPU if name.startswith("TPU") else _ORDER, spec.args))
    for keyword in spec.keywords:
        if keyword.arg is None:
            raise CannotTakeApartError(spec, "EstimatorSpec gets arguments by **")
        parts[keyword.arg] = keyword.value
    parts = {name: value for name, value in parts.items() if not _is_none(value)}
    for name, description in _LACKS.items():
        if name in parts:
            raise CannotTakeApartError(parts[name], f"eb.Model has no {description}")
    return parts


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def value_of(node: ast.expr, statements: Sequence[ast.stmt]) -> ast.expr:
    """Returns an expression; for a variable, the last value assigned to it."""
    if isinstance(node, ast.Name):
        for statement in reversed(statements):
            if node.id in sets(statement):
                plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
                is_it = plain and isinstance(statement.targets[0], ast.Name)  # type: ignore[attr-defined]
                return statement.value if is_it else node  # type: ignore[attr-defined]
    return node


class Optimizer:
    """The optimizer of a train_op.

    Attributes:
      node: the optimizer's expression.
      loss: the loss it minimizes.
      statement: the statement that creates the train_op; None if the spec's call does.
    """

    def __init__(self, node: ast.expr, loss: ast.expr, statement: ast.stmt | None):
        self.node, self.loss, self.statement = node, loss, statement


def optimizer_of(train_op: ast.expr, statements: Sequence[ast.stmt]) -> Optimizer:
    """Finds the optimizer of a train_op.

    Raises:
      CannotTakeApartError: the train_op is not the result of one optimizer's `minimize`.
    """
    value: ast.expr = train_op
    statement: ast.stmt | None = None
    if isinstance(train_op, ast.Name):
        setting = [s for s in statements if train_op.id in sets(s)]
        if len(setting) != 1:
            raise CannotTakeApartError(
                train_op, f"{train_op.id} is set in {len(setting)} statements: it must come from "
                "one optimizer's minimize",
            )  # fmt: skip
        (statement,) = setting
        inner: ast.stmt = statement
        if isinstance(statement, ast.With) and len(statement.body) == 1:
            inner = statement.body[0]
            _check_update_ops(statement)
        if isinstance(inner, ast.Assign):
            value = inner.value
    if not (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "minimize"
    ):
        raise CannotTakeApartError(
            value, "train_op is not the result of one optimizer's minimize: eb.Model minimizes "
            "itself. Move clipping or other gradients into an optimizer's class",
        )  # fmt: skip
    arguments = dict(zip(("loss", "global_step"), value.args))
    arguments.update({keyword.arg or "**": keyword.value for keyword in value.keywords})
    other = sorted(set(arguments) - {"loss", "global_step", "name"})
    if other or len(value.args) > 2 or "loss" not in arguments:
        raise CannotTakeApartError(value, f"minimize gets {', '.join(other) or 'no loss'}")
    if "global_step" not in arguments:
        raise CannotTakeApartError(
            value, "minimize gets no global_step, so nothing counts steps; eb.Model counts them"
        )
    return Optimizer(value.func.value, arguments["loss"], statement)


def _check_update_ops(statement: ast.With) -> None:
    (item, *more) = statement.items
    call = item.context_expr
    name = getattr(getattr(call, "func", None), "attr", "")
    if more or name != "control_dependencies":
        raise CannotTakeApartError(
            statement, "train_op is made in a block other than tf.control_dependencies"
        )


def is_shard_wrapper(statement: ast.stmt) -> bool:
    """Returns whether a statement only wraps an optimizer: ``x = CrossShardOptimizer(x)``."""
    if isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse:
        return is_shard_wrapper(statement.body[0])
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    inner = without_shards(statement.value)
    is_name = isinstance(inner, ast.Name) and inner.id == statement.targets[0].id
    return inner is not statement.value and is_name


def without_shards(node: ast.expr) -> ast.expr:
    """Returns an optimizer without its CrossShardOptimizer, which the TPU's adapter adds."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return node.args[0] if name == "CrossShardOptimizer" else node
    return node
