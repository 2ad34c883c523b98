"""Credentials in environment variables are not shown."""

import json

import pytest

from estimator_bridge.base.redaction import redacted
from estimator_bridge.commands import doctor
from estimator_bridge.errors import AcceleratorNotFoundError
from estimator_bridge.model import RunConfig
from estimator_bridge.runtime import accelerators


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("grpc://user:hunter2@host:8470", "grpc://***@host:8470"),
        ("https://h/p?key=AIzaSyABCDEFGH&x=1", "https://h/p?key=***&x=1"),
        ("TPU_TOKEN=abc; path=/x", "TPU_TOKEN=***; path=/x"),
        ("Authorization: Bearer ya29.abcdefghijk", "Authorization: *** ***"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "***"),
        ("{'api_key': 'sdf', 'b': 2}", "{'api_key': '***', 'b': 2}"),
        # What is none stays.
        ("my-tpu", "my-tpu"),
        ("projects/p/locations/z/nodes/n", "projects/p/locations/z/nodes/n"),
        ("the key: a monkey=3", "the key: a monkey=3"),
        (
            "GOOGLE_APPLICATION_CREDENTIALS=/etc/key.json",
            "GOOGLE_APPLICATION_CREDENTIALS=/etc/key.json",
        ),
    ],
)
def test_what_is_left_of_a_text(text, shown):
    assert redacted(text) == shown


CLUSTER = {"chief": ["a:1"], "worker": ["b:1"]}
SECRET = {
    "cluster": CLUSTER,
    "service": {"auth_tokens": ["qwert1", "qwert2"], "url": "http://u:pw@h"},
}


def test_doctor_shows_no_credentials():
    lines = []
    environ = {"TF_CONFIG": json.dumps(SECRET), "TPU_NAME": "grpc://user:hunter2@host:8470"}
    doctor.examine(lines.append, environ)
    text = "\n".join(lines)
    assert "grpc://***@host:8470" in text
    assert '"worker": ["b:1"]' in text
    assert not [secret for secret in ("qwert", "u:pw", "hunter2") if secret in text]


@pytest.mark.parametrize("text", ['{"password": "hunter2", ', '["ghp_abcdefghijklmnop"]'])
def test_errors_about_tf_config_show_no_credentials(text, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError, match=r"TF_CONFIG must be") as raised:
        RunConfig()
    assert "***" in str(raised.value)
    assert "hunter2" not in str(raised.value)
    assert "abcdefghijklmnop" not in str(raised.value)
    assert raised.value.__cause__ is None  # it would hold the text


def test_errors_about_a_tpu_show_no_credentials(monkeypatch):
    monkeypatch.setattr(accelerators, "_PATIENCE", 0.3)
    with pytest.raises(AcceleratorNotFoundError) as raised:
        accelerators.check_reachable("grpc://user:hunter2@127.0.0.1:1")
    assert "hunter2" not in str(raised.value)
