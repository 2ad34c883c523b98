"""Digits with noise beside them, as inputs of the generative network.

The host draws the noise, so that a batch has the same noise on any number of cores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data.reader_parts import reader_part
from models.common.in_memory import Split, input_fn_of
from models.common.own_part import own_part
from models.common.task import InputRequest
from models.gan.model import NOISE
from models.mnist.dataset import DigitData, examples

__all__ = ["noisy_inputs"]

# Fewer examples are kept as arrays, whose epochs are shuffled at once.
_FEW = 10_000

InputFn = Callable[..., tf.data.Dataset]


def noisy_inputs(digits: DigitData) -> Callable[[InputRequest], InputFn]:
    """Returns the function that makes the input_fn of a request.

    Args:
        digits: the real images.

    Returns:
        A function of a request. Its input_fn returns batches of ({"image": float32
        [batch, height, width, 1], "noise": float32 [batch, 32]}, labels int64 [batch]).
    """
    if sum(digits.sizes.values()) > _FEW:
        return lambda request: _with_noise(_read(digits, request), request)
    splits = {}
    for split, size in digits.sizes.items():
        images, labels = examples(digits, split, size)
        splits[split] = Split(images[..., np.newaxis], labels)
    return lambda request: _with_noise(input_fn_of(splits, request), request)


def _with_noise(batches: InputFn, request: InputRequest) -> InputFn:
    """Draws the noise of a batch at once: single rows made training steps wait for theirs."""

    def input_fn(
        params: Any = None,
        mode: str | None = None,
        input_context: tf.distribute.InputContext | None = None,
    ) -> tf.data.Dataset:
        index, count = reader_part(params, input_context)

        def noisy(number: tf.Tensor, batch: tuple[tf.Tensor, tf.Tensor]) -> Any:
            images, labels = batch
            noise = _noise(tf.shape(images)[0], request, number * count + index)
            return {
                "image": images,
                "noise": tf.ensure_shape(noise, [images.shape[0], NOISE]),
            }, labels

        dataset = batches(params, mode, input_context).enumerate()
        return dataset.map(noisy).prefetch(tf.data.AUTOTUNE)

    return input_fn


def _noise(rows: Any, request: InputRequest, number: tf.Tensor) -> tf.Tensor:
    """Returns normal numbers, float32 [rows, 32]: others for each number."""
    seed = tf.stack([tf.constant(request.seed or 0, tf.int64), number])
    return tf.random.stateless_normal([rows, NOISE], seed)


def _read(digits: DigitData, request: InputRequest) -> InputFn:
    def dataset(params: Any, input_context: tf.distribute.InputContext | None) -> tf.data.Dataset:
        first_examples = digits.read(request.split).take(
            -1 if request.first is None else request.first
        )
        examples = own_part(first_examples, params, input_context)
        if request.training:
            size = request.first or digits.sizes[request.split]
            examples = examples.cache().shuffle(size, seed=request.seed).repeat()
        return examples

    return eb.data.input_fn(dataset, training=request.training, batch_size=request.batch_size)
