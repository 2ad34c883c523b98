"""Files, folders and links of others in a model_dir stay during a training and an export."""

import os
import random

import pytest
from small_training import examples, make, receiver

NAMES = [
    "results-{n}_temp", "model.ckpt-{n}_temp", "model.ckpt-9{n}.meta", "vgg.ckpt-{n}.meta",
    "vgg.ckpt-{n}.data-00000-of-00001", "model.ckpt-9{n}.data-00000-of-00001",
    "checkpoint.tmp{hex}", "vgg.ckpt-{n}.index.tempstate{n}", "graph.pbtxt.new",
    "checkpoint_input.new", "input.ckpt-9{n}.index", ".estimator_bridge-{hex}",
    ".estimator_bridge.staging-training-00000000-7-{hex}", "temp-15000000{n}{n}",
]  # fmt: skip
NOTES = [".estimator_bridge.deleting", ".estimator_bridge.unfinished"]


def fill(folder, outside, chance):
    for name in chance.sample(NAMES, 8):
        number, token = chance.randrange(10, 99), f"{chance.getrandbits(128):032x}"
        path = folder / name.format(n=number, hex=token)
        kind = chance.choice(["file", "folder", "link"])
        if kind == "folder":
            path.mkdir(parents=True)
            (path / "part-00000-of-00001").write_text(token)
        elif kind == "link":
            path.symlink_to(outside)
        else:
            path.write_text(token)


def contents(folder):
    return {
        os.path.join(place, name): os.readlink(path) if os.path.islink(path) else path.read_bytes()
        for place, folders, files in os.walk(folder)
        for name in [*files, *(f for f in folders if os.path.islink(os.path.join(place, f)))]
        for path in [folder.__class__(place, name)]
    }


@pytest.mark.parametrize("seed", range(5))
def test_every_byte_of_others_is_there(tmp_path, seed):
    chance = random.Random(seed)
    folder, outside = tmp_path / "model", tmp_path / "outside"
    (folder / "export").mkdir(parents=True)
    outside.mkdir()
    (outside / "mine").write_text("mine")
    fill(folder, outside, chance)
    fill(folder / "export", outside, chance)
    before = contents(tmp_path)
    (folder / chance.choice(NOTES)).write_bytes(chance.randbytes(20))
    estimator = make(folder)
    estimator.train(examples, max_steps=3)
    estimator.train(examples, max_steps=5)
    estimator.export_saved_model(str(folder / "export"), receiver)
    after = contents(tmp_path)
    assert {path: after.get(path) for path in before} == before
