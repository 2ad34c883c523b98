"""Texts that anybody may have written: names on terminals, deep files, aliases, secrets."""

import json
import os
from pathlib import Path

import pytest
from absl import flags as absl_flags
from hypothesis import given
from hypothesis import strategies as st
from processor_time import least_secs

from estimator_bridge.base.any_files import is_plain_name, open_bytes
from estimator_bridge.base.foreign_json import MOST_LEVELS, foreign_json
from estimator_bridge.base.redaction import redacted, redacted_arguments, redacted_lines
from estimator_bridge.base.terminal_text import printable, printable_text
from estimator_bridge.commands.cli import main
from estimator_bridge.errors import DataError
from estimator_bridge.prediction.output import opened
from estimator_bridge.weights import npz_file
from flags.config_file import with_config
from flags.validate import FlagsError


@given(st.text(st.characters(), max_size=40))
def test_printed_names_have_no_controls(name):
    shown = printable(name)
    assert not [c for c in shown if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066"]
    shown.encode()
    assert printable(shown) == shown
    assert printable_text("a\n\tb") == "a\n\tb"


def test_names_keep_their_letters():
    assert printable("dense/kernel ü 漢字 😀") == "dense/kernel ü 漢字 😀"
    assert printable("a\x1b[2J\nb\x9b\u202e") == r"a\x1b[2J\nb\x9b\u202e"


@given(st.recursive(st.integers() | st.text() | st.none() | st.booleans(), st.lists))
def test_json_is_read_as_python_reads_it(value):
    assert foreign_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, '{"a":' * 200_000, '{"a": 1, "a": 2}', "[NaN]", "[-Infinity]",
     '["' + "[" * 9**5,
     "[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), "9" * 100_000],
    ids=["deep", "deep objects", "twice", "nan", "infinity", "unfinished", "one too deep", "long"],
)  # fmt: skip
def test_json_with_traps_is_refused_at_once(text):
    def read():
        with pytest.raises(ValueError):
            foreign_json(text)

    assert least_secs(read) < 2


def test_brackets_in_strings_are_no_depth():
    text = json.dumps(["[" * 1000, {'"' * 9: "{" * 1000}])
    assert foreign_json(text) == json.loads(text)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "/a", "a/b", "a\\b", "C:a", "C:\\a", "a\0b", 3, None]
)
def test_names_that_lead_out_of_a_folder(name):
    assert not is_plain_name(name)
    assert is_plain_name("train-00000-of-00001.tfrecord")


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
def test_pipes_and_devices_are_refused_before_they_are_opened(tmp_path, make):
    make(tmp_path / "x")
    with pytest.raises(OSError, match="is a pipe or a device"):
        open_bytes(str(tmp_path / "x"))


DEEP = {
    "n.ipynb": '{"cells": ' + "[" * 100_000,
    "a.py": "a" + ".a" * 100_000,
    "b.py": "1" + "+1" * 100_000,
    "c.py": "-" * 100_000 + "1",
    "d.py": "(" * 100_000,
}


def test_one_deep_source_is_one_finding_and_the_others_are_checked(tmp_path, capsys):
    for name, text in DEEP.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "\x1b[2Jz.py").write_text("import tensorflow as tf\ntf.logging.info('x')\n")
    os.mkfifo(tmp_path / "p.py")
    assert main(["check", str(tmp_path)]) == 1
    output = capsys.readouterr().out
    for name in ["n.ipynb", "a.py", "b.py", "c.py", "d.py", "p.py"]:
        assert f"{name}: passed over:" in output
    assert r"\x1b[2Jz.py:1:8: `tf` is TensorFlow 1 here." in output
    assert "\x1b" not in output
    main(["check", "--verbose", str(tmp_path)])
    output = capsys.readouterr().out
    assert r"\x1b[2Jz.py:1:8: EB010" in output
    assert "\x1b" not in output
    assert "7 files" in output


def flag_values():
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_integer("steps", 1, "", flag_values=values)
    absl_flags.DEFINE_string("name", "", "", flag_values=values)
    values(["p"])
    return values


BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi")
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB + "? *i\n: 1\n", "the alias"),
        ("x: &x 1\ny: &x [*x]\nz: *x\n", "duplicate anchor"),
        ("? [a, b]\n: 1\n", "as a flag's name"),
        ("[" * 50_000, "nested more than"),
        ("name: " + "x" * 200_000, "characters"),
        ("steps: 1\nsteps: 2\n", "given twice"),
        ('"\\e[2J": 1\n', r"\\x1b\[2J: there is no such flag"),
    ],
    ids=["bomb as a key", "renamed anchor", "list as a key", "deep", "long", "twice", "escapes"],
)
def test_a_config_file_with_traps_is_refused_at_once(tmp_path, text, message):
    path = tmp_path / "run.yaml"
    path.write_text(text)

    def read():
        with pytest.raises(FlagsError, match=message):
            with_config(["p", f"--config={path}"], flag_values())

    assert least_secs(read) < 2


