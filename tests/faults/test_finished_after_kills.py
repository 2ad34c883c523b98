"""The next training finishes the work that a kill interrupted, and does nothing twice."""

import json
import os
import shutil

import pytest
import tensorflow as tf
from small_training import examples, few_examples, make, receiver

import estimator_bridge as eb
from estimator_bridge.checkpoint import finish_deletion, note_deletion

v1 = tf.compat.v1
DATA = "data-00000-of-00001"


def steps_in(folder, tag="loss"):
    """All steps at which event files have a tag, also those that are there twice."""
    return sorted(
        event.step
        for file in folder.glob("*.tfevents.*")
        for event in v1.train.summary_iterator(str(file))
        for value in event.summary.value
        if value.tag == tag
    )


def test_summaries_are_on_the_disk_before_the_checkpoint_of_their_step(tmp_path):
    seen = {}

    class Looks(v1.train.CheckpointSaverListener):
        def before_save(self, session, step):
            seen[int(step)] = steps_in(tmp_path)

    make(tmp_path).train(examples, max_steps=6, saving_listeners=[Looks()])
    assert seen == {0: [], 2: [1, 2], 4: [1, 2, 3, 4], 6: [1, 2, 3, 4, 5, 6]}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model_dir of six steps, with checkpoints at 0, 2, 4 and 6."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    make(folder).train(examples, max_steps=6)
    return folder


@pytest.fixture
def model_dir(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "model")


@pytest.mark.parametrize("content", [b"", b"\0" * 50])
def test_a_first_checkpoint_that_was_cut_short_is_no_checkpoint(trained, tmp_path, content):
    """The saver's folder of shards is there until the index is whole."""
    shards = tmp_path / "model.ckpt-0_temp"
    shards.mkdir()
    (shards / "part-00000-of-00001.index").write_bytes(b"")
    (tmp_path / "model.ckpt-0.index").write_bytes(content)
    shutil.copy(trained / f"model.ckpt-0.{DATA}", tmp_path)
    estimator = make(tmp_path)
    assert estimator.latest_checkpoint() is None
    estimator.train(examples, max_steps=6)
    names = {path.name for path in tmp_path.glob("*ckpt*")}
    # Nothing shows who made the folder of shards, so it stays.
    assert names == {path.name for path in trained.glob("*ckpt*")} | {shards.name}
    shutil.rmtree(tmp_path / "eval", ignore_errors=True)


def test_a_damaged_checkpoint_without_that_folder_is_still_refused(trained, tmp_path):
    (tmp_path / "model.ckpt-0.index").write_bytes(b"")
    shutil.copy(trained / f"model.ckpt-0.{DATA}", tmp_path)
    with pytest.raises(eb.errors.CheckpointError, match=r"model\.ckpt-0 is damaged"):
        make(tmp_path).train(examples, max_steps=6)


def forget(model_dir, step):
    """Takes a checkpoint out of the file that names them, as a saver does before it deletes it."""
    state = model_dir / "checkpoint"
    lines = state.read_text().splitlines()
    state.write_text("\n".join(line for line in lines if f'-{step}"' not in line) + "\n")


def note_of(model_dir):
    """The note that a saver's process leaves which is killed before it deletes step 2."""
    with tf.Graph().as_default(), v1.Session():
        v1.get_variable("v", [], use_resource=True)
        saver = v1.train.Saver(max_to_keep=1)
        saver.set_last_checkpoints_with_time([(f"{model_dir}/model.ckpt-2", 1.0)])
        note_deletion(str(model_dir), saver, f"{model_dir}/model.ckpt-8")
    return (model_dir / ".estimator_bridge.deleting").read_text()


@pytest.mark.parametrize(
    ("cut", "forgotten", "stays"),
    [
        (None, True, False),
        (None, False, True),  # killed before it was to be deleted
        (30, True, True),  # the note itself was cut short
        (0, True, True),  # keep_checkpoint_every_n_hours keeps such ones
    ],
)
def test_an_old_checkpoint_that_was_being_deleted_is_deleted(model_dir, cut, forgotten, stays):
    note = note_of(model_dir)[:cut]
    (model_dir / ".estimator_bridge.deleting").unlink()
    if note:
        (model_dir / ".estimator_bridge.deleting").write_text(note)
    if forgotten:
        forget(model_dir, 2)
    make(model_dir).train(examples, max_steps=8)
    there = {path.name for path in model_dir.glob("*.ckpt-2.*")}
    assert there == ({f"model.ckpt-2.{end}" for end in (DATA, "index", "meta")} if stays else set())
    left = {path.name for path in model_dir.glob(".estimator_bridge*")}
    assert left == ({".estimator_bridge.deleting.set_aside-1"} if cut else set())
    assert (model_dir / "model.ckpt-4.index").exists()


@pytest.mark.parametrize("change", ["the note of 0.2.0", "another file"])
def test_a_checkpoint_that_cannot_be_shown_to_be_the_noted_one_stays(model_dir, change):
    note = note_of(model_dir)
    if change == "another file":  # copied back from elsewhere
        data = (model_dir / f"model.ckpt-2.{DATA}").read_bytes()
        (model_dir / f"model.ckpt-2.{DATA}").write_bytes(data)
    else:
        note = "model.ckpt-2\n"
    (model_dir / ".estimator_bridge.deleting").write_text(note)
    forget(model_dir, 2)
    finish_deletion(str(model_dir))
    assert (model_dir / f"model.ckpt-2.{DATA}").exists()


