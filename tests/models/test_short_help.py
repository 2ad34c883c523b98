"""`train.py --help` shows what matters on one screen or two, and ends before TensorFlow."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from models.common.registry import entry_of, model_names, own_flags

ROOT = Path(__file__).parents[2]


def run(*words):
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def shown(*words):
    """What train.py prints for words; it does not load TensorFlow."""
    program = (
        f"import runpy, sys\nsys.argv = ['train.py', *{list(words)!r}]\n"
        f"try:\n    runpy.run_path({str(ROOT / 'train.py')!r}, run_name='__main__')\n"
        "except SystemExit as end:\n    sys.exit(end.code or 'tensorflow' in sys.modules)\n"
    )
    done = run("-c", program)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("name", model_names())
def test_the_help_of_a_model_has_at_most_80_lines_with_its_flags_and_defaults(name):
    text = shown(f"--model={name}", "--help")
    lines = text.splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 80
    own = text.partition(f"Flags of --model={name}\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^  --(?:\[no\])?(\w+)", own, re.M)) == own_flags(name)
    for flag, value in entry_of(name).defaults.items():
        if flag in ("train_steps", "learning_rate", "train_batch_size"):
            assert f"--{flag}={value}" in text


def test_without_a_model_or_with_an_unknown_one_the_default_is_shown():
    text = shown("-h")
    assert text == shown("--help") == shown("--model", "nosuch", "-help")
    assert shown("--help", "--model", "gan") == shown("--model=gan", "--help")
    for name in model_names():
        assert re.search(rf"^  {name} ", text, re.M)
    for value in ("'auto'", "'local'", "'emulated:N'", "'gpu:N'"):
        assert value in " ".join(text.split())


def test_helpfull_has_all_flags():
    text = run(ROOT / "train.py", "--helpfull").stdout
    for name in model_names():
        for flag in own_flags(name):
            assert f"{flag}:" in text
