"""The options of pruning, and their checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from estimator_bridge_contrib.training.hparams import HParams

__all__ = ["block_sizes", "check_hparams", "get_pruning_hparams", "of_weights", "sparsities"]

_Value = TypeVar("_Value")


def get_pruning_hparams() -> Any:
    """Returns the options of ``Pruning`` as HParams, with their defaults.

    - name: the scope of the operations and the summaries.
    - begin_pruning_step, end_pruning_step: the first and the last global step at which masks
      change; -1 for no last one.
    - weight_sparsity_map: a list of "NAME:SPARSITY", where NAME is a regular expression that is
      searched in the weights' names.
    - block_dims_map: a list of "NAME:HEIGHTxWIDTH".
    - threshold_decay: the share of the old threshold in the new one.
    - pruning_frequency: the number of global steps between changes of the masks.
    - nbins: not used.
    - block_height, block_width: the size of the blocks that are kept or pruned together; -1 for
      that of the weights.
    - block_pooling_function: "AVG" or "MAX" of a block's absolute values.
    - initial_sparsity, target_sparsity: the share of zeros at both ends of the schedule.
    - sparsity_function_begin_step, sparsity_function_end_step: the global steps of these ends.
    - sparsity_function_exponent: 1 for a linear schedule; with more, it is slower at its end.
    - use_tpu: whether blocks are pooled on one axis after the other.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def check_hparams(spec: Any) -> None:
    """Checks the options.

    Raises:
      ValueError: a step or a share is out of its range.
    """
    for name in ("begin_pruning_step", "sparsity_function_begin_step"):
        if getattr(spec, name) < 0:
            raise ValueError(
                f"Illegal value for {name}: {getattr(spec, name)}. It must not be < 0."
            )
    begin, end = spec.begin_pruning_step, spec.end_pruning_step
    if begin >= end != -1:
        raise ValueError(
            f"Pruning must begin before it can end. begin_step={begin}, end_step={end}. Set "
            "end_pruning_step to -1 if pruning is required till training stops."
        )
    begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
    if begin >= end:
        raise ValueError(f"Sparsity function requires begin_step < end_step, got {begin}, {end}.")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0 <= getattr(spec, name) < 1:
            raise ValueError(f"{name} must be in range [0,1), got {getattr(spec, name)}.")


def sparsities(rows: Iterable[str]) -> dict[re.Pattern[str], float]:
    """Reads ``weight_sparsity_map``.

    Raises:
      ValueError: a row has another form, or a sparsity is 1 or more.
    """

    def parse(text: str, name: str) -> float:
        if float(text) >= 1:
            raise ValueError(f"Weight sparsity can not exceed 1.0, got {text} for {name}.")
        return float(text)

    return _by_pattern(rows, parse)


def block_sizes(rows: Iterable[str]) -> dict[re.Pattern[str], list[int]]:
    """Reads ``block_dims_map``: by pattern, a height and a width.

    Raises:
      ValueError: a row has another form.
    """

    def parse(text: str, name: str) -> list[int]:
        sizes = text.split("x")
        if len(sizes) != 2:
            raise ValueError(f"Expected 2 values for block dim for {name}, got {sizes}.")
        return [int(size) for size in sizes]

    return _by_pattern(rows, parse)


def _by_pattern(
    rows: Iterable[str], parse: Callable[[str, str], _Value]
) -> dict[re.Pattern[str], _Value]:
    pairs = [row.split(":") for row in rows if row]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"Expected NAME:VALUE, got {':'.join(pair)!r}.")
    return {re.compile(name): parse(text, name) for name, text in pairs}


def of_weights(table: Mapping[re.Pattern[str], Any], name: str, option: str, default: Any) -> Any:
    """Returns the value for weights of some name.

    Args:
      table: values by pattern.
      name: the weights' name.
      option: the table's name.
      default: the value without a matching pattern.

    Raises:
      ValueError: several patterns match.
    """
    values = [value for pattern, value in table.items() if pattern.search(name)]
    if len(values) > 1:
        raise ValueError(f"Multiple matches in {option} for weight {name}")
    return values[0] if values else default
