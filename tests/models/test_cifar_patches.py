"""Photographs' patches in CIFAR-10's layout, and the ResNet for CIFAR-10 trained on them."""

import numpy as np
import pytest
from task_runs import TaskRun

from models.common.task import InputRequest
from models.flowers.patches import split_patches
from models.resnet.cifar_patches import main, write_cifar_patches
from models.resnet.data import open_images

TRAINED = (
    "--model=resnet",
    "--tf_random_seed=1",
    "--train_steps=30",
    "--eval_batch_size=104",
    "--warmup_steps=10",
    "--cross_replica_norm",
    "--ema_decay=0.9",
    "--iterations_per_loop=15",
)


@pytest.fixture(scope="module")
def patches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("patches")
    write_cifar_patches(str(folder))
    return folder


def test_the_reader_of_cifar_finds_the_patches(patches):
    images = open_images(str(patches))
    assert (images.name, images.shape, images.depth) == ("cifar10", (32, 32, 3), 20)
    assert images.sizes == {"train": 416, "test": 104}
    pixels, labels = next(iter(images.input_fn(InputRequest("test", False, 104))()))
    expected, classes = split_patches("photograph")["test"]
    np.testing.assert_array_equal(labels, classes)
    np.testing.assert_allclose(pixels * 64.2 + 120.7, expected, atol=1e-3)


def test_the_command_leaves_files_that_exist(tmp_path, capsys):
    folder = tmp_path / "new" / "patches"
    assert main([str(folder)]) == 0
    files = sorted(path.name for path in folder.iterdir())
    assert files == [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]
    assert f"{folder}: wrote data_batch_1.bin, " in capsys.readouterr().out
    (folder / "test_batch.bin").write_bytes(b"mine")
    assert main([str(folder)]) == 0
    assert "wrote nothing" in capsys.readouterr().out
    assert (folder / "test_batch.bin").read_bytes() == b"mine"


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file" / "patches")]) == 1
    assert f"{tmp_path}/file/patches" in capsys.readouterr().err


@pytest.mark.parametrize(("cores", "depth"), [(1, 20), (8, 8)])
def test_the_networks_for_cifar_reach_their_quality(patches, tmp_path, cores, depth):
    """Eight emulated cores take a minute to compile and run the deeper network."""
    flags = (f"--tpu=emulated:{cores}", f"--depth={depth}")
    run = TaskRun(*TRAINED, *flags, f"--data_dir={patches}", f"--model_dir={tmp_path}")
    result = run.train().evaluate()
    print(cores, result)
    assert result["accuracy"] > 0.85
