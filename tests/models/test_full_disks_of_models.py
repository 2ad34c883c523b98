"""A disk that is full while train.py writes a file: the error names it, and no part is left."""

import contextlib
import os

import pytest
from train_here import train

from estimator_bridge.own_files import local_files

TINY = ("--nouse_tpu", "--mode=train", "--train_steps=1", "--train_batch_size=8")
REAL = local_files.temporary_beside


@pytest.fixture
def full_for(monkeypatch):
    """Writes to temporary files with an ending go to a device that fails as a full disk does."""

    def fail(ending):
        @contextlib.contextmanager
        def temporary_beside(path):
            if not path.endswith(ending):
                with REAL(path) as place:
                    yield place
                return
            place = f"{path}.full{ending}"
            os.symlink("/dev/full", place)
            try:
                yield place
            finally:
                os.unlink(place)

        monkeypatch.setattr(local_files, "temporary_beside", temporary_beside)

    return fail


@pytest.mark.parametrize(
    ("flags", "ending", "file"),
    [
        (("--model=bert", "--bert_size=nano", "--warmup_steps=0"), ".txt", "runs/data/text/bert/"),
        (("--model=tabular",), ".csv", "runs/data/wine/train.csv"),
        (("--model=tabular", "--model_dir=run"), ".yaml", "run/run.yaml"),
    ],
)
def test_the_file_is_named_and_nothing_is_left(tmp_path, full_for, flags, ending, file):
    full_for(ending)
    done = train(tmp_path, *TINY, *flags)
    assert done.code == 1
    assert f"The disk is full: [Errno 28] No space left on device. The file {file}" in done.err
    assert "was not written; existing files are unchanged. Free some space" in done.err
    assert "Traceback" not in done.err
    assert "step " not in done.out
    assert [path for path in tmp_path.rglob("*") if path.name.endswith(ending)] == []


def test_a_picture_that_does_not_fit(tmp_path, full_for):
    """The training before it stands, and the same command continues after it."""
    flags = ("--model=gan", "--nouse_tpu", "--train_steps=2", "--train_batch_size=8")
    full_for(".png")
    done = train(tmp_path, *flags, "--model_dir=run")
    assert done.code == 1
    assert "The file run/generated.png was not written" in done.err
    assert list(tmp_path.rglob("*.png")) == []
    assert (tmp_path / "run" / "model.ckpt-2.index").exists()
