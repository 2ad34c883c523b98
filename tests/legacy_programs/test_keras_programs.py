"""A Keras program of TF1 gives the same numbers on cores as plain Keras without."""

import numpy as np
from running_programs import numbers, run_program

NAMES = (
    *("loss", "val_loss", "near", "val_near", "acc", "val_acc", "function", "on_batch"),
    *("evaluated", "test_on_batch", "generator", "predicted", "on_batch_predicted"),
)


def test_keras_to_tpu_model_gives_what_plain_keras_gives(tmp_path):
    plain, cores = (tmp_path / name for name in ("plain", "cores"))
    for folder in (plain, cores):
        folder.mkdir()
    expected = run_program("keras_on_tpu.py", f"--model_dir={plain}")
    got = run_program("keras_on_tpu.py", "--use_tpu", f"--model_dir={cores}", on_cores=True)
    for name in NAMES:
        np.testing.assert_allclose(
            numbers(got.line(f"{name} ")),
            numbers(expected.line(f"{name} ")),
            atol=2e-3,
            err_msg=name,
        )
    for finished in (expected, got):
        assert finished.line("batches ") == "[0, 1, 2, 3]"
        for claim in ("same", "saved", "before_last_batch", "zero"):
            assert finished.line(f"{claim} ") == "True", claim
    assert list(cores.glob("events.*"))
    assert "2 emulated core(s)" in got.log
