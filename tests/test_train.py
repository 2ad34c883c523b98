"""The main job from the command line, as a user starts it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from models.common.requirements import say_what_is_missing
from models.mnist.digits import split_digits

ROOT = Path(__file__).resolve().parent.parent
TINY = (
    "--tpu=emulated:2",
    "--tf_random_seed=1",
    "--iterations_per_loop=10",
    "--train_batch_size=32",
    "--eval_batch_size=100",
    "--predict_batch_size=16",
)


def train(folder, *arguments, **variables):
    """Runs train.py in a folder, without variables that would hide or add noise."""
    hidden = {"TF_CPP_MIN_LOG_LEVEL", "TF_USE_LEGACY_KERAS", "TF_CONFIG"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [sys.executable, str(ROOT / "train.py"), *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def failed(done, code):
    """The message of a run that was refused."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    done = train(folder, *TINY, "--train_steps=120")
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_run_shows_progress_a_table_and_nothing_else(trained):
    _, done = trained
    assert done.stderr == ""
    assert re.search(r"^step 120/120  loss \d+\.\d{4}  .* examples/s", done.stdout, re.M)
    accuracy = re.search(r"accuracy\W+(0\.\d{4})", done.stdout)
    assert accuracy is not None
    assert float(accuracy[1]) > 0.8  # a tenth would be chance
    assert "\x1b" not in done.stdout


