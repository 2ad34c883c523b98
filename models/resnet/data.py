"""Images to train a ResNet on: ImageNet's records, CIFAR-10's files, or scikit-learn's digits."""

from __future__ import annotations

import os

from models.resnet.cifar import find_cifar, open_cifar
from models.resnet.digits import open_digits
from models.resnet.image_data import ImageData
from models.resnet.imagenet import is_imagenet, open_imagenet

__all__ = ["open_images"]


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
    if is_imagenet(data_dir):
        return open_imagenet(data_dir, skip_bad)
    folder = find_cifar(data_dir)
    if folder is not None:
        return open_cifar(folder)
    return open_digits(os.path.join(data_dir, "resnet-digits"))
