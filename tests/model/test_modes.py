import pytest

from estimator_bridge.model.modes import MODES, ModeKeys, check_mode


def test_modes_are_the_strings_that_programs_compare_with():
    assert (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) == ("train", "eval", "infer")


def test_only_these_three_pass():
    assert [check_mode(mode, "Spec") for mode in MODES] == list(MODES)
    with pytest.raises(ValueError, match=r"mode of Spec must be one of .* got 'predict'"):
        check_mode("predict", "Spec")
