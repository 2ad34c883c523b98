"""A set of labeled images, which each kind of files of images returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import tensorflow as tf

from models.common.task import InputRequest

__all__ = ["ImageData"]


@dataclasses.dataclass(frozen=True)
class ImageData:
    """A set of labeled images.

    Attributes:
        name: `"resnet-digits"`, `"cifar10"` or `"imagenet"`.
        folder: where it is.
        shape: height, width and channels of an image.
        classes: the number of classes.
        sizes: the number of images of the splits `"train"` and `"test"`.
        depth: the depth of network that it is for.
        input_fn: makes the input_fn of a request: batches of (images float32
            [batch, height, width, channels], about 0 on average, labels int64 [batch]).
        prepare: makes such images of what a server sends: uint8
            [batch, height, width, channels].
        left_out: the records that are not read because they are damaged, a line each.
    """

    name: str
    folder: str
    shape: tuple[int, int, int]
    classes: int
    sizes: dict[str, int]
    depth: int
    input_fn: Callable[[InputRequest], Callable[..., tf.data.Dataset]]
    prepare: Callable[[tf.Tensor], tf.Tensor]
    left_out: Sequence[str] = ()