def test_a_run_leaves_checkpoint_summaries_picture_and_export(trained):
    folder, _ = trained
    model_dir = folder / "runs" / "digits"
    assert (model_dir / "model.ckpt-120.index").exists()
    assert list(model_dir.glob("events.out.tfevents.*"))
    assert list((model_dir / "eval").glob("events.out.tfevents.*"))
    assert (model_dir / "predictions.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((model_dir / "export").glob("*/saved_model.pb"))) == 1


def test_the_export_reads_digits_of_whole_bytes(trained):
    import tensorflow as tf

    folder, _ = trained
    (export,) = (folder / "runs" / "digits" / "export").iterdir()
    serve = tf.saved_model.load(str(export)).signatures["serving_default"]
    images, labels = split_digits()["test"]
    predictions = serve(image=tf.constant(images))
    assert predictions["probabilities"].shape == (len(labels), 10)
    assert (predictions["class"].numpy() == labels).mean() > 0.8


def test_a_second_run_goes_on_and_a_third_has_nothing_to_do(trained):
    folder, _ = trained
    more = train(folder, *TINY, "--mode=train", "--train_steps=140", "--async_checkpoints")
    assert more.returncode == 0, more.stderr
    assert "already at step 120 of 140: resuming" in more.stdout
    assert "step 140/140" in more.stdout
    again = train(folder, *TINY, "--mode=train", "--train_steps=140")
    assert again.returncode == 0, again.stderr
    assert "already at step 140 of 140: nothing to train" in again.stdout


def test_nouse_tpu_runs_the_same_model_as_a_plain_estimator(tmp_path):
    done = train(
        tmp_path,
        "--nouse_tpu",
        "--train_steps=20",
        "--train_batch_size=13",
        "--mode=train_and_eval",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.search(r"global_step\W+20", done.stdout)
    assert "emulated" not in done.stdout


def test_wrong_flags_are_refused_before_tensorflow_is_imported(tmp_path):
    message = failed(train(tmp_path, "--tpu=emulated:8", "--train_batch_size=12"), 2)
    assert "divisible by number of replicas 8" in message
    assert "Unknown command line flag 'lr'" in failed(train(tmp_path, "--lr=1"), 2)
    assert "/etc/passwd: want a folder" in failed(train(tmp_path, "--data_dir=/etc/passwd"), 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("tf_config", "hint"),
    [
        ("{x", "TF_CONFIG is not JSON: "),
        ('{"task": {"type": "worker", "index": "first"}}', "has 'first' as the task's index"),
        ("[1]", "is a JSON array, not an object"),
    ],
)
def test_a_broken_tf_config_is_refused_at_once(tmp_path, tf_config, hint):
    message = failed(train(tmp_path, "--nouse_tpu", TF_CONFIG=tf_config), 1)
    assert hint in message
    assert "unset it" in message
    assert len(message.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_without_this_process_is_refused(tmp_path):
    cluster = '{"cluster": {"worker": ["host:1"]}}'
    message = failed(train(tmp_path, "--nouse_tpu", TF_CONFIG=cluster), 1)
    assert 'it must have one "chief" node. Given jobs' in message


def test_a_batch_that_no_memory_holds_is_refused(trained):
    message = failed(train(trained[0], *TINY, "--train_batch_size=800000000"), 1)
    assert "--train_batch_size=800000000: a batch of this size needs at least " in message
    assert "GiB of memory. Use at most" in message


def test_missing_packages_are_named_before_anything_starts(tmp_path):
    """In a Python without any package, from the repository's folder or from another one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    done = subprocess.run(
        [tmp_path / "bare" / "bin" / "python", ROOT / "train.py", "--use_tpu"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = failed(done, 1)
    assert errors.startswith(
        "train.py: absl-py, numpy, tensorflow, tf-keras, matplotlib, rich, scik"
    )
    assert "pip install -e '.[models]'" in errors
    assert "pip install 'estimator-bridge[models]'" in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("module", ["matplotlib", "sklearn", "rich"])
def test_each_package_of_the_extra_is_looked_for(module):
    messages = []
    assert say_what_is_missing(lambda name: None if name == module else object(), messages.append)
    package = {"sklearn": "scikit-learn"}.get(module, module)
    assert messages[0].startswith(f"train.py: {package} not installed here.")
    assert not say_what_is_missing(lambda name: object(), messages.append)


@pytest.mark.parametrize(
    ("versions", "has_step"),
    [
        ({"tensorflow-tpu": "2.20.0"}, True),
        ({"tensorflow-tpu": "2.20.0", "tensorflow": "2.20.0+tpu"}, False),
        ({"tensorflow": "2.21.0"}, False),
    ],
)
def test_the_line_for_missing_packages_leaves_tensorflow_tpu_in_place(versions, has_step):
    messages = []
    say_what_is_missing(
        lambda name: None if name == "rich" else object(), messages.append, versions.get
    )
    step = "pip install ./estimator_bridge/tensorflow_for_tpu && pip install -e '.[models]'"
    assert (step in messages[0]) == has_step
    assert len(messages) == 1


def test_a_named_tpu_that_is_not_there_is_not_replaced(tmp_path):
    done = train(tmp_path, "--tpu=no-such-tpu", "--train_steps=5")
    assert "'no-such-tpu'" in failed(done, 1)
    assert "step" not in done.stdout


def test_damaged_data_is_named(trained, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(trained[0] / "runs" / "data", data)
    shard = data / "digits" / "train-00002-of-00004.tfrecord"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:100] + b"?" + whole[101:])
    message = failed(train(tmp_path, *TINY, f"--data_dir={data}"), 1)
    assert f"{shard}: damaged TFRecord" in message


def test_damaged_data_is_named_before_tensorflow_is_needed(tmp_path):
    """In a process in which TensorFlow cannot be imported."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"):
        (data / f"{name}-ubyte").write_bytes(b"no digits")
    (tmp_path / "tensorflow.py").write_text("raise SystemExit('TensorFlow was imported')")
    done = train(tmp_path, *TINY, f"--data_dir={data}", PYTHONPATH=str(tmp_path))
    assert f"{data}/train-images-idx3-ubyte: not an IDX file of 3 dim" in failed(done, 1)


def test_an_unwritable_model_dir_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    message = failed(train(tmp_path, *TINY, "--model_dir=file/model"), 2)
    assert "--model_dir=file/model: want a folder, but file is a file" in message
    message = failed(train(tmp_path, *TINY, "--model_dir=/proc/model"), 1)
    assert "cannot write in /proc/model" in message
    assert "--model_dir=" in message


def test_evaluation_without_a_checkpoint_says_to_train_first(tmp_path):
    message = failed(train(tmp_path, *TINY, "--mode=eval"), 1)
    assert "no checkpoint to evaluate" in message
    assert "--mode=train" in message


def test_a_named_folder_without_a_checkpoint_is_refused_before_tensorflow_is_imported(tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise SystemExit('TensorFlow was imported')")
    arguments = ("--mode=predict", "--model_dir=nowhere")
    message = failed(train(tmp_path, *TINY, *arguments, PYTHONPATH=str(tmp_path)), 1)
    assert "nowhere: no checkpoint to predict with. Train first (--mode=train)" in message


@pytest.mark.parametrize(("api", "precision"), [("keras", "no"), ("loop", "")])
def test_the_other_ways_train_the_same_model(trained, tmp_path, api, precision):
    folder, _ = trained
    flags = (
        *TINY,
        f"--api={api}",
        f"--{precision}mixed_precision",
        f"--data_dir={folder / 'runs/data'}",
        "--model_dir=run",
    )
    flags += ("--save_checkpoints_steps=50", "--eval_batch_size=120")
    done = train(tmp_path, *flags, "--train_steps=60", "--mode=train")
    assert done.returncode == 0, done.stderr
    done = train(tmp_path, *flags, "--train_steps=120")
    assert done.returncode == 0, done.stderr
    assert "already at step 60 of 120: resuming" in done.stdout
    assert re.search(r"^step 120/120  loss \d+\.\d{4}  .* examples/s", done.stdout, re.M)
    accuracy = re.search(r"accuracy\W+(0\.\d{4})", done.stdout)
    assert accuracy is not None and float(accuracy[1]) > 0.85
    assert "top_2_accuracy" in done.stdout
    assert (tmp_path / "run/ckpt-120.index").exists()
    assert (tmp_path / "run/predictions.png").exists()
    assert list((tmp_path / "run/export").glob("*/saved_model.pb"))


def test_checkpoints_of_an_estimator_are_not_mixed_with_keras(trained):
    folder, _ = trained
    done = train(folder, *TINY, "--api=keras", "--train_steps=200", "--mode=train")
    assert "is a checkpoint of --api=estimator" in failed(done, 1)
    done = train(folder, "--api=loop", "--grace_secs=3")
    assert "--grace_secs works with --api=estimator only" in failed(done, 2)


def test_a_dry_run_shows_the_plan_and_leaves_the_folder_as_it_is(tmp_path):
    arguments = ("--dry_run", "--train_steps=600", "--learning_rate_scaling=linear")
    arguments = (*arguments, "--tpu=emulated:4")
    done = train(tmp_path, *TINY, *arguments, "--warmup_steps=20", "--model_dir=mine")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "Dry run: 2 steps each on 2 of the 4 cores, in a temporary folder." in lines
    assert "emulated:4, 4 replica(s)" in done.stdout
    assert lines.index("Dry run: training ...") < lines.index("Dry run: export ...")
    assert "Dry run: 2 steps of each mode ran. mine is as it was." in lines
    assert re.search(r"training .*600 steps, 13.4 epochs of 1,437 examples", done.stdout)
    assert "0.000375 (0.003 for 256 examples, scaled linear)" in done.stdout
    assert not (tmp_path / "mine").exists()


def test_train_and_evaluate_keeps_the_best_and_stops_early(tmp_path):
    """A rate that makes the model worse: the first evaluation stays the best one."""
    modes = ("--mode=train_and_evaluate", "--early_stopping_evals=1", "--nouse_tpu")
    steps = ("--train_steps=1000", "--save_checkpoints_steps=20", "--learning_rate=3")
    done = train(tmp_path, *TINY, *modes, *steps, "--model_dir=mine")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^Best of \d+ evaluations: step \d+, loss \d", done.stdout, re.M)
    assert re.search(r"^Stopped at step \d+ of 1,000: 1 evaluations without", done.stdout, re.M)
    assert list((tmp_path / "mine" / "export" / "best").iterdir())
    assert (tmp_path / "mine" / "report.html").exists()


def test_what_was_in_force_runs_again_and_few_batches_are_learned_by_heart(tmp_path):
    """With mixed precision and a profile: checks that the flags reach the training."""
    flags = ("--overfit_batches=2", "--mixed_precision", "--profile=21:30", "--warmup_steps=10")
    done = train(tmp_path, *TINY, *flags, "--train_steps=150", "--model_dir=mine")
    assert done.returncode == 0, done.stderr
    assert "accuracy       │ 1.0000" in done.stdout
    (trace,) = (tmp_path / "mine").glob("plugins/profile/*/*.xplane.pb")
    folder = trace.parent.relative_to(tmp_path)
    assert f"Profile of steps 21 to 30: {folder}\n" in done.stdout
    assert "tensorboard --logdir mine" in done.stdout
    written = (tmp_path / "mine" / "run.yaml").read_text()
    assert "overfit_batches: 2\n" in written
    again = train(tmp_path, "--config=mine/run.yaml", "--mode=evaluate")
    assert again.returncode == 0, again.stderr
    assert "accuracy       │ 1.0000" in again.stdout
    page = (tmp_path / "mine" / "report.html").read_text()
    assert "overfit_batches: 2" in page
    assert "data:image/png;base64," in page


def test_a_wrong_config_is_refused_before_tensorflow_is_imported(tmp_path):
    (tmp_path / "run.yaml").write_text("train_stepz: 3\nxla: [1]\n")
    done = train(tmp_path, "--config=run.yaml")
    message = failed(done, 2)
    assert "line 1: train_stepz: there is no such flag; did you mean train_steps?" in message
    assert "line 2: xla: got a list, want true, false or auto" in message
