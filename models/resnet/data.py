"""Images to train a ResNet on: ImageNet's records, CIFAR-10's files, or scikit-learn's digits."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence

import tensorflow as tf

from models.task import InputRequest

__all__ = ["ImageData", "open_images"]


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


def open_images(data_dir: str, skip_bad: bool = False) -> ImageData:
    """Finds the images of a folder; if there are none, writes scikit-learn's digits there.

    Args:
        data_dir: a folder with ImageNet's TFRecords (`train-00000-of-01024`), with CIFAR-10's
            binary files (`data_batch_1.bin`), or with their folder.
        skip_bad: whether ImageNet's records with damaged images are left out.

    Raises:
        DataError: files are missing or damaged.
        UserError: records are damaged, or a label is out of range.
    """
    from models.resnet import cifar, digits, imagenet

    if imagenet.is_imagenet(data_dir):
        return imagenet.open_imagenet(data_dir, skip_bad)
    folder = cifar.find_cifar(data_dir)
    if folder is not None:
        return cifar.open_cifar(folder)
    return digits.open_digits(os.path.join(data_dir, "resnet-digits"))
