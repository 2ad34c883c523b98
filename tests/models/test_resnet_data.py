import numpy as np
import pytest
import tensorflow as tf
from record_files import cut_image, write_imagenet

import estimator_bridge as eb
from models.common.augment import shifted
from models.common.errors import UserError
from models.common.task import InputRequest
from models.resnet.data import open_images

RECORD = 1 + 3 * 32 * 32


@pytest.fixture
def cifar(tmp_path):
    """Ten images a file, in the layout of CIFAR-10's binary version: image i is red, of i * 20."""
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for name in [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]:
        content = np.zeros([10, RECORD], np.uint8)
        content[:, 0] = np.arange(10)
        content[:, 1 : 1 + 32 * 32] = 20 * np.arange(10)[:, np.newaxis]
        (folder / name).write_bytes(content.tobytes())
    return tmp_path


def first_batch(images, request):
    return next(iter(images.input_fn(request)()))


def test_cifar_is_read_from_its_binary_files(cifar):
    images = open_images(str(cifar))
    assert (images.name, images.sizes) == ("cifar10", {"train": 50, "test": 10})
    pixels, labels = first_batch(images, InputRequest("test", False, 10))
    assert labels.numpy().tolist() == list(range(10))
    np.testing.assert_allclose(pixels[3, 5, 5] * 64.2 + 120.7, [60, 0, 0], atol=1e-3)
    pixels, labels = first_batch(images, InputRequest("train", True, 16, seed=1))
    assert pixels.shape == (16, 32, 32, 3)
    assert len(set(labels.numpy())) > 1


def test_only_the_first_examples(cifar):
    images = open_images(str(cifar))
    _, labels = first_batch(images, InputRequest("train", True, 8, first=3))
    assert labels.numpy().tolist() == [0, 1, 2, 0, 1, 2, 0, 1]


def test_a_damaged_or_missing_file_of_cifar_is_named(cifar):
    path = cifar / "cifar-10-batches-bin" / "data_batch_3.bin"
    path.write_bytes(b"x" * 100)
    with pytest.raises(UserError, match=r"data_batch_3.bin: damaged: 100 bytes, want a multiple"):
        open_images(str(cifar))
    path.unlink()
    with pytest.raises(UserError, match=r"data_batch_3.bin: missing"):
        open_images(str(cifar))


def test_imagenet_is_read_from_its_records(tmp_path):
    """Labels of the records go from 1 to 1,000, those of the model from 0."""
    for name in ("train-00000-of-00001", "validation-00000-of-00001"):
        write_imagenet(tmp_path / name, [1, 1000])
    images = open_images(str(tmp_path))
    assert (images.name, images.sizes, images.depth) == ("imagenet", {"train": 2, "test": 2}, 50)
    pixels, labels = first_batch(images, InputRequest("test", False, 2))
    assert labels.numpy().tolist() == [0, 999]
    assert pixels.shape == (2, 224, 224, 3)
    assert pixels[0, 112, 0, 0] < -2  # the left half is black, the right one white
    assert pixels[0, 112, 223, 0] > 2
    pixels, _ = first_batch(images, InputRequest("train", True, 2, seed=1))
    assert pixels.shape == (2, 224, 224, 3)


def test_damaged_images_of_imagenet_are_left_out_if_asked(tmp_path):
    for name in ("train-00000-of-00001", "validation-00000-of-00001"):
        write_imagenet(tmp_path / name, [1, 7, 1000])
    cut_image(tmp_path / "train-00000-of-00001", 1, "image/encoded")
    with pytest.raises(UserError, match=r"byte \d+: record 1: .* Damaged image\."):
        open_images(str(tmp_path))
    images = open_images(str(tmp_path), skip_bad=True)
    assert images.sizes == {"train": 2, "test": 3}
    assert images.left_out == (f"{tmp_path}/train-00000-of-00001: record 1",)
    _, labels = first_batch(images, InputRequest("train", True, 4, seed=1))
    assert sorted(labels.numpy().tolist()) == [0, 0, 999, 999]


def test_the_digits_are_written_once(tmp_path):
    images = open_images(str(tmp_path))
    assert images.sizes == {"train": 1437, "test": 360}
    assert eb.records.check(f"{images.folder}/train", eb.records.Labels("label", 10)).is_good
    again = open_images(str(tmp_path))
    assert again.sizes == images.sizes


def test_each_image_is_shifted_by_its_own():
    dots = np.zeros([64, 5, 5, 1], np.float32)
    dots[:, 2, 2] = 1
    moved = shifted(tf.constant(dots), 1, seed=1).numpy()
    assert moved.shape == dots.shape
    places = {tuple(np.argwhere(one[..., 0])[0]) for one in moved}
    assert places == {(y, x) for y in (1, 2, 3) for x in (1, 2, 3)}
