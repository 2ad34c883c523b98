import pytest
from absl import flags as absl_flags

import flags


def parsed(*arguments):
    values = absl_flags.FlagValues()
    flags.define_flags(values)
    flags.parse_flags(["train.py", *arguments], values)
    return values


@pytest.mark.parametrize(
    ("scaling", "size", "expected"),
    [("none", 512, 0.1), ("linear", 512, 0.2), ("linear", 64, 0.025), ("sqrt", 1024, 0.2)],
)
def test_the_rate_follows_the_global_batch(scaling, size, expected):
    values = parsed("--learning_rate=0.1", f"--learning_rate_scaling={scaling}")
    assert flags.RateRule.of(values).for_batch(size) == pytest.approx(expected)


def test_a_size_per_core_sets_the_global_sizes_that_are_not_given():
    values = parsed("--batch_size_per_core=128", "--eval_batch_size=200", "--tpu=emulated:8")
    assert flags.resolve_batch_sizes(values, 8) is None
    sizes = (values.train_batch_size, values.eval_batch_size, values.predict_batch_size)
    assert sizes == (1024, 200, 1024)


def test_fewer_than_eight_on_a_core_is_worth_a_remark():
    values = parsed("--train_batch_size=32")
    assert "4 examples per core: a TPU pads them to 8" in flags.resolve_batch_sizes(values, 8)
    assert flags.resolve_batch_sizes(parsed("--train_batch_size=4", "--nouse_tpu"), 1) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--batch_size_per_core=8", "--train_batch_size=8"], "give one"),
        (["--batch_size_per_core=0"], "--batch_size_per_core=0: want a number of 1 or more"),
        (["--profile=5"], "--profile=5: want FROM:TO"),
        (["--profile=9:3"], "two steps from 1 on"),
        (["--profile=0:3"], "two steps from 1 on"),
        (["--overfit_batches=0"], "--overfit_batches=0: want a number of 1 or more"),
        (["--warmup_steps=-1"], "--warmup_steps=-1: want a number of steps"),
        (["--base_batch_size=0"], "--base_batch_size=0: want a number from 1"),
        (["--early_stopping_evals=2"], "only --mode=train_and_evaluate"),
        (["--dry_run", "--compile_only", "--compile_for=v5e-8"], "give one"),
    ],
)
def test_rules_that_contradict_are_refused(capsys, arguments, message):
    with pytest.raises(SystemExit):
        parsed(*arguments)
    assert message in capsys.readouterr().err


def test_a_stretch_of_steps_is_read():
    assert flags.profiled_steps(parsed("--profile=100:110")) == (100, 110)
    assert flags.profiled_steps(parsed()) is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], None),
        (["--xla"], "on"),
        (["--xla=true"], "on"),
        (["--xla=on"], "on"),
        (["--xla=ON"], "on"),
        (["--noxla"], "off"),
        (["--xla=false"], "off"),
        (["--xla=off"], "off"),
        (["--xla=auto"], "auto"),
    ],
)
def test_xla_is_on_off_or_measured_or_left_to_the_environment(arguments, expected):
    assert flags.rules.xla_choice(parsed(*arguments)) == expected


def test_another_word_for_xla_is_refused(capsys):
    with pytest.raises(SystemExit):
        parsed("--xla=yes")
    assert "want on or off (true or false), or auto; got 'yes'" in capsys.readouterr().err
