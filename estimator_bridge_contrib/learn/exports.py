"""Exports of tf.contrib.learn: InputFnOps and strategies."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.export import (
    ServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
)
from estimator_bridge.own_files import is_recorded_folder, record_folder, remove_recorded_folder
from estimator_bridge.training import Estimator, EstimatorV1
from estimator_bridge_contrib.layers.feature_columns import create_feature_spec_for_parsing

__all__ = [
    "ExportStrategy",
    "InputFnOps",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "export_with_input_ops",
    "make_export_strategy",
    "make_parsing_export_strategy",
]

_v1 = tf.compat.v1
_DEFAULT, _FEATURES = "default_input_alternative", "features_input_alternative"


class InputFnOps(NamedTuple):
    """The inputs of an exported model.

    Attributes:
      features: the features that the model gets, by name.
      labels: None.
      default_inputs: the placeholders of a request by name, such as serialized examples.
    """

    features: Mapping[str, Any]
    labels: Any
    default_inputs: Mapping[str, Any] | None


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Makes a serving_input_fn of serialized examples.

    Args:
      feature_spec: what tf.io.parse_example takes.
      default_batch_size: the number of examples of a request; None for any.

    Returns:
      A function that returns `InputFnOps`; the request's input is "examples".
    """

    def input_fn() -> InputFnOps:
        examples = _v1.placeholder(tf.string, [default_batch_size], "input_example_tensor")
        return InputFnOps(_v1.parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, tf.Tensor], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """Makes a serving_input_fn whose request has a tensor for each feature.

    Args:
      features: tensors of the same types, names and shapes [batch, ...].
      default_batch_size: the number of examples of a request; None for any.

    Returns:
      A function that returns `InputFnOps`.
    """

    def input_fn() -> InputFnOps:
        inputs = {
            key: _v1.placeholder(
                tensor.dtype, [default_batch_size, *tensor.shape[1:]], tensor.op.name
            )
            for key, tensor in features.items()
        }
        return InputFnOps(inputs, None, inputs)

    return input_fn


def export_with_input_ops(
    estimator: EstimatorV1,
    folder: str,
    serving_input_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None,
    as_text: bool,
    checkpoint_path: str | None,
) -> Any:
    """Exports an estimator whose serving_input_fn returns `InputFnOps`, or a ServingInputReceiver.

    The signatures are serving_default, and for each head its name, and its name after
    "default_input_alternative:" and "features_input_alternative:".

    Args:
      estimator: the estimator.
      folder: the folder in which a folder for the export is created.
      serving_input_fn: the function.
      assets_extra: further files by their path in assets.extra.
      as_text: whether the model's file is text.
      checkpoint_path: the checkpoint; by default the latest.

    Returns:
      The folder.
    """

    def receiver_fn() -> Any:
        serving_input = serving_input_fn()
        if not isinstance(serving_input, InputFnOps):
            return serving_input
        features = dict(serving_input.features)
        inputs = dict(serving_input.default_inputs or features)
        alternatives = {_DEFAULT: inputs, _FEATURES: features}
        return ServingInputReceiver(features, inputs, alternatives)

    return estimator.export_saved_model(folder, receiver_fn, assets_extra, as_text, checkpoint_path)


class ExportStrategy(NamedTuple):
    """A kind of export.

    Attributes:
      name: the folder of its exports, below ``export``.
      export_fn: a function of an estimator and that folder, and optionally of checkpoint_path,
        eval_result and strip_default_attrs, which returns the folder of the export.
      strip_default_attrs: an argument for export_fn.
    """

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str | None = None,
        eval_result: Mapping[str, Any] | None = None,
    ) -> Any:
        """Exports an estimator.

        Args:
          estimator: the estimator.
          export_path: the folder for exports of this kind.
          checkpoint_path: the checkpoint; by default the latest.
          eval_result: the metrics of that checkpoint.

        Returns:
          What export_fn returns.

        Raises:
          ValueError: export_fn takes eval_result without checkpoint_path.
        """
        names = inspect.signature(self.export_fn).parameters
        if "eval_result" in names and "checkpoint_path" not in names:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        optional = {
            "checkpoint_path": checkpoint_path,
            "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }
        arguments = {name: value for name, value in optional.items() if name in names}
        return self.export_fn(estimator, export_path, **arguments)


def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Makes the strategy that exports a SavedModel.

    Args:
      serving_input_fn: returns `InputFnOps`, or a ServingInputReceiver.
      default_output_alternative_key: of several heads, the one for the signature serving_default;
        None for an estimator of tf.estimator.
      assets_extra: further files by their path in assets.extra.
      as_text: whether the model's file is text.
      exports_to_keep: the number of exports to keep; None for all.
      strip_default_attrs: has no effect: default values are always removed.
    """

    def export_fn(
        estimator: Any,
        export_dir_base: str,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool | None = False,
    ) -> Any:
        del strip_default_attrs
        if isinstance(estimator, Estimator):
            if default_output_alternative_key is not None:
                raise ValueError(
                    "default_output_alternative_key is not supported in core Estimator. Given: "
                    f"{default_output_alternative_key}. Leave it out, and name the head in the "
                    "export_outputs of model_fn."
                )
            export_dir = estimator.export_saved_model(
                export_dir_base, serving_input_fn, assets_extra, as_text, checkpoint_path
            )
        else:
            export_dir = estimator.export_savedmodel(
                export_dir_base,
                serving_input_fn,
                default_output_alternative_key=default_output_alternative_key,
                assets_extra=assets_extra,
                as_text=as_text,
                checkpoint_path=checkpoint_path,
            )
        if exports_to_keep is not None:
            record_folder(os.fsdecode(export_dir))
        _delete_old(export_dir_base, exports_to_keep)
        return export_dir

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def make_parsing_export_strategy(
    feature_columns: Iterable[Any],
    default_output_alternative_key: str | None = None,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Makes the strategy that exports a SavedModel of serialized examples.

    Args:
      feature_columns: columns of tf.contrib.layers.
      default_output_alternative_key: see `make_export_strategy`.
      assets_extra: as well.
      as_text: as well.
      exports_to_keep: as well.
      target_core: whether the estimator is one of tf.estimator.
      strip_default_attrs: see `make_export_strategy`.
    """
    spec = create_feature_spec_for_parsing(list(feature_columns))
    build = build_parsing_serving_input_receiver_fn if target_core else None
    serving_input_fn = (build or build_parsing_serving_input_fn)(spec)
    return make_export_strategy(
        serving_input_fn,
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )


def _delete_old(folder: Any, count: int | None) -> None:
    """Deletes all but the latest exports, whose folders are named by their time."""
    if count is None:
        return
    folder = os.fsdecode(folder)
    names = (name.rstrip("/") for name in tf.io.gfile.listdir(folder))
    times = sorted(int(name) for name in names if name.isdigit())
    paths = [os.path.join(folder, str(time)) for time in times]
    own = list(filter(is_recorded_folder, paths))  # others stay
    for path in own[: max(len(own) - count, 0)]:
        remove_recorded_folder(path)
