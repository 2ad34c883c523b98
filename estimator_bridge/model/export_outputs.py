"""Outputs of a served model, as a SavedModel's signatures describe them."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

__all__ = [
    "ClassificationOutput",
    "ExportOutput",
    "PredictOutput",
    "RegressionOutput",
    "complete_export_outputs",
]

_DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ExportOutput(abc.ABC):
    """One output of a served model, from one head."""

    @abc.abstractmethod
    def as_signature_def(
        self, receiver_tensors: Mapping[str, tf.Tensor]
    ) -> tf.compat.v1.MetaGraphDef.SignatureDefEntry:
        """Builds the signature of this output for the given inputs.

        Args:
          receiver_tensors: the tensors that a request feeds, by name.

        Returns:
          A SignatureDef.

        Raises:
          ValueError: this kind of output cannot be served from these tensors.
        """


class PredictOutput(ExportOutput):
    """Any outputs, by name.

    Args:
      outputs: a tensor, which is named "output", or tensors by name. A name may be a tuple of
        strings, which are joined by "/". Sparse and ragged tensors are served as they are.

    Raises:
      ValueError: a name is not a string, or a value is not a tensor.
    """

    def __init__(self, outputs: tf.Tensor | Mapping[Any, tf.Tensor]):
        outputs_by_name = outputs if isinstance(outputs, Mapping) else {"output": outputs}
        self._outputs: dict[str, tf.Tensor] = {}
        for key, value in outputs_by_name.items():
            name = "/".join(key) if isinstance(key, tuple) else key
            if not isinstance(name, str):
                raise ValueError(f"Prediction output key must be a string; got {key!r}.")
            if not isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
                raise ValueError(
                    f"Prediction output value must be a Tensor; got {value!r} for {name!r}."
                )
            self._outputs[name] = value

    @property
    def outputs(self) -> dict[str, tf.Tensor]:
        """The tensors by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds a Predict signature; see the base class."""
        return tf.compat.v1.saved_model.predict_signature_def(dict(receiver_tensors), self._outputs)


class ClassificationOutput(ExportOutput):
    """Classes and their scores, for the Classify call of TensorFlow Serving.

    Args:
      scores: floats, [batch, classes].
      classes: the labels as strings, [batch, classes], in the order of the scores. Without scores,
        the top classes, best first.

    Raises:
      ValueError: neither is given, or one has the wrong type.
    """

    def __init__(self, scores: tf.Tensor | None = None, classes: tf.Tensor | None = None):
        if scores is None and classes is None:
            raise ValueError(
                "Cannot create a ClassificationOutput with empty arguments. At least one of "
                "`scores` and `classes` must be defined."
            )
        if scores is not None:
            _check_float("Classification scores", scores)
        if classes is not None and not _has_type(classes, tf.string):
            raise ValueError(
                f"Classification classes must be a string Tensor; got {classes!r}. "
                "tf.as_string(class_ids) converts numbers to labels."
            )
        self._scores = scores
        self._classes = classes

    @property
    def scores(self) -> tf.Tensor | None:
        """The scores, or None."""
        return self._scores

    @property
    def classes(self) -> tf.Tensor | None:
        """The labels, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds a Classify signature; see the base class."""
        return tf.compat.v1.saved_model.classification_signature_def(
            _examples("Classification", receiver_tensors), self._classes, self._scores
        )


class RegressionOutput(ExportOutput):
    """A predicted value, for the Regress call of TensorFlow Serving.

    Args:
      value: floats, [batch] or [batch, 1].

    Raises:
      ValueError: `value` is not a float tensor.
    """

    def __init__(self, value: tf.Tensor):
        _check_float("Regression output value", value)
        self._value = value

    @property
    def value(self) -> tf.Tensor:
        """The predicted value."""
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds a Regress signature; see the base class."""
        return tf.compat.v1.saved_model.regression_signature_def(
            _examples("Regression", receiver_tensors), self._value
        )


def complete_export_outputs(
    export_outputs: Mapping[str, ExportOutput] | None, predictions: Any
) -> dict[str, ExportOutput]:
    """Ensures that a model in PREDICT mode has a default signature.

    Args:
      export_outputs: the model_fn's export_outputs, or None.
      predictions: the model_fn's predictions, a checked tensor or dict of tensors.

    Returns:
      `export_outputs` with the default serving key: a single output also becomes the default, and
      without any, the predictions do.

    Raises:
      TypeError: `export_outputs` is not a dict, or holds a value that is not an `ExportOutput`.
      ValueError: there are several, and none is the default.
    """
    if export_outputs is None:
        return {_DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, Mapping):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs!r}.")
    for key, output in export_outputs.items():
        # TensorFlow still has its own classes of this kind, which programs may use.
        if not callable(getattr(output, "as_signature_def", None)):
            raise TypeError(
                f"Values in `export_outputs` must be ExportOutput objects, received: {output!r} "
                f"for {key!r}. Wrap it: export.PredictOutput({{'name': tensor}})."
            )
    outputs = dict(export_outputs)
    if len(outputs) == 1:
        outputs.setdefault(_DEFAULT_KEY, next(iter(outputs.values())))
    if outputs and _DEFAULT_KEY not in outputs:
        raise ValueError(
            "Multiple `export_outputs` were provided, but none of them are specified as the "
            f"default: {list(outputs)}. Name one {_DEFAULT_KEY!r}, which is "
            "tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return outputs


def _has_type(value: Any, dtype: tf.DType) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype.base_dtype == dtype


def _check_float(name: str, value: Any) -> None:
    if not (isinstance(value, tf.Tensor) and value.dtype.is_floating):
        raise ValueError(f"{name} must be a float32 Tensor; got {value!r}.")


def _examples(kind: str, receiver_tensors: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Returns the one string tensor that the Classify and Regress calls can feed."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or not _has_type(tensors[0], tf.string):
        raise ValueError(
            f"{kind} signatures can only accept a single tensor input of type tf.string, got "
            f"{dict(receiver_tensors)}. Let serving_input_receiver_fn make one string placeholder "
            "and take its features from tf.io.parse_example, as "
            "export.build_parsing_serving_input_receiver_fn does; or use PredictOutput."
        )
    return tensors[0]
