"""Writes the test that compares a Model's numbers with those of its model_fn."""

from __future__ import annotations

import ast
from typing import Any

from estimator_bridge.migrate.calls import calls
from estimator_bridge.migrate.eb_model.refusal import CannotTakeApartError
from estimator_bridge.migrate.eb_model.slicing import Parts
from estimator_bridge.migrate.module import Module

__all__ = ["defines_flags", "find_inputs", "test_source"]

_CANNOT_PREDICT = """
        predict=False,  # the model_fn computes its loss in every mode, so it needs labels"""
_WORDS_IN_NAMES = {"train": ("train",), "eval": ("eval", "test", "valid", "dev")}


def find_inputs(module: Module, choices: dict[str, str]) -> dict[str, str]:
    """Finds the input functions of a program for the test.

    Args:
      module: the program.
      choices: the functions that the user named, by "train" and "eval".

    Raises:
      CannotTakeApartError: there is not exactly one for a purpose.
    """
    functions = {n.name: n for n in module.tree.body if isinstance(n, ast.FunctionDef)}
    inputs: dict[str, str] = {}
    for purpose, words in _WORDS_IN_NAMES.items():
        if purpose in choices:
            names = [choices[purpose]]
        else:
            fitting = [name for name, node in functions.items() if _is_input(node)]
            names = [n for n in fitting if any(word in n for word in words)]
            names = names or [n for n in fitting if n in ("input_fn", "make_input")]
        if len(names) != 1 or names[0] not in functions:
            names_text = ", ".join(names) if names else "none"
            raise CannotTakeApartError(
                None, f"the test needs the input_fn for {purpose}, and finds {names_text}: "
                f"name it with --{purpose}-input",
            )  # fmt: skip
        inputs[purpose] = names[0]
    return inputs


def defines_flags(module: Module) -> bool:
    """Returns whether a program defines command-line flags, by absl or by `tf.flags`."""
    return any("flags.DEFINE_" in name for _, name in calls(module))


def _is_input(node: ast.FunctionDef) -> bool:
    arguments = node.args.args
    required = arguments[: len(arguments) - len(node.args.defaults)]
    return "input" in node.name and {a.arg for a in required} <= {"params"}


def test_source(
    program: str, model: str, model_fn: str, inputs: dict[str, str], params: dict[str, Any],
    parts: Parts, has_flags: bool,
) -> str:  # fmt: skip
    """Returns the source of the test's module.

    Args:
      program: the program's import name.
      model: the import name of the Model's module.
      model_fn: the name of the model_fn.
      inputs: the program's input_fns, by "train" and "eval".
      params: the estimators' params.
      parts: the parts of the model_fn.
      has_flags: whether the program reads flags; they have their defaults in the test.
    """
    more = "\nfrom absl import flags" if has_flags else ""
    parse = "flags.FLAGS.mark_as_parsed()  # each flag has its default\n    " if has_flags else ""
    predict = "" if parts.predicts else _CANNOT_PREDICT
    return f'''"""{model} gives the numbers of {program}.{model_fn}."""

import estimator_bridge as eb{more}
from {program} import {", ".join(sorted({model_fn, *inputs.values()}))}
from {model} import model


def test_the_model_gives_the_numbers_of_the_model_fn():
    {parse}losses = eb.testing.check_same_numbers(
        {model_fn},
        model,
        train_input={inputs["train"]},
        eval_input={inputs["eval"]},
        params={params!r},
        steps=5,
        for_tpu={parts.for_tpu},{predict}
    )
    assert len(losses) == 5
'''
