"""Slices a model_fn into the parts of an `eb.Model`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain

from estimator_bridge.migrate.eb_model.data_flow import reads, sets, slice_for
from estimator_bridge.migrate.eb_model.modes import MODES, Path, path_of
from estimator_bridge.migrate.eb_model.optimizer_slice import only_for_optimizer
from estimator_bridge.migrate.eb_model.refusal import CannotTakeApartError
from estimator_bridge.migrate.eb_model.spec import (
    Optimizer,
    is_shard_wrapper,
    optimizer_of,
    parts_of,
    value_of,
    without_shards,
)

__all__ = ["Part", "Parts", "take_apart"]

_GIVEN = ("features", "labels", "mode", "params", "config")
# Calls that may run twice: they create no variables or random numbers.
_PLAIN_CALLS = {"bool", "dict", "float", "get", "get_global_step", "get_or_create_global_step",
                "int", "len", "list", "max", "min", "str", "tuple"}  # fmt: skip


@dataclass
class Part:
    """A function of an `eb.Model`.

    Attributes:
      name: "inference", "loss", ...
      statements: its body without the return, in order; those of `effects` follow.
      result: the returned expression; None for the outputs.
      arguments: the arguments of a model_fn that it reads.
      outputs: the outputs that it reads.
      effects: statements that have only side effects, by mode.
    """

    name: str
    statements: list[ast.stmt]
    result: ast.expr | None
    arguments: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    effects: dict[str, list[ast.stmt]] = field(default_factory=dict)


@dataclass
class Parts:
    """All parts of a model_fn.

    Attributes:
      parts: the functions of the `eb.Model`.
      outputs: the variables that `inference` returns.
      for_tpu: whether the model_fn returns a TPUEstimatorSpec.
      predicts: whether the model_fn can predict; one that computes its loss in every mode cannot,
        as there are no labels then.
    """

    parts: list[Part]
    outputs: list[str]
    for_tpu: bool
    predicts: bool

    def reads(self) -> set[str]:
        """Returns all names that the parts read."""
        variables: set[str] = set()
        for part in self.parts:
            nodes: list[ast.AST] = [*part.statements, *([part.result] if part.result else [])]
            for statements in part.effects.values():
                nodes += statements
            variables = variables.union(*map(reads, nodes))
        return variables


def take_apart(function: ast.FunctionDef, helpers: Sequence[ast.FunctionDef] = ()) -> Parts:
    """Splits a model_fn into the parts of an `eb.Model`.

    Args:
      function: the model_fn.
      helpers: the functions of its module that it calls.

    Returns:
      Its parts.

    Raises:
      CannotTakeApartError: it does something that a Model's parts cannot express.
    """
    _check_layers([function, *helpers])
    paths = {mode: path_of(function, mode) for mode in MODES}
    specs = {mode: parts_of(path.spec) for mode, path in paths.items()}
    for mode, name in (("TRAIN", "loss"), ("TRAIN", "train_op"), ("EVAL", "loss"),
                       ("PREDICT", "predictions")):  # fmt: skip
        if name not in specs[mode]:
            raise CannotTakeApartError(paths[mode].spec, f"no {name} in mode {mode}")
    return _Slicer(function, paths, specs).parts()


def _check_layers(functions: Sequence[ast.FunctionDef]) -> None:
    text = "".join(map(ast.dump, functions))
    for node in chain.from_iterable(map(ast.walk, functions)):
        name = getattr(node, "attr", "") if isinstance(node, ast.Attribute) else ""
        if name in ("batch_normalization", "batch_norm") and "UPDATE_OPS" not in text:
            raise CannotTakeApartError(
                node, "nothing runs UPDATE_OPS, so batch norm's averages never move here; eb.Model "
                "moves them",
            )  # fmt: skip
        is_regularizer = isinstance(node, ast.keyword) and (node.arg or "").endswith("regularizer")
        if is_regularizer and "get_regularization_loss" not in text and "total_loss" not in text:
            raise CannotTakeApartError(
                node, "the loss lacks the regularization losses, which eb.Model adds"
            )


class _Slicer:
    def __init__(
        self,
        function: ast.FunctionDef,
        paths: dict[str, Path],
        specs: dict[str, dict[str, ast.expr]],
    ):
        self.paths, self.specs = paths, specs
        self.arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
        common = set.intersection(*({id(s) for s in p.statements} for p in paths.values()))
        self.shared = [s for s in paths["PREDICT"].statements if id(s) in common]
        self.optimizer = optimizer_of(specs["TRAIN"]["train_op"], paths["TRAIN"].statements)
        of_labels = {"labels"}
        without_labels: list[ast.stmt] = []
        for statement in self.shared:
            if reads(statement) & of_labels:
                of_labels |= sets(statement)
            elif not _is_docstring(statement):
                without_labels.append(statement)
        train = [s for s in paths["TRAIN"].statements if s is not self.optimizer.statement]
        later = only_for_optimizer(without_labels, train, self.optimizer.node)
        self.inference = [s for s in without_labels if id(s) not in later]
        self.of_inference = set().union(*map(sets, self.inference), set())
        self.outputs: list[str] = []
        self._placed_ids: set[int] = {id(s) for s in self.inference}
        for path in paths.values():
            self._check_order(path.statements)

    def _check_order(self, statements: Sequence[ast.stmt]) -> None:
        """Checks that nothing relies on a value that inference, which runs first, changes later."""
        inner = {id(s) for s in self.inference}
        for place, statement in enumerate(statements):
            if id(statement) in inner or _is_docstring(statement):
                continue
            for later in statements[place + 1 :]:
                clash = sets(later) & (reads(statement) | sets(statement))
                if id(later) in inner and clash:
                    raise CannotTakeApartError(
                        later, f"sets {', '.join(sorted(clash))}, which line {statement.lineno} "
                        "has used before, so it cannot be part of inference, which runs first",
                    )  # fmt: skip

    def parts(self) -> Parts:
        """Returns all parts, in the order of a Model's arguments."""
        loss = self._loss(self.optimizer)
        metrics = self._metrics()
        predictions = self._predictions()
        best = self._optimizer_part(self.optimizer)
        self._effects(loss, metrics, predictions, best)
        if not self.outputs:
            raise CannotTakeApartError(
                self.paths["PREDICT"].spec, "nothing computed only from features is used"
            )
        inference = Part("inference", self._needed_inference(), None)
        variables = set().union(*map(reads, inference.statements))
        inference.arguments = [name for name in self.arguments if name in variables]
        parts = [inference, loss, *([metrics] if metrics else []), predictions, best]
        spec = self.paths["TRAIN"].spec.func
        name = getattr(spec, "attr", getattr(spec, "id", ""))
        of_labels = self.paths["PREDICT"].of_labels
        predicts = not any(
            reads(s) & of_labels and not _asks_for_none(s) for s in self._rest("PREDICT")
        )
        return Parts(parts, self.outputs, name.startswith("TPU"), predicts)

    def _needed_inference(self) -> list[ast.stmt]:
        """Returns the statements of inference without settings that only other parts use."""
        statements: list[ast.stmt] = []
        variables = set(self.outputs)
        for statement in reversed(self.inference):
            if not _is_setting(statement) or sets(statement) & variables:
                statements.insert(0, statement)
                variables |= reads(statement)
        return statements

    def _rest(self, mode: str) -> list[ast.stmt]:
        inner = {id(s) for s in self.inference}
        return [s for s in self.paths[mode].statements if id(s) not in inner]

    def _part(self, name: str, mode: str, result: ast.expr, without: Collection[int] = ()) -> Part:
        rest = [s for s in self._rest(mode) if id(s) not in without]
        statements, inputs = slice_for(rest, reads(result))
        self._placed_ids |= {id(s) for s in statements}
        part = Part(name, statements, result)
        self._bring(part, inputs, mode)
        return part

    def _bring(self, part: Part, inputs: Collection[str], mode: str) -> None:
        """Provides what a part reads: copies plain settings; outputs provide the rest."""
        may_read = set(_GIVEN) - ({"features", "labels"} if part.name == "optimizer" else set())
        settings: list[ast.stmt] = []
        for name in sorted(inputs):
            if name not in self.of_inference:
                continue
            statements, _ = slice_for(self.inference, [name])
            if all(map(_is_setting, statements)):
                settings += [s for s in statements if s not in settings]
                continue
            if part.name == "optimizer":
                raise CannotTakeApartError(
                    statements[-1],
                    f"the optimizer needs {name}, which is computed with the outputs",
                )
            if name not in part.outputs:
                part.outputs.append(name)
            if name not in self.outputs:
                self.outputs.append(name)
        order = {id(s): place for place, s in enumerate(self.inference)}
        part.statements = sorted(settings, key=lambda s: order[id(s)]) + part.statements
        names = set(inputs).union(*map(reads, settings))
        if "labels" in names and mode == "PREDICT":
            raise CannotTakeApartError(
                self.paths[mode].spec, "the predictions need the labels, which are None there"
            )
        wrong = sorted((names & set(_GIVEN)) - may_read)
        if wrong:
            raise CannotTakeApartError(part.result, f"the {part.name} needs {', '.join(wrong)}")
        names |= set(part.arguments)
        part.arguments = [n for n in self.arguments if n in names and n in may_read]

    def _loss(self, optimizer: Optimizer) -> Part:
        result = self.specs["TRAIN"]["loss"]
        if ast.dump(optimizer.loss) != ast.dump(result):
            raise CannotTakeApartError(
                optimizer.loss, "the optimizer does not minimize the spec's loss"
            )
        train = self._part("loss", "TRAIN", result)
        evaluation = self._part("loss", "EVAL", self.specs["EVAL"]["loss"])
        same = ast.dump(result) == ast.dump(self.specs["EVAL"]["loss"])
        if not same or list(map(id, train.statements)) != list(map(id, evaluation.statements)):
            raise CannotTakeApartError(
                self.specs["EVAL"]["loss"], "the loss is computed differently from training"
            )
        return train

    def _metrics(self) -> Part | None:
        spec = self.specs["EVAL"]
        if "eval_metric_ops" in spec:
            return self._part("metrics", "EVAL", spec["eval_metric_ops"])
        if "eval_metrics" not in spec:
            return None
        pair = value_of(spec["eval_metrics"], self.paths["EVAL"].statements)
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            raise CannotTakeApartError(pair, "eval_metrics is not a pair of a function and tensors")
        function, tensors = pair.elts
        if isinstance(tensors, ast.Dict):
            call = ast.Call(function, [], [ast.keyword(None, tensors)])
        elif isinstance(tensors, (ast.List, ast.Tuple)):
            call = ast.Call(function, list(tensors.elts), [])
        else:
            call = ast.Call(function, [ast.Starred(tensors, ast.Load())], [])
        return self._part("metrics", "EVAL", ast.copy_location(call, pair))

    def _predictions(self) -> Part:
        spec = self.specs["PREDICT"]
        if "export_outputs" in spec:
            raise CannotTakeApartError(
                spec["export_outputs"], "eb.Model has no export_outputs: it exports its "
                "predictions as serving_default. Leave them out, or keep the model_fn",
            )  # fmt: skip
        return self._part("predictions", "PREDICT", spec["predictions"])

    def _optimizer_part(self, optimizer: Optimizer) -> Part:
        node = without_shards(optimizer.node)
        left_out = {id(s) for s in self._rest("TRAIN") if is_shard_wrapper(s)}
        if optimizer.statement is not None:
            left_out.add(id(optimizer.statement))
        self._placed_ids |= left_out
        part = self._part("optimizer", "TRAIN", node, left_out)
        return part

    def _effects(
        self, loss: Part, metrics: Part | None, predictions: Part, optimizer: Part
    ) -> None:
        """Moves statements with side effects, mostly summaries, to a part with their inputs."""
        homes = {"TRAIN": (optimizer, loss), "EVAL": (metrics, loss), "PREDICT": (predictions,)}
        modes_of: dict[int, list[str]] = {}
        for mode in MODES:
            for statement in self._rest(mode):
                modes_of.setdefault(id(statement), []).append(mode)
        for mode, places in homes.items():
            rest = self._rest(mode)
            for statement in rest:
                if id(statement) in self._placed_ids or sets(statement) or _is_docstring(statement):
                    continue
                self._placed_ids.add(id(statement))
                self._place(statement, modes_of[id(statement)], rest, places)

    def _place(
        self, statement: ast.stmt, modes: list[str], rest: list[ast.stmt],
        places: Sequence[Part | None],
    ) -> None:  # fmt: skip
        local = set().union(*map(sets, rest), set())
        for part in places:
            if part is None or (part.name == "optimizer" and modes != ["TRAIN"]):
                continue
            own = set().union(*map(sets, part.statements), set())
            variables = reads(statement)
            of_inference = variables & self.of_inference - own
            if variables & local - own or (part.name == "optimizer" and of_inference):
                continue
            try:
                self._bring(part, of_inference | variables & set(_GIVEN), modes[0])
            except CannotTakeApartError:
                continue
            if part.name == "loss" and len(modes) == 1:
                part.effects.setdefault(modes[0], []).append(statement)
                if "mode" not in part.arguments:
                    part.arguments.append("mode")
            else:
                part.effects.setdefault("", []).append(statement)
            return
        raise CannotTakeApartError(
            statement, "no part of an eb.Model has all that this statement reads"
        )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _asks_for_none(statement: ast.stmt) -> bool:
    """Returns whether a statement may handle labels that are None: it compares with `is`."""
    comparisons = [node for node in ast.walk(statement) if isinstance(node, ast.Compare)]
    return any(isinstance(op, (ast.Is, ast.IsNot)) for node in comparisons for op in node.ops)


def _is_setting(statement: ast.stmt) -> bool:
    """Returns whether a statement may be copied to several parts: it creates no variables."""
    if not isinstance(statement, (ast.Assign, ast.If, ast.AugAssign)):
        return False
    if reads(statement) & {"features", "labels"}:
        return False
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return all(getattr(f, "attr", getattr(f, "id", "")) in _PLAIN_CALLS for f in calls)
