import pytest
from absl import flags as absl_flags
from task_runs import parsed

from models.common.registry import define_model_flags, entry_of, model_names, own_values


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        parsed(*arguments)
    assert stopped.value.code == 2
    return capsys.readouterr().err


def test_every_folder_with_an_entry_is_a_model():
    assert model_names()[0] == "mnist"
    assert {"flowers", "resnet"} <= set(model_names())
    for name in model_names():
        assert entry_of(name).about


def test_a_model_has_its_own_defaults_and_given_flags_win():
    assert parsed().learning_rate == 3e-3
    assert parsed("--model=resnet").learning_rate == 0.1
    values = parsed("--model=resnet", "--learning_rate=0.5")
    assert (values.learning_rate, values.train_steps) == (0.5, 300)


def test_flags_of_another_model_are_refused(capsys):
    message = refused(capsys, "--label_smoothing=0.1")
    assert "--label_smoothing is a flag of --model=resnet, got --model=mnist" in message
    message = refused(capsys, "--model=resnet", "--backbone=xception")
    assert "--backbone is a flag of --model=flowers, got --model=resnet" in message


def test_an_unknown_model_is_refused_with_the_names(capsys):
    assert "value should be one of <mnist|" in refused(capsys, "--model=vgg")


def test_a_file_of_flags_has_none_of_another_model():
    values = {"model": "flowers", "backbone": "xception", "depth": 8, "train_steps": 3}
    assert own_values(values, "flowers") == {
        "model": "flowers", "backbone": "xception", "train_steps": 3
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model=resnet", "--api=keras"], "--api=keras with --model=resnet: it has estimator"),
        (["--model=resnet", "--depth=9"], "--depth=9: want one of 8, 14, 20"),
        (["--model=resnet", "--ema_decay=1"], "--ema_decay=1.0: want a number from 0 to below 1"),
        (["--model=resnet", "--weight_decay=-1"], "--weight_decay=-1.0: want a number from 0"),
        (["--model=resnet", "--warmup_steps=300"], "the rate would never reach --learning_rate"),
        (["--model=flowers", "--freeze_backbone"], "--freeze_backbone without --weights"),
        (["--model=flowers", "--image_size=16"], "want 32 to 1024 pixels for --backbone=mobile"),
        (["--model=flowers", "--width=0"], "--width=0.0: want a factor from 0.1 to 2"),
        (["--model=flowers", "--weights=w.h5", "--api=loop"], "--weights works with --api=est"),
    ],
)
def test_wrong_values_are_refused(capsys, arguments, message):
    assert message in refused(capsys, *arguments)


def test_the_help_lists_the_models():
    values = absl_flags.FlagValues()
    define_model_flags(values)
    assert "mnist: handwritten digits" in values["model"].help
    assert "resnet: a residual network" in values["model"].help