def test_an_alias_of_one_value_is_that_value(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("steps: &n 3\nname: *n\n")
    with pytest.raises(FlagsError, match="name: got 3"):
        with_config(["p", f"--config={path}"], flag_values())


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/x", "C:/x", "..\\x", "a\x1b[2J"])
def test_no_archive_gets_an_entry_that_leads_out_of_its_folder(name):
    with pytest.raises(DataError, match="outside of the folder"):
        npz_file.check_names(["dense/kernel", name])
    npz_file.check_names(["dense/kernel", "a..b/c"])


def test_predictions_have_no_controls(capsys):
    with opened(None) as write:
        write([{"text": "a\x1b[2J\x9b\u202e", "ü": "漢"}])
    shown = capsys.readouterr().out
    assert json.loads(shown) == {"text": "a\x1b[2J\x9b\u202e", "ü": "漢"}
    assert not {"\x1b", "\x9b", "\u202e"} & set(shown)
    assert "漢" in shown


SECRET = [
    "password",
    "db_pass",
    "passwd",
    "api_key",
    "token",
    "auth_token",
    "client_secret",
    "key",
    "dbPassword",
    "hf-token",
    "FOO_TOKEN",
    "pwd",
    "access_key",
    "AWS_SECRET_ACCESS_KEY",
]
PUBLIC = [
    "tokenizer",
    "num_tokens",
    "key_size",
    "monkey",
    "keep_checkpoint_max",
    "pad_token",
    "sort_key",
    "num_pass",
    "passes",
    "max_tokens",
    "token_type",
    "compass",
    "secretary",
    "signature",
    "author",
    "keyboard",
    "label_key",
    "tokens_per_batch",
]
VALUES = st.text(
    st.characters(min_codepoint=48, max_codepoint=122), min_size=3, max_size=20
).filter(lambda value: value.isalnum())


@given(st.sampled_from(SECRET), VALUES.map(lambda value: f"Qz{value}9"))
def test_secrets_are_masked_in_every_form(name, value):
    for words in ([f"--{name}", value], [f"--{name}={value}"], [f"--{name}", f"{value} {value}"]):
        assert value not in redacted_arguments(["prog.py", *words, "--steps=5"])
        assert "--steps=5" in redacted_arguments(["prog.py", *words, "--steps=5"])
    forms = [
        f"prog --{name} {value}", f"prog --{name}={value} --x=1", f"{{'{name}': '{value}'}}",
        json.dumps({"a": {name: value}}), f"https://h/p?{name}={value}&x=1",
    ]  # fmt: skip
    for text in forms:
        assert value not in redacted(text), text
    for text in (f"{name}: {value}\n", f"{name}:\n  - {value}\n", f"{name}: |\n  {value}\n"):
        assert value not in redacted_lines(text), text


@given(st.sampled_from(PUBLIC), VALUES.map(lambda value: f"Qz{value}9"))
def test_other_values_stay_readable(name, value):
    words = ["prog.py", f"--{name}={value}", f"--{name}", value]
    assert redacted_arguments(words) == " ".join(words)
    for text in (f"prog --{name} {value}", f"--{name}={value}", json.dumps({name: value})):
        assert redacted(text) == text
    assert redacted_lines(f"{name}: {value}\n") == f"{name}: {value}\n"


@pytest.mark.parametrize(
    "text",
    ["grpc://user:hunter2@host:8470", "https://u:hun/ter2@host/x", "Authorization: Bearer hunter2x",
     "AKIAhunter2hunter2", "AIzahunter2hunter2", "DB_PASS=hunter2", "password=hunter2;user=me"],
)  # fmt: skip
def test_credentials_by_their_look(text):
    assert "ter2" not in redacted(text)


def test_an_address_with_a_version_stays():
    text = "git+https://github.com/x/y@v1.0 http://host:80/a@v1 --data=/etc/x"
    assert redacted(text) == text


def test_each_package_that_is_installed_for_users_has_bounds():
    setup = Path(__file__).parents[2].joinpath("setup.py").read_text()
    for name in ("absl-py", "numpy", "tensorflow", "tf-keras", "matplotlib", "pyyaml", "rich",
                 "scikit-learn", "safetensors"):  # fmt: skip
        assert f'"{name}>=' in setup
