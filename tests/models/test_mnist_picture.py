import os

import numpy as np
import pytest
from matplotlib import image as image_file

from models.mnist.picture import draw_predictions


def is_coloured(path, red):
    pixels = image_file.imread(path)[..., :3]
    difference = pixels[..., 0] - pixels[..., 1]
    return bool((difference > 0.3).any() if red else (difference < -0.3).any())


@pytest.mark.parametrize(
    ("labels", "green", "red"), [([3, 4], True, False), ([5, 6], False, True), ([3, 6], True, True)]
)
def test_right_is_green_and_wrong_is_red(tmp_path, labels, green, red):
    path = str(tmp_path / "predictions.png")
    draw_predictions(path, np.zeros((2, 8, 8)), labels, [3, 4], [0.9, 0.4])
    assert (is_coloured(path, red=False), is_coloured(path, red=True)) == (green, red)
    record = ".estimator_bridge.predictions.png.wrote"  # shows whose picture it is
    assert sorted(os.listdir(tmp_path)) == [record, "predictions.png"]


def test_a_last_row_may_be_short(tmp_path):
    path = str(tmp_path / "p.png")
    draw_predictions(path, np.ones((13, 8, 8)), [1] * 13, [1] * 13, [1.0] * 13)
    assert image_file.imread(path).shape[1] > image_file.imread(path).shape[0]


def test_arguments_of_different_lengths_are_refused(tmp_path):
    with pytest.raises(ValueError, match="got 2, 1, 2, 2"):
        draw_predictions(str(tmp_path / "p.png"), np.zeros((2, 8, 8)), [1], [1, 2], [1.0, 1.0])
    with pytest.raises(ValueError, match="at least one"):
        draw_predictions(str(tmp_path / "p.png"), np.zeros((0, 8, 8)), [], [], [])
    assert os.listdir(tmp_path) == []


def test_a_failed_drawing_leaves_the_old_picture(tmp_path):
    path = tmp_path / "p.png"
    path.write_bytes(b"old")
    with pytest.raises(TypeError):
        draw_predictions(str(path), np.zeros((1, 8, 8, 7)), [1], [1], [1.0])
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["p.png"]
