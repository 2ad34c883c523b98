"""The supported versions, and the errors for others."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from estimator_bridge.base import compatibility
from estimator_bridge.base.compatibility import check_versions, installed_versions

supported = st.sampled_from(["2.16", "2.17", "2.18", "2.19", "2.20", "2.21"])
patch = st.integers(0, 9)


@given(supported, patch, patch)
def test_any_patch_releases_of_one_minor_version_go_together(minor, first, second):
    check_versions({"tensorflow": f"{minor}.{first}", "tf-keras": f"{minor}.{second}"})


@given(supported, supported, st.sampled_from(["tensorflow", "tensorflow-cpu", "tensorflow-tpu"]))
def test_different_minor_versions_are_named_with_the_command_that_mends_it(tf, keras, name):
    installed = {name: f"{tf}.1", "tf-keras": f"{keras}.0"}
    assume(tf != keras)
    with pytest.raises(ImportError) as caught:
        check_versions(installed)
    message = str(caught.value)
    assert f"found {name} {tf}.1 with tf-keras {keras}.0, wanted tf-keras {tf}." in message
    # With its requirements, tf-keras would bring tensorflow over the other one.
    only = " --no-deps" if name != "tensorflow" else ""
    assert f'pip install{only} "tf-keras~={tf}.0"' in message


def test_missing_tf_keras_is_named():
    with pytest.raises(ImportError, match=r'no tf-keras.*pip install "tf-keras~=2\.19\.0"'):
        check_versions({"tensorflow": "2.19.1"})


def test_missing_tensorflow_is_named(monkeypatch):
    monkeypatch.setattr(compatibility.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs TensorFlow 2\.16 to 2\.21, but found none"):
        check_versions({})


def test_tensorflow_that_still_has_estimator_is_refused():
    with pytest.raises(ImportError, match=r"tensorflow 2\.15\.1, which still has tf\.estimator"):
        check_versions({"tensorflow": "2.15.1", "tf-keras": "2.15.1"})


def test_two_tensorflows_of_different_versions_are_refused():
    with pytest.raises(ImportError, match=r"tensorflow 2\.21\.0, tensorflow-cpu 2\.20\.0"):
        check_versions({"tensorflow": "2.21.0", "tensorflow-cpu": "2.20.0", "tf-keras": "2.21.0"})


def test_newer_tensorflow_is_let_through_with_a_warning():
    with pytest.warns(UserWarning, match=r'found tensorflow 2\.22\.0.*"tensorflow<2\.22"'):
        check_versions({"tensorflow": "2.22.0", "tf-keras": "2.22.0"})


def test_installed_versions_are_found():
    versions = installed_versions()
    assert "tf-keras" in versions
    assert any(name.startswith(("tensorflow", "tf-nightly")) for name in versions)


def test_importing_the_library_beside_a_foreign_tf_keras_ends_with_our_message(tmp_path):
    foreign = tmp_path / "tf_keras-2.3.0.dist-info"
    foreign.mkdir()
    (foreign / "METADATA").write_text("Metadata-Version: 2.1\nName: tf_keras\nVersion: 2.3.0\n")
    root = str(Path(compatibility.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", "import estimator_bridge"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: estimator_bridge needs the tf-keras (Keras 2)")
    assert "tf-keras 2.3.0" in last


def test_the_check_loads_neither_tensorflow_nor_keras():
    code = (
        "import sys; from estimator_bridge.base.compatibility import check_versions; "
        "from estimator_bridge.base.legacy_keras import use_legacy_keras\n"
        "before = set(sys.modules); check_versions(); use_legacy_keras()\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "assert not new & {'tensorflow', 'keras', 'tf_keras', 'numpy'}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
