"""The arguments of an `SdcaModel`: dicts of examples, variables and options, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from estimator_bridge.canned.sdca_solver import SolverOptions

__all__ = ["LOSSES", "SdcaSettings", "check_given", "read_settings"]

LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_LISTS = ("sparse_features", "dense_features")
_L1, _L2 = "symmetric_l1_regularization", "symmetric_l2_regularization"
_LEAST_L2 = 1.0  # the solver's


class SdcaSettings(NamedTuple):
    """The options of an `SdcaModel`.

    Attributes:
      solver: the solver's options; its L2 regularization is at least 1.
      l2: the L2 regularization of the loss, as given.
      shards: the number of tables of the examples' states.
    """

    solver: SolverOptions
    l2: float
    shards: int


def read_settings(
    examples: Mapping[str, Any], variables: Mapping[str, Any], options: Mapping[str, Any]
) -> SdcaSettings:
    """Checks the arguments of an `SdcaModel`, and reads its options.

    Raises:
      KeyError: a key is missing.
      ValueError: a value is missing, is not a list, or is out of range.
    """
    if not examples or not variables or not options:
        raise ValueError("examples, variables and options must all be specified.")
    if options["loss_type"] not in LOSSES:
        raise ValueError(
            f"Unsupported loss_type: {options['loss_type']!r}. Use one of {', '.join(LOSSES)}."
        )
    check_given(examples, ["example_labels", "example_weights", "example_ids"])
    names = [f"{name}_weights" for name in _LISTS]
    for name in names:
        _check_list(name, variables[name])
    for name in (_L1, _L2):
        if options[name] is None or options[name] < 0.0:
            raise ValueError(f"{name} should be non-negative. Found ({options[name]})")
    solver = SolverOptions(
        options["loss_type"],
        options[_L1],
        max(options[_L2], _LEAST_L2),
        options.get("num_loss_partitions", 1),
        options.get("adaptive", True),
    )
    return SdcaSettings(solver, options[_L2], options.get("num_table_shards") or 1)


def check_given(examples: Mapping[str, Any], names: Iterable[str]) -> None:
    """Checks that a dict of examples has lists of features, and some tensors.

    Args:
      examples: the dict.
      names: the keys of the tensors.

    Raises:
      KeyError: a key is missing.
      ValueError: a tensor is None, or the features are not lists.
    """
    for name in names:
        if examples[name] is None:
            raise ValueError(f"{name} must be specified. Got None.")
    for name in _LISTS:
        _check_list(name, examples[name])


def _check_list(name: str, value: Any) -> None:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list. Got {type(value).__name__}: {value!r}.")