def test_without_the_file_that_names_them_nothing_is_deleted(model_dir):
    note_of(model_dir)
    (model_dir / "checkpoint").unlink()
    finish_deletion(str(model_dir))
    assert (model_dir / "model.ckpt-2.index").exists()


@pytest.mark.parametrize(("hours", "noted"), [(10000, ["model.ckpt-0"]), (1e-9, [])])
def test_what_a_saver_keeps_for_good_is_never_noted(tmp_path, hours, noted):
    seen = []

    class Looks(v1.train.CheckpointSaverListener):
        def before_save(self, session, step):
            note = tmp_path / ".estimator_bridge.deleting"
            seen.extend([json.loads(note.read_text())["checkpoint"]] if note.exists() else [])

    estimator = make(tmp_path, keep_checkpoint_max=2, keep_checkpoint_every_n_hours=hours)
    estimator.train(examples, max_steps=4, saving_listeners=[Looks()])
    assert seen == noted
    assert (tmp_path / "model.ckpt-0.index").exists() == (not noted)


def test_the_note_names_what_the_saver_deletes(tmp_path):
    """Whatever was saved before, and also where a step is saved again."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", [], initializer=v1.zeros_initializer(), use_resource=True)
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(max_to_keep=2)
        for step in (1, 2, 2, 3, 3, 1, 4):
            before = {path.stem for path in tmp_path.glob("*.index")}
            path = f"{tmp_path}/model.ckpt-{step}"
            note_deletion(str(tmp_path), saver, path)
            saver.save(session, path)
            gone = before - {path.stem for path in tmp_path.glob("*.index")}
            note = tmp_path / ".estimator_bridge.deleting"
            noted = {json.loads(note.read_text())["checkpoint"]} if note.exists() else set()
            assert noted == gone, step
            note.unlink(missing_ok=True)


class Killed(BaseException):
    """Nobody catches it."""


def exporters():
    return [
        eb.BestExporter("best", receiver, exports_to_keep=1),
        eb.LatestExporter("latest", receiver, exports_to_keep=1),
        eb.FinalExporter("final", receiver),
    ]


def run(folder, own_exporters=None):
    return eb.train_and_evaluate(
        make(folder),
        eb.TrainSpec(examples, max_steps=6),
        eb.EvalSpec(few_examples, None, exporters=own_exporters or exporters(), throttle_secs=0),
    )


def of_exports(folder):
    return {
        path.name: [
            int(tf.train.load_variable(f"{export}/variables/variables", "global_step"))
            for export in sorted(path.iterdir())
        ]
        for path in (folder / "export").iterdir()
    }


@pytest.mark.parametrize("step", [4, 6])
@pytest.mark.parametrize("where", ["evaluation", "summary", "export", "exported"])
def test_an_evaluation_that_was_cut_short_is_done_once(tmp_path, monkeypatch, caplog, where, step):
    """Killed before it, behind its summaries, in an export or behind it."""
    evaluate = eb.Estimator.evaluate
    own_exporters = exporters()
    export = own_exporters[1].export

    def evaluating(self, *args, **kwargs):
        is_it = str(kwargs["checkpoint_path"]).endswith(f"-{step}")
        if is_it and where == "evaluation":
            raise Killed
        results = evaluate(self, *args, **kwargs)
        if is_it and where == "summary":
            raise Killed
        return results

    def exporting(**kwargs):
        is_it = kwargs["eval_result"]["global_step"] == step
        if is_it and where == "export":
            raise Killed
        exported = export(**kwargs)
        if is_it and where == "exported":
            raise Killed
        return exported

    with monkeypatch.context() as patch:
        patch.setattr(eb.Estimator, "evaluate", evaluating)
        patch.setattr(own_exporters[1], "export", exporting)
        with pytest.raises(Killed):
            run(tmp_path, own_exporters)
    metrics, exports = run(tmp_path)
    assert metrics["global_step"] == 6
    assert [export and os.path.basename(os.path.dirname(export)) for export in exports][1:] == [
        b"latest",
        b"final",
    ]
    assert steps_in(tmp_path / "eval") == [2, 4, 6]
    assert of_exports(tmp_path) == {"best": [6], "latest": [6], "final": [6]}
    assert caplog.text.count("cut short") == 1
    assert not list(tmp_path.glob(".estimator_bridge*"))
    assert run(tmp_path) == (None, None)


def test_an_evaluation_that_was_throttled_is_not_done_later(tmp_path):
    """A restart evaluates only what was due."""

    class Dies(v1.train.SessionRunHook):
        def after_run(self, context, values):
            if context.session.run(v1.train.get_global_step()) == 5:
                raise Killed

    def throttled(*hooks):
        return eb.train_and_evaluate(
            make(tmp_path),
            eb.TrainSpec(examples, max_steps=8, hooks=hooks),
            eb.EvalSpec(few_examples, None, throttle_secs=1000),
        )

    with pytest.raises(Killed):
        throttled(Dies())
    assert steps_in(tmp_path / "eval") == [2]
    assert "due" not in (tmp_path / ".estimator_bridge.unfinished").read_text()
    throttled()
    assert steps_in(tmp_path / "eval") == [2, 6, 8]
