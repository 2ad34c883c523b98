"""A small real data set in the layout of the flowers records: patches of two photographs.

scikit-learn ships two photographs, of a palace in China and of a flower. Each is cut into patches
that do not overlap, JPEG images. Two tasks use them: to tell the photograph, or the quarter of it
that a patch is from. A backbone trained for one is transferred to the other. This tests a
program. It says little about its quality on photographs that it has not seen.
"""

from __future__ import annotations

import os

import numpy as np
import tensorflow as tf

import estimator_bridge as eb

__all__ = ["PATCH_SIZE", "folder_of", "split_patches", "write_patches"]

PATCH_SIZE = 32
_PHOTOGRAPHS = ("china", "flower")
# The names of the classes of each task.
_CLASSES = {
    "photograph": _PHOTOGRAPHS,
    "quarter": ("top left", "top right", "bottom left", "bottom right"),
}
_TEST_SHARE, _SEED = 0.2, 2018


def folder_of(task: str) -> str:
    """Returns the name of the folder of a task's records, `"photograph"` or `"quarter"`."""
    return "patches" if task == "photograph" else f"patches-{task}"


def write_patches(folder: str, task: str) -> None:
    """Writes the patches as records, into a folder for each split, unless they are there.

    Both tasks have the same patches in each split.

    Args:
        folder: gets the folders `train` (416 patches) and `test` (104).
        task: `"photograph"`: the class is the photograph; `"quarter"`: the quarter of it.
    """
    paths = {split: os.path.join(folder, split) for split in ("train", "test")}
    if all(eb.records.read_manifest(path) is not None for path in paths.values()):
        return
    names = _CLASSES[task]
    for split, (images, classes) in split_patches(task).items():
        encoded = [tf.io.encode_jpeg(image, quality=95).numpy() for image in images]
        arrays = {
            "image": np.array(encoded, object),
            "class": classes,
            "label": np.array(names, object)[classes],
            "one_hot_class": np.eye(len(names), dtype=np.float32)[classes],
            "size": np.full((len(classes), 2), PATCH_SIZE),
        }
        eb.records.write(eb.records.from_arrays(arrays), paths[split])


def split_patches(task: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Cuts the photographs and splits the patches, which are the same for both tasks.

    Args:
        task: see `write_patches`.

    Returns:
        For `"train"` (416 patches) and `"test"` (104): images, uint8 [count, 32, 32, 3], and
        labels, int64 [count].
    """
    images, labels = _cut_patches(task)
    order = np.random.RandomState(_SEED).permutation(len(labels))
    count = round(_TEST_SHARE * len(labels))
    rows_by_split = {"train": order[count:], "test": order[:count]}
    return {split: (images[rows], labels[rows]) for split, rows in rows_by_split.items()}


def _cut_patches(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the patches, uint8 [520, 32, 32, 3], and their classes, int64 [520]."""
    from sklearn.datasets import load_sample_images

    labels, images = [], []
    samples = load_sample_images()
    for path, photograph in zip(samples.filenames, samples.images):
        label = _PHOTOGRAPHS.index(os.path.splitext(os.path.basename(path))[0])
        height, width, _ = photograph.shape
        for top in range(0, height - PATCH_SIZE + 1, PATCH_SIZE):
            for column in range(0, width - PATCH_SIZE + 1, PATCH_SIZE):
                images.append(photograph[top : top + PATCH_SIZE, column : column + PATCH_SIZE])
                middle = top + PATCH_SIZE // 2, column + PATCH_SIZE // 2
                quarter = 2 * (2 * middle[0] >= height) + (2 * middle[1] >= width)
                labels.append(label if task == "photograph" else quarter)
    return np.stack(images), np.array(labels)
