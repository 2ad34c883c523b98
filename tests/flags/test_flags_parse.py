import os
import subprocess
import sys
from pathlib import Path

import pytest
from absl import flags as absl_flags

import flags


@pytest.fixture
def values():
    values = absl_flags.FlagValues()
    flags.define_flags(values)
    return values


def refusal(values, capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        flags.parse_flags(["train.py", *arguments], values)
    assert exit_.value.code == 2
    message = capsys.readouterr().err
    assert "Traceback" not in message
    return message


def test_defaults_are_valid(values):
    assert flags.parse_flags(["train.py"], values) == ["train.py"]
    assert values.use_tpu and values.tpu == "auto"


def test_flagfile_is_read_and_later_flags_win(values, tmp_path):
    file = tmp_path / "flags.txt"
    file.write_text("# a comment\n--train_steps=7\n--nouse_tpu\n--learning_rate=0.5\n")
    flags.parse_flags(["train.py", f"--flagfile={file}", "--learning_rate=0.25"], values)
    assert (values.train_steps, values.use_tpu, values.learning_rate) == (7, False, 0.25)


def test_missing_flagfile_is_named(values, capsys, tmp_path):
    assert "gone.txt" in refusal(values, capsys, f"--flagfile={tmp_path / 'gone.txt'}")


def test_unknown_flag_is_named_with_the_nearest(values, capsys):
    message = refusal(values, capsys, "--train_step=5")
    assert "Unknown command line flag 'train_step'" in message
    assert "train_steps" in message


def test_a_flagfile_that_is_no_text_is_named(values, capsys, tmp_path):
    file = tmp_path / "flags.bin"
    file.write_bytes(b"\xff\xfe\x00--train_steps=3")
    for arguments in ([f"--flagfile={file}"], ["--flagfile", str(file)]):
        message = refusal(values, capsys, *arguments)
        assert f"{file}: not a text file. Want one flag per line, such as --mode=train" in message


def test_a_flagfile_that_cannot_be_opened_says_why(values, capsys, tmp_path):
    message = refusal(values, capsys, f"--flagfile={tmp_path}")
    assert f"--flagfile={tmp_path}: cannot be read: Is a directory" in message
    message = refusal(values, capsys, f"--flagfile={tmp_path}/none")
    assert f"--flagfile={tmp_path}/none: cannot be read: No such file or directory" in message


def test_a_file_without_flags_does_not_fill_the_screen(values, capsys, tmp_path):
    file = tmp_path / "flags.txt"
    file.write_text("word " * 1000 + "\n" + "line\n" * 1000)
    message = refusal(values, capsys, f"--flagfile={file}")
    assert "'line': flags start with --, as in --mode=train" in message
    assert "and 996 more" in message
    assert len(message) < 1000


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--use_tpu=maybe", "flag --use_tpu=maybe: want true or false"),
        ("--train_steps=many", "flag --train_steps=many: want a whole number"),
        ("--learning_rate=much", "flag --learning_rate=much: want a number"),
        ("--train_steps", "Missing value"),
        ("--mode=tain", "export>. Did you mean train?"),
        ("--mode=xyz", "export>\n"),
        ("train", "--mode=train"),
    ],
)
def test_malformed_argument(values, capsys, argument, message):
    assert message in refusal(values, capsys, argument)


def test_importing_flags_does_not_import_tensorflow():
    check = "import flags, sys; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_flags_belong_to_the_program_that_defines_them(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import flags\nfrom absl import app\nflags.define_flags()\n"
        "app.run(lambda argv: None, flags_parser=flags.parse_flags)\n"
    )
    done = subprocess.run(
        [sys.executable, program, "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert "--[no]use_tpu" in done.stdout
    assert "--model_dir" in done.stdout


@pytest.mark.parametrize("words", [["--flagfile="], ["-flagfile="], ["--flagfile", ""]])
def test_a_flagfile_without_a_name_is_refused(values, capsys, words):
    """absl takes it for none: all flags would have their defaults."""
    message = refusal(values, capsys, *words)
    assert "--flagfile= is empty: name a file with one flag per line" in message


def test_a_very_long_name_is_refused_at_once(values, capsys, tmp_path):
    file = tmp_path / "flags.txt"
    file.write_text("--" + "x" * 5000)
    for argument in ("--" + "x" * 5000, f"--flagfile={file}"):
        assert "a flag's name of 5,002 characters" in refusal(values, capsys, argument)
