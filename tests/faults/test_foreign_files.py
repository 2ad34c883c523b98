"""Files, folders and links of others in a model_dir stay during trainings, kills and exports."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import hypothesis
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from small_training import examples, make, receiver

import estimator_bridge as eb
from estimator_bridge.checkpoint import Positions
from parity.faults import foreign_entries, foreign_programs
from parity.faults.foreign_files import REFUSALS

LOCK = ".estimator_bridge.lock"


def paths(place, name, number, token):
    named = name.format(n=number, hex=token, hex9=token[:9], machine=token[:8])
    return f"{place}/{named}"


ENTRIES = st.builds(
    foreign_entries.Entry,
    path=st.builds(
        paths,
        st.sampled_from(foreign_entries.PLACES),
        st.sampled_from(foreign_entries.NAMES),
        st.sampled_from([*range(9), 47]),
        st.text("0123456789", min_size=32, max_size=32),
    ),
    kind=st.sampled_from(foreign_entries.KINDS),
    content=st.sampled_from(foreign_entries.TEXTS) | st.binary(min_size=1, max_size=60),
    mode=st.sampled_from(foreign_entries.MODES),
    target=st.sampled_from(foreign_entries.TARGETS),
)


def is_refusal(error):
    return not {kind.__name__ for kind in type(error).__mro__}.isdisjoint(REFUSALS)


@hypothesis.settings(
    max_examples=10,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[hypothesis.Phase.generate],  # to shrink takes minutes
)
@hypothesis.given(st.lists(ENTRIES, min_size=6, max_size=16), st.integers(1, 120), st.booleans())
def test_every_byte_of_others_is_there(entries, operation, has_exports):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        foreign_entries.create(root, entries)
        before = foreign_entries.contents(root)
        try:
            kill = foreign_programs.killed_after(operation)
            with contextlib.suppress(foreign_programs.Killed), kill:
                foreign_programs.train_first(f"{root}/model", has_exports)
            foreign_programs.continue_training(f"{root}/model", has_exports)
        except Exception as error:
            assert is_refusal(error), entries
        assert not foreign_entries.losses(before, foreign_entries.contents(root)), entries


@pytest.mark.parametrize("text", [b"my notes", b"[1, 2]", b'{"host": "x"'])
def test_a_file_with_the_locks_name_is_set_aside_unless_it_may_be_a_lock(tmp_path, text, caplog):
    (tmp_path / LOCK).write_bytes(text)
    make(tmp_path).train(examples, steps=1)
    aside = tmp_path / f"{LOCK}.set_aside-1"
    assert not (tmp_path / LOCK).exists()
    if text.startswith(b"{"):  # of a process that was killed while it wrote
        assert not aside.exists()
    else:
        assert aside.read_bytes() == text
        assert "it has the name of a training's lock, but is none" in caplog.text


@pytest.mark.parametrize("text", ["mine", ""])
def test_a_hard_link_with_the_locks_name_leaves_its_file_alone(tmp_path, text):
    mine = tmp_path / "mine"
    mine.write_text(text)
    (tmp_path / "model").mkdir()
    os.link(mine, tmp_path / "model" / LOCK)
    make(tmp_path / "model").train(examples, steps=1)
    assert mine.read_text() == text


def test_a_meta_file_without_an_index_is_set_aside(tmp_path):
    (tmp_path / "model.ckpt-2.meta").write_text("mine")
    estimator = make(tmp_path)
    estimator.train(examples, steps=2)
    assert (tmp_path / "model.ckpt-2.meta.set_aside-1").read_text() == "mine"
    with tf.Graph().as_default():
        assert tf.compat.v1.train.import_meta_graph(f"{tmp_path}/model.ckpt-2.meta")
    # Its own is replaced.
    estimator.train(examples, steps=2)
    assert len(list(tmp_path.glob("*.set_aside-*"))) == 1


def test_a_file_with_the_name_of_an_inputs_position_stays(tmp_path):
    for name in ("input.ckpt-2.index", "input.ckpt-0.index", "checkpoint_input"):
        (tmp_path / name).write_text(f"my {name}")
    estimator = make(tmp_path, keep_checkpoint_max=1)
    hooks = [eb.training.CheckpointInputPipelineHook(estimator)]
    estimator.train(examples, hooks=hooks, steps=6)
    for name in ("input.ckpt-2.index", "input.ckpt-0.index", "checkpoint_input"):
        assert (tmp_path / f"{name}.set_aside-1").read_text() == f"my {name}"
    assert Positions(str(tmp_path), "input", str(tmp_path / "model.ckpt")).steps() == [6]


def test_what_a_cut_removal_leaves_of_a_position_goes(tmp_path):
    """A kill between the removals of its files leaves the index, which shows whose it is."""
    estimator = make(tmp_path, keep_checkpoint_max=1)
    hooks = [eb.training.CheckpointInputPipelineHook(estimator)]
    estimator.train(examples, hooks=hooks, steps=6)
    shutil.copy(tmp_path / "input.ckpt-6.index", tmp_path / "input.ckpt-4.index")
    (tmp_path / "input.ckpt-3.index").write_text("mine")
    with open(tmp_path / "checkpoint_input", "a", encoding="utf-8") as file:
        for step in (3, 4):
            file.write(f'all_model_checkpoint_paths: "input.ckpt-{step}"\n')
    hooks = [eb.training.CheckpointInputPipelineHook(estimator)]
    estimator.train(examples, hooks=hooks, steps=2)
    names = {path.name for path in tmp_path.glob("input.ckpt-*")}
    assert "input.ckpt-4.index" not in names
    assert (tmp_path / "input.ckpt-3.index").read_text() == "mine"
    assert not (tmp_path / ".estimator_bridge.mentioned").exists()


def test_a_copied_record_does_not_show_who_wrote_an_export(tmp_path):
    def exported(times):
        exporter = eb.LatestExporter("kept", receiver, exports_to_keep=1)
        for number in range(times):
            exporter.export(estimator, str(tmp_path / "export"), None, {}, number == 0)

    estimator = make(tmp_path / "model").train(examples, steps=1)
    exported(1)
    (first,) = (tmp_path / "export").iterdir()
    alone, whole = (tmp_path / "export" / name for name in ("1500000001", "1500000002"))
    alone.mkdir()
    shutil.copy2(first / ".estimator_bridge.files", alone)
    shutil.copytree(first, whole)
    exported(2)
    assert (alone / ".estimator_bridge.files").exists()
    assert (whole / "saved_model.pb").exists()
    assert not first.exists()
    assert len(list((tmp_path / "export").glob("1*"))) == 3


def test_a_list_of_positions_does_not_show_who_wrote_them(tmp_path):
    (tmp_path / "checkpoint_input").write_text('all_model_checkpoint_paths: "input.ckpt-7"\n')
    (tmp_path / "input.ckpt-7.index").write_text("mine")
    estimator = make(tmp_path)
    hooks = [eb.training.CheckpointInputPipelineHook(estimator)]
    estimator.train(examples, hooks=hooks, steps=2)
    assert (tmp_path / "input.ckpt-7.index").read_text() == "mine"
