"""Makes an input_fn for either estimator from one description of a dataset."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.model import ModeKeys
from estimator_bridge.model.named_arguments import NamedArguments

__all__ = ["batch_size_for", "check_batch_size", "input_fn"]


def input_fn(
    make_dataset: Callable[..., tf.data.Dataset], training: bool, batch_size: int | None = None
) -> Callable[..., tf.data.Dataset]:
    """Makes an input_fn for `Estimator` and `TPUEstimator`.

    ::

        def digits():
            return tf.data.Dataset.from_tensor_slices((images, labels))

        estimator.train(input_fn(lambda: digits().shuffle(1000).repeat(), training=True), steps=100)
        estimator.evaluate(input_fn(digits, training=False))

    Args:
      make_dataset: returns the examples, one by one: a Dataset of (features, labels), or of
        features for predict. It also shuffles and repeats, if wanted. It may take ``params``, the
        estimator's params, ``mode``, one of `ModeKeys`, and ``input_context``. The last and
        ``params["context"]`` tell which part of the examples to read, where several workers or
        hosts of a TPU read.
      training: whether to drop a last batch that is not full, as training on a TPU requires;
        otherwise every example is kept.
      batch_size: the batch size if the estimator gives no ``params["batch_size"]``; `TPUEstimator`
        always gives it.

    Returns:
      A function of ``params``, ``mode`` and ``input_context``, all optional, that returns a Dataset
      of batches. A batch has ``params["batch_size"]`` examples: a host's batch or, with per-core
      input, a replica's batch.

    Raises:
      TypeError: `make_dataset` is not a function, or did not return a Dataset.
      ValueError: it has an argument of another name, or `batch_size` is not a positive integer;
        when called, neither gives a batch size.
    """
    make = NamedArguments("make_dataset", make_dataset, ("mode", "params", "input_context"))
    if batch_size is not None:
        check_batch_size(batch_size, "input_fn(batch_size=...)")
    usual_mode = ModeKeys.TRAIN if training else ModeKeys.EVAL

    def batched(
        params: Any = None,
        mode: str | None = None,
        input_context: tf.distribute.InputContext | None = None,
    ) -> tf.data.Dataset:
        size = batch_size_for(params, batch_size)
        values = {"params": params, "mode": mode or usual_mode, "input_context": input_context}
        dataset = make(values)
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(
                "make_dataset must return a tf.data.Dataset of single examples, got "
                f"{type(dataset).__name__}. "
                "tf.data.Dataset.from_tensor_slices((features, labels)) makes one of arrays."
            )
        return dataset.batch(size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)

    return batched


def batch_size_for(params: Any, usual: int | None) -> int:
    """Returns the batch size that an input_fn is to use.

    Args:
      params: the estimator's; its "batch_size" comes first.
      usual: the one given when the input_fn was made, or None.

    Raises:
      ValueError: neither gives one, or it is no positive whole number.
    """
    if params and "batch_size" in params:
        return check_batch_size(params["batch_size"], "params['batch_size']")
    if usual is None:
        raise ValueError(
            "No batch size: the estimator gave no params['batch_size'] (only TPUEstimator adds it "
            "by itself), and input_fn(...) was made without batch_size=. Write "
            "input_fn(make_dataset, training, batch_size=32), or "
            "Estimator(..., params={'batch_size': 32})."
        )
    return usual


def check_batch_size(value: Any, where: str) -> int:
    """Returns a batch size as int.

    Raises:
      ValueError: it is no positive whole number; ``where`` says where it came from.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
        raise ValueError(f"{where} must be a positive whole number, got {value!r}.")
    return int(value)
