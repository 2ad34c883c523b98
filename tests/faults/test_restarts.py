"""Damaged or incomplete states of a model_dir: the newest whole checkpoint is used."""

import os
import shutil
import threading

import numpy as np
import pytest
import tensorflow as tf
from small_training import examples, few_examples, make, receiver

import estimator_bridge as eb
from estimator_bridge.checkpoint import remove_leftovers
from estimator_bridge.errors import CheckpointError, ModelDirInUseError
from estimator_bridge.training import initialize

v1 = tf.compat.v1
DATA = "data-00000-of-00001"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model_dir of six steps, with checkpoints at 0, 2, 4 and 6."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    make(folder).train(examples, max_steps=6)
    return folder


@pytest.fixture
def model_dir(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "model")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The weights after eight steps that nobody disturbed."""
    estimator = make(tmp_path_factory.mktemp("whole") / "model")
    estimator.train(examples, max_steps=8)
    return estimator.get_variable_value("weights")


def flip_a_bit(path):
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 1
    path.write_bytes(contents)


def test_with_a_flipped_bit_the_checkpoint_before_it_counts(model_dir, whole, caplog):
    flip_a_bit(model_dir / f"model.ckpt-6.{DATA}")
    estimator = make(model_dir)
    assert estimator.evaluate(few_examples)["global_step"] == 4
    assert len(list(estimator.predict(few_examples))) == 2
    assert estimator.export_saved_model(str(model_dir / "export"), receiver)
    lines = [line for line in caplog.messages if f"taking {model_dir}/model.ckpt-4" in line]
    assert len(lines) == 3
    assert all(f"{model_dir}/model.ckpt-6 is damaged" in line for line in lines)
    estimator.train(examples, max_steps=8)
    np.testing.assert_array_equal(estimator.get_variable_value("weights"), whole)


def test_a_checkpoint_that_was_named_is_never_replaced_by_another(model_dir):
    flip_a_bit(model_dir / f"model.ckpt-6.{DATA}")
    path = str(model_dir / "model.ckpt-6")
    with pytest.raises(CheckpointError, match=r"model.ckpt-6 is damaged"):
        make(model_dir).evaluate(few_examples, checkpoint_path=path)


def test_with_bits_flipped_in_all_of_them_nothing_begins_anew(model_dir):
    for path in model_dir.glob(f"*.{DATA}"):
        flip_a_bit(path)
    with pytest.raises(CheckpointError, match="is damaged"):
        make(model_dir).train(examples, max_steps=8)


@pytest.mark.parametrize("ending", ["index", DATA])
def test_a_refused_folder_is_left_as_it_is(model_dir, ending):
    """It may be half of a copy that is still under way."""
    for path in model_dir.glob(f"model.ckpt-*.{ending}"):
        path.unlink()
    before = sorted(path.name for path in model_dir.iterdir())
    with pytest.raises(CheckpointError, match="Restore the files from a backup"):
        make(model_dir).train(examples, max_steps=8)
    assert sorted(path.name for path in model_dir.iterdir()) == before


def test_without_the_file_that_names_them_training_goes_on(model_dir, whole, caplog):
    (model_dir / "checkpoint").unlink()
    estimator = make(model_dir)
    assert estimator.evaluate(few_examples)["global_step"] == 6
    estimator.train(examples, max_steps=8)
    assert f"{model_dir}/checkpoint is not there; taking {model_dir}/model.ckpt-6" in caplog.text
    np.testing.assert_array_equal(estimator.get_variable_value("weights"), whole)


@pytest.mark.parametrize("call", ["evaluate", "predict", "export"])
def test_a_checkpoint_deleted_while_it_is_read_is_replaced_by_the_newest(
    model_dir, monkeypatch, call, caplog
):
    """A training beside it deletes the checkpoint between the look for it and its reading."""
    seen = []

    def deleted(path, *args):
        seen.append(path)
        if len(seen) == 1:
            for file in model_dir.glob("model.ckpt-6.*"):
                file.unlink()
            for file in model_dir.glob("model.ckpt-4.*"):
                shutil.copy(file, str(file).replace("ckpt-4", "ckpt-8"))
            names = "\n".join(f'all_model_checkpoint_paths: "model.ckpt-{n}"' for n in (4, 8))
            (model_dir / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-8"\n{names}')
        return checked(path, *args)

    module = eb.export.variable_values if call == "export" else initialize
    checked = module.check_checkpoint
    monkeypatch.setattr(module, "check_checkpoint", deleted)
    estimator = make(model_dir)
    if call == "evaluate":
        assert estimator.evaluate(few_examples)["global_step"] == 4
    elif call == "predict":
        assert len(list(estimator.predict(few_examples))) == 2
    else:
        estimator.export_saved_model(str(model_dir / "export"), receiver)
    assert [os.path.basename(path) for path in seen] == ["model.ckpt-6", "model.ckpt-8"]
    assert f"taking {model_dir}/model.ckpt-8" in caplog.text


def test_the_last_save_that_was_cut_short_is_finished(model_dir, trained, caplog):
    (model_dir / "model.ckpt-6.meta").unlink()
    estimator = make(model_dir)
    estimator.train(examples, max_steps=6)
    assert "model.ckpt-6, was cut short" in caplog.text
    assert "made no steps" not in caplog.text
    there = {path.name for path in model_dir.glob("*ckpt*")}
    assert there == {path.name for path in trained.glob("*ckpt*")}
    caplog.clear()
    estimator.train(examples, max_steps=6)
    assert "cut short" not in caplog.text


def test_train_and_evaluate_finishes_what_was_cut_short(model_dir, caplog):
    exporters = [eb.FinalExporter("final", receiver), eb.LatestExporter("latest", receiver)]
    specs = (
        eb.TrainSpec(examples, max_steps=6),
        eb.EvalSpec(few_examples, steps=None, exporters=exporters),
    )

    def again():
        caplog.clear()
        return eb.train_and_evaluate(make(model_dir), *specs)

    assert again() == (None, None)  # train() alone has trained it, as in the original
    specs = (eb.TrainSpec(examples, max_steps=8), specs[1])

    class Killed(eb.LatestExporter):
        def export(self, *args, **kwargs):
            raise KeyboardInterrupt  # between the last checkpoint's evaluation and an export

    exporters.append(Killed("killed", receiver))
    specs = (specs[0], specs[1]._replace(exporters=exporters))
    with pytest.raises(KeyboardInterrupt):
        again()
    exporters.pop()
    specs = (specs[0], specs[1]._replace(exporters=exporters))
    shutil.rmtree(model_dir / "export")
    metrics, exports = again()
    assert metrics["global_step"] == 8
    assert len(exports) == 2
    assert len(list((model_dir / "export" / "final").iterdir())) == 1
    assert "its last evaluation or export was cut short" in caplog.text
    assert not list(model_dir.glob(".estimator_bridge*"))
    assert again() == (None, None)


def test_files_of_others_that_look_like_leftovers_stay(model_dir):
    names = {
        "mine.meta", "notes.ckpt", "pretrained.data-00000-of-00001", "best.ckpt-1.index",
        ".estimator_bridge-" + "0f" * 16, "model.ckpt-7.meta", f"model.ckpt-7.{DATA}",
        f"input.ckpt-7.{DATA}", "input_worker_1.ckpt-7.data-00000-of-00002", "checkpoint_input.new",
    }  # fmt: skip
    before = {path.name for path in model_dir.iterdir()}
    for name in names:
        (model_dir / name).write_text("mine")
    remove_leftovers(str(model_dir))
    after = {path.name for path in model_dir.iterdir()}
    assert after == before | names | {".estimator_bridge.mentioned"}


def test_what_killed_exports_left_is_removed_by_the_next_one(model_dir):
    base = model_dir / "export"
    estimator = make(model_dir)
    left = {}

    def killed(*args):
        left["folder"] = os.path.basename(next(iter(base.glob("temp-*"))))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimator.export_saved_model(str(base), killed)
    parts = left["folder"].split("-")
    assert parts[3] == str(os.getpid())
    dead = "-".join([*parts[:3], str(2**22 + 1), parts[4]])
    # Another machine may be writing them: a clock does not show that it is dead.
    old = "-".join(["temp", "1500000000", "0" * 8, *parts[3:]])
    others = "-".join([*parts[:2], "0" * 8, *parts[3:]])
    for name in (dead, old, others, left["folder"], "temp-of-mine"):
        (base / name).mkdir(parents=True)
        (base / name / f".estimator_bridge.owner-{parts[4]}").write_text("")
    mine = "temp-1500000000-00000000-7-abcd"  # of no record
    (base / mine).mkdir()
    estimator.export_saved_model(str(base), receiver)
    stay = {old, others, left["folder"], "temp-of-mine", mine}
    assert {p.name for p in base.glob("temp-*")} == stay


def test_two_trainings_in_one_folder_are_refused(model_dir):
    """From another thread, as a second process costs seconds: test_lock.py has that."""
    outcome = []

    class Second(v1.train.SessionRunHook):
        def begin(self):
            thread = threading.Thread(target=self.train)
            thread.start()
            thread.join(60)

        def train(self):
            try:
                make(model_dir).train(examples, steps=1)
            except ModelDirInUseError as error:
                outcome.append(str(error))

    estimator = make(model_dir)
    estimator.train(examples, max_steps=8, hooks=[Second()])
    assert len(outcome) == 1
    assert f"{str(model_dir)!r} is being trained into by process {os.getpid()}" in outcome[0]
    assert estimator.evaluate(few_examples)["global_step"] == 8
    assert not list(model_dir.glob(".estimator_bridge*"))
