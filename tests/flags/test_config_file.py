import sys
import types

import pytest
from absl import flags as absl_flags

import flags


@pytest.fixture
def values():
    values = absl_flags.FlagValues()
    flags.define_flags(values)
    return values


def parse(values, tmp_path, text, *arguments):
    file = tmp_path / "run.yaml"
    file.write_text(text)
    flags.parse_flags(["train.py", f"--config={file}", *arguments], values)
    return values


def refusal(values, capsys, tmp_path, text, *arguments):
    with pytest.raises(SystemExit) as exit_:
        parse(values, tmp_path, text, *arguments)
    assert exit_.value.code == 2
    return capsys.readouterr().err


def test_a_file_sets_flags_and_the_command_line_wins(values, tmp_path):
    text = "train_steps: 7\nuse_tpu: false\nlearning_rate: 1e-3\ntpu: 'emulated:2'\n"
    parse(values, tmp_path, text, "--learning_rate=0.25")
    assert (values.train_steps, values.use_tpu, values.learning_rate) == (7, False, 0.25)
    assert values.tpu == "emulated:2"


@pytest.mark.parametrize("written", ["1e-3", "0.001", "1.0e-3"])
def test_a_rate_may_be_written_in_each_usual_way(values, tmp_path, written):
    assert parse(values, tmp_path, f"learning_rate: {written}\n").learning_rate == 0.001


def test_null_leaves_the_default(values, tmp_path):
    assert parse(values, tmp_path, "eval_steps: null\ntrain_steps:\n").train_steps == 1000


def test_an_unknown_key_is_named_with_the_nearest_and_its_line(values, capsys, tmp_path):
    message = refusal(values, capsys, tmp_path, "mode: train\ntrain_stepz: 5\n")
    assert (
        "run.yaml, line 2: train_stepz: there is no such flag; did you mean train_steps?" in message
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train_steps: many", "got many (a text), want a whole number"),
        ("train_steps: 1.5", "got 1.5 (a number), want a whole number"),
        ("train_steps: true", "got true (a truth value), want a whole number"),
        ("learning_rate: [1, 2]", "got a list, want a number"),
        ("learning_rate: fast", "got fast (a text), want a number"),
        ("xla: 3", "got 3 (a whole number), want true, false or auto"),
        ("dry_run: 3", "got 3 (a whole number), want true or false"),
        ("model_dir: {a: b}", "got a mapping, want a text"),
        ("model_dir: 2018", 'got 2018 (a whole number), want a text, such as model_dir: "2018"'),
        ("mode: yes", 'got yes (a truth value), want a text, such as mode: "yes"'),
    ],
)
def test_a_value_of_another_type_is_refused(values, capsys, tmp_path, line, message):
    assert message in refusal(values, capsys, tmp_path, line + "\n")


def test_all_problems_come_together(values, capsys, tmp_path):
    message = refusal(values, capsys, tmp_path, "xla: 3\ntrain_steps: 4\nnope: 1\ntrain_steps: 5\n")
    for part in ("line 1: xla", "line 3: nope", "line 4: train_steps: given twice, in line 2 too"):
        assert part in message


@pytest.mark.parametrize(
    ("text", "message"),
    [("- a\n- b\n", "want lines of `flag: value`"), ("a: [1\n", "not YAML"), ("a", "got a scalar")],
)
def test_a_file_that_is_no_mapping_is_refused(values, capsys, tmp_path, text, message):
    assert message in refusal(values, capsys, tmp_path, text)


def test_a_missing_file_and_an_empty_name_are_refused(values, capsys, tmp_path):
    for file, message in (("gone.yaml", "cannot be read: No such file"), ("", "is empty")):
        with pytest.raises(SystemExit):
            flags.parse_flags(["train.py", f"--config={file}"], values)
        assert message in capsys.readouterr().err


def test_an_alternative_on_the_command_line_replaces_the_files(values, tmp_path):
    text = "train_batch_size: 32\neval_batch_size: 64\n"
    parse(values, tmp_path, text, "--batch_size_per_core=16", "--tpu=emulated:2")
    flags.resolve_batch_sizes(values, 2)
    assert (values.train_batch_size, values.eval_batch_size) == (32, 32)


def test_what_was_in_force_runs_again(values, tmp_path):
    text = "train_steps: 7\ntpu: emulated:2\nbatch_size_per_core: 16\nprofile: '3:5'\n"
    parse(values, tmp_path, text, "--mode=train", "--dry_run")
    saved = flags.flags_in_force(values)
    flags.write_config(str(tmp_path / "again.yaml"), saved, "a comment")
    again = absl_flags.FlagValues()
    flags.define_flags(again)
    flags.parse_flags(["train.py", "--config", str(tmp_path / "again.yaml")], again)
    assert flags.flags_in_force(again) == saved
    assert not {"config", "dry_run", "train_batch_size"} & set(saved)
    assert (again.train_steps, again.profile, again.mode) == (7, "3:5", "train")


def test_flags_of_libraries_are_not_kept(values, tmp_path, monkeypatch):
    for name, folder in (("some_hub", "/lib/site-packages"), ("my_flags", "/lib/mine")):
        module = types.ModuleType(name)
        module.__file__ = f"{folder}/{name}.py"
        monkeypatch.setitem(sys.modules, name, module)
        source = f"def define(to, values): to.DEFINE_string('{name}_format', 'A', '', values)"
        exec(source, vars(module))
        module.define(absl_flags, values)
    parse(values, tmp_path, "train_steps: 7\n")
    saved = flags.flags_in_force(values)
    assert (saved["train_steps"], saved["my_flags_format"]) == (7, "A")
    assert "some_hub_format" not in saved
