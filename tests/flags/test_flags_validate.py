import pytest
from absl import flags as absl_flags
from hypothesis import given
from hypothesis import strategies as st

import flags


def parsed(*arguments):
    values = absl_flags.FlagValues()
    flags.define_flags(values)
    values(["program", *arguments])
    return values


def problems(*arguments, num_replicas=None):
    with pytest.raises(flags.FlagsError) as error:
        flags.check_flags(parsed(*arguments), num_replicas)
    return error.value.problems


def test_everything_wrong_is_listed_at_once():
    messages = problems(
        "--tpu=emulated:8",
        "--num_shards=4",
        "--train_batch_size=100",
        "--train_steps=0",
        "--learning_rate=nan",
        "--model_dir=",
    )
    text = "\n".join(messages)
    assert len(messages) == 5
    assert "train batch size 100 must be divisible by number of replicas 8; use 96 or 104" in text
    assert "--train_steps=0: want a number of 1 or more" in text
    assert "--learning_rate=nan" in text
    assert "--num_shards=4 with --tpu=emulated:8" in text
    assert "--model_dir=" in text


@pytest.mark.parametrize(
    "name",
    [
        "train_steps",
        "eval_steps",
        "train_batch_size",
        "eval_batch_size",
        "predict_batch_size",
        "save_checkpoints_steps",
        "iterations_per_loop",
        "num_shards",
    ],
)
@given(value=st.integers(max_value=0))
def test_counts_are_positive(name, value):
    assert any(f"--{name}={value}: want" in line for line in problems(f"--{name}={value}"))


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan"])
def test_learning_rate_is_positive_and_finite(value):
    assert "--learning_rate" in problems(f"--learning_rate={value}")[0]


@pytest.mark.parametrize(
    "tpu", ["emulated", "emulated:", "emulated:0", "emulated:x", "emulated:2:"]
)
def test_malformed_emulated_value(tpu):
    assert problems(f"--tpu={tpu}") == [
        f"--tpu={tpu}: want emulated:N with N from 1 to 1024, as in emulated:8"
    ]


@given(replicas=st.integers(1, 64), size=st.integers(1, 4096))
def test_batch_sizes_divide_over_the_replicas(replicas, size):
    values = parsed(
        f"--tpu=emulated:{replicas}",
        f"--train_batch_size={size}",
        f"--eval_batch_size={replicas}",
        f"--predict_batch_size={3 * replicas}",
    )
    if size % replicas == 0:
        flags.check_flags(values)
    else:
        with pytest.raises(flags.FlagsError, match=f"--train_batch_size={size}: .* {replicas};"):
            flags.check_flags(values)


def test_replicas_found_later_are_checked_too():
    values = parsed("--train_batch_size=12")
    flags.check_flags(values)
    flags.check_flags(values, num_replicas=4)
    assert "--train_batch_size=12" in problems("--train_batch_size=12", num_replicas=8)[0]


def test_without_tpu_any_batch_size_goes():
    flags.check_flags(parsed("--nouse_tpu", "--train_batch_size=13", "--tpu=emulated:8"))


def test_named_tpu_is_taken_without_asking_what_is_there():
    def unasked():
        raise AssertionError("a named TPU leaves no choice")

    chosen = flags.choose_accelerator(parsed("--tpu=my-tpu"), unasked)
    assert chosen == flags.Accelerator(use_tpu=True, tpu="my-tpu", num_replicas=None)


def test_auto_takes_the_tpu_that_is_there():
    chosen = flags.choose_accelerator(parsed(), lambda: True)
    assert chosen == flags.Accelerator(use_tpu=True, tpu=None, num_replicas=None)


@pytest.mark.parametrize(("arguments", "cores"), [([], 8), (["--num_shards=4"], 4)])
def test_auto_says_in_one_line_that_it_emulates(arguments, cores):
    chosen = flags.choose_accelerator(parsed(*arguments), lambda: False)
    assert (chosen.tpu, chosen.num_replicas) == (f"emulated:{cores}", cores)
    assert chosen.notice is not None
    assert f"{cores} emulated CPU cores" in chosen.notice
    assert "\n" not in chosen.notice


def test_emulated_is_asked_for_and_needs_no_notice():
    chosen = flags.choose_accelerator(parsed("--tpu=emulated:2"), lambda: True)
    assert chosen == flags.Accelerator(use_tpu=True, tpu="emulated:2", num_replicas=2)


def test_nouse_tpu_runs_one_replica_whatever_is_there():
    chosen = flags.choose_accelerator(parsed("--nouse_tpu"), lambda: True)
    assert chosen == flags.Accelerator(use_tpu=False, tpu=None, num_replicas=1)


def test_every_mode_has_phases_in_order():
    order = ["train", "evaluate", "predict", "export"]
    values = parsed()
    for mode in values["mode"].parser.enum_values:
        phases = list(flags.phases(mode))
        assert phases
        alone = ["train_and_evaluate"]
        assert phases in ([phase for phase in order if phase in phases], alone)


@pytest.mark.parametrize(
    ("name", "most"),
    [("train_steps", 2**62), ("eval_steps", 2**62), ("train_batch_size", 2**31 - 1)],
)
def test_counts_that_no_tensor_can_hold(name, most):
    flags.check_flags(parsed(f"--{name}={most}", "--nouse_tpu"))
    (message,) = problems(f"--{name}={most + 1}", "--nouse_tpu")
    assert message == f"--{name}={most + 1}: want a number from 1 to {most}"


def test_a_number_of_thousands_of_digits_is_shown_in_part():
    (message,) = problems(f"--train_steps={'9' * 4000}")
    assert "999... (4000 digits): want a number from 1 to " in message
    assert len(message) < 150


@pytest.mark.parametrize("name", ["grace_secs", "watchdog_secs"])
@pytest.mark.parametrize("value", ["1e300", "inf", "nan", "-1"])
def test_times_that_no_timer_can_hold(name, value):
    (message,) = problems(f"--{name}={value}")
    assert "want a number of seconds, 0 or more" in message


@pytest.mark.parametrize("tpu", ["gpu:", "gpu:0", "gpu:x", "gpu:65", "gpu:1.5"])
def test_malformed_gpu_value(tpu):
    assert problems(f"--tpu={tpu}") == [f"--tpu={tpu}: want gpu:N with N from 1 to 64, as in gpu:2"]


def test_gpus_divide_a_batch_too():
    (message,) = problems("--tpu=gpu:3", "--eval_batch_size=63", "--predict_batch_size=63")
    assert "train batch size 64 must be divisible by number of replicas 3" in message


@pytest.mark.parametrize("name", ["model_dir", "data_dir", "export_dir"])
def test_folders_that_cannot_be_any(name, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert problems(f"--{name}={file}") == [f"--{name}={file}: want a folder, but this is a file"]
    (message,) = problems(f"--{name}={file}/below/it")
    assert message == f"--{name}={file}/below/it: want a folder, but {file} is a file"
    (message,) = problems(f"--{name}=run[1]")
    assert "TensorFlow treats [ and ] in a name as a pattern" in message
    assert "printable" in problems(f"--{name}=a\0b")[0]
    flags.check_flags(parsed(f"--{name}=gs://bucket/file", "--nouse_tpu"))
    flags.check_flags(parsed(f"--{name}={tmp_path}/new/folder", "--nouse_tpu"))
