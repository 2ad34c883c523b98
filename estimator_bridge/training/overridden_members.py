"""Checks which members of an Estimator a subclass replaces."""

from __future__ import annotations

from typing import Any

from estimator_bridge.tf_contrib.package import is_of_library

__all__ = ["check_members", "check_uncalled"]

_ALLOWED = {
    "latest_checkpoint",
    "model_fn",
    "_create_and_assert_global_step",
    "_export_all_saved_models",
}
# Private methods of the original. A subclass that replaces one expects calls of it.
_ORIGINAL = {
    "_actual_eval",
    "_actual_train_model_distributed",
    "_add_meta_graph_for_mode",
    "_call_input_fn",
    "_call_model_fn",
    "_call_model_fn_eval",
    "_call_model_fn_eval_distributed",
    "_convert_eval_steps_to_hooks",
    "_convert_train_steps_to_hooks",
    "_create_and_assert_global_step",
    "_create_global_step",
    "_evaluate_build_graph",
    "_evaluate_run",
    "_export_all_saved_models",
    "_extract_batch_length",
    "_extract_keys",
    "_get_features_and_labels_from_input_fn",
    "_get_features_from_input_fn",
    "_get_iterator_from_input_fn",
    "_maybe_warm_start",
    "_train_model",
    "_train_model_default",
    "_train_model_distributed",
    "_train_with_estimator_spec",
    "_train_with_estimator_spec_distributed",
    "_validate_features_in_predict_input",
}


def check_members(cls: type, obj: Any) -> None:
    """Checks that the class of an estimator does not replace members of a base class.

    As in the original, the classes between the two do not count, and a class called TPUEstimator
    may replace any member.

    Args:
      cls: the base class.
      obj: an estimator.

    Raises:
      ValueError: its class replaces a member.
    """
    kind = type(obj)
    if kind.__name__ == "TPUEstimator":
        return
    members = {name for name in dir(cls) if not name.startswith("__")} | _ORIGINAL
    replaced = sorted(
        name
        for name in (members & set(vars(kind))) - _ALLOWED
        if getattr(cls, name, None) is not getattr(kind, name) and not _is_same(cls, kind, name)
    )
    if replaced:
        raise ValueError(
            f"Subclasses of Estimator cannot override members of Estimator. {kind.__name__} does "
            f"override {replaced}. Wrap the estimator in a class of your own, or change its "
            "model_fn instead."
        )


def _is_same(cls: type, kind: type, name: str) -> bool:
    return bool(getattr(cls, name, None) == getattr(kind, name))


def check_uncalled(obj: Any) -> None:
    """Checks that an estimator's class replaces no private method of the original.

    A library may switch `check_members` off, by its own ``_assert_members_are_not_overridden``.
    Public members that it replaces are called as in the original. Private ones are not, because
    training is implemented differently, and ignoring them would train another model.

    Raises:
      ValueError: it replaces one.
    """
    for kind in type(obj).__mro__:
        if is_of_library(kind.__module__):
            continue
        replaced = sorted(_ORIGINAL & set(vars(kind)))
        if replaced:
            raise ValueError(
                f"{kind.__name__} replaces {replaced}, private methods of TensorFlow's Estimator "
                "that estimator_bridge never calls. Do this in model_fn or input_fn, or in train, "
                "evaluate and predict."
            )
