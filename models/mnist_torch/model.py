"""The digit classifier of models/mnist in PyTorch, with its weights or to be trained."""

from __future__ import annotations

import os

import numpy as np
import torch
from torch.nn import functional

from models.common.errors import UserError

__all__ = ["NAMES", "Digits", "load", "predict"]

# The table of names for `estimator-bridge weights convert --table`.
NAMES = os.path.join(os.path.dirname(__file__), "names.txt")
_LARGE = 16  # as in models/mnist/model.py
_CLASSES = 10


class Digits(torch.nn.Module):
    """A convolutional classifier of digits.

    Args:
        height: height of an image, in pixels.
        width: width of an image, in pixels.
    """

    def __init__(self, height: int, width: int):
        super().__init__()
        self._is_halved = min(height, width) > _LARGE
        part = 4 if self._is_halved else 2
        self.convolution1 = torch.nn.Conv2d(1, 16, 3, padding="same")
        self.convolution2 = torch.nn.Conv2d(16, 32, 3, padding="same")
        self.dense = torch.nn.Linear(height // part * (width // part) * 32, 128)
        self.logits = torch.nn.Linear(128, _CLASSES)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Computes logits [batch, 10] from images, float32 [batch, 1, height, width]."""
        net = functional.relu(self.convolution1(images))
        if self._is_halved:
            net = functional.max_pool2d(net, 2)
        net = functional.max_pool2d(functional.relu(self.convolution2(net)), 2)
        # TensorFlow has the channels last, and the first dense layer has its inputs in that order.
        net = net.permute(0, 2, 3, 1).flatten(1)
        return self.logits(functional.relu(self.dense(net)))


def load(path: str, height: int, width: int) -> Digits:
    """Makes the model with the weights of a file.

    Args:
        path: a file of `estimator-bridge weights convert --to safetensors --table names.txt`.
        height: height of an image, in pixels.
        width: width of an image, in pixels.

    Raises:
        UserError: the file has other weights.
        OSError: the file cannot be read.
    """
    from safetensors.torch import load_file

    model = Digits(height, width)
    try:
        model.load_state_dict(load_file(path))
    except RuntimeError as error:
        raise UserError(
            f"{path}: not the weights of this model for images of {height} by {width} pixels, "
            f"with the names of {NAMES}: {error}"
        ) from error
    return model.eval()


def predict(model: Digits, images: np.ndarray) -> np.ndarray:
    """Returns the probability of each digit, float32 [count, 10].

    Args:
        model: the model.
        images: uint8 [count, height, width], from 0 (paper) to 255 (ink).
    """
    with torch.no_grad():
        pixels = torch.from_numpy(images.astype(np.float32) / 255.0)[:, None]
        return torch.softmax(model(pixels), dim=1).numpy()
