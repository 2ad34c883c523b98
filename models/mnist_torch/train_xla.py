"""Trains the digit classifier in PyTorch on the cores of a TPU, by torch_xla.

    PJRT_DEVICE=TPU python -m models.mnist_torch.train_xla --epochs 20
    PJRT_DEVICE=CPU python -m models.mnist_torch.train_xla

Each core trains on a part of the digits and of each batch: `spawn` starts them, `ParallelLoader`
copies their batches ahead, `optimizer_step` sums their gradients, and `mesh_reduce` gathers what
they counted.
"""

from __future__ import annotations

import argparse
import sys

import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_multiprocessing as xmp
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from torch_xla import runtime

from models.mnist.digits import split_digits
from models.mnist_torch.model import Digits

__all__ = ["main", "train"]

_RATE = 3e-3


def _loader(split: str, batch_size: int, replicas: int, replica: int) -> DataLoader:
    """Returns a core's part of a split, in batches of a core's size."""
    images, labels = split_digits()[split]
    pixels = torch.from_numpy(images).float()[:, None] / 255.0
    data = TensorDataset(pixels, torch.from_numpy(labels))
    training = split == "train"
    sampler = DistributedSampler(data, replicas, replica, shuffle=training, seed=1)
    return DataLoader(data, batch_size // replicas, sampler=sampler, drop_last=training)


def train(_: int, epochs: int, batch_size: int) -> None:
    """Trains and tests one core's copy; called on each core.

    Args:
        epochs: passes over the training set.
        batch_size: the batch of all cores together.
    """
    torch.manual_seed(1)
    device = xm.xla_device()
    replicas, replica = runtime.world_size(), runtime.global_ordinal()
    model = Digits(8, 8).to(device)
    xm.broadcast_master_param(model)
    optimizer = torch.optim.Adam(model.parameters(), _RATE)
    loader = _loader("train", batch_size, replicas, replica)
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for images, labels in pl.ParallelLoader(loader, [device]).per_device_loader(device):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            xm.optimizer_step(optimizer)
    correct, count = _test(model.eval(), _loader("test", batch_size, replicas, replica), device)
    total = xm.mesh_reduce("test", (correct, count), lambda parts: tuple(map(sum, zip(*parts))))
    cores = "1 core" if replicas == 1 else f"{replicas} cores"
    accuracy = f"accuracy {total[0] / total[1]:.4f} of {total[1]} test digits"
    xm.master_print(f"{cores}, {epochs} epochs: {accuracy}")


def _test(model: Digits, loader: DataLoader, device: torch.device) -> tuple[int, int]:
    """Counts the digits that are classified correctly, and all."""
    correct = count = 0
    with torch.no_grad():
        for images, labels in pl.ParallelLoader(loader, [device]).per_device_loader(device):
            correct += int((model(images).argmax(1) == labels).sum().item())
            count += len(labels)
    return correct, count


def main() -> int:
    """Starts a copy on each core; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--epochs", type=int, default=20, help="passes over the training set")
    parser.add_argument("--batch_size", type=int, default=64, help="the batch of all cores")
    arguments = parser.parse_args()
    if arguments.epochs < 1 or arguments.batch_size < 1:
        parser.error("--epochs and --batch_size want a number of 1 or more")
    xmp.spawn(train, args=(arguments.epochs, arguments.batch_size))
    return 0


if __name__ == "__main__":
    sys.exit(main())
