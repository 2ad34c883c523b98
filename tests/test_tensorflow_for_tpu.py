"""The package that stands for `tensorflow` beside tensorflow-tpu installs, without files."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

from packaging.specifiers import SpecifierSet

from estimator_bridge.base.compatibility import OLDEST_TENSORFLOW
from estimator_bridge.base.tpu_wheels import STAND_IN, is_stand_in, libtpu_command
from estimator_bridge.tensorflow_for_tpu import wheel_without_files

ROOT = Path(__file__).resolve().parents[1]


def test_pip_installs_it_without_an_index(tmp_path):
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, f"--target={tmp_path}", str(STAND_IN)],
        check=True,
        timeout=300,
    )
    (installed,) = importlib.metadata.distributions(path=[str(tmp_path)])
    assert installed.metadata["Name"] == "tensorflow"
    assert is_stand_in(installed.version)
    real = installed.version.partition("+")[0]
    assert tuple(map(int, real.split(".")[:2])) >= OLDEST_TENSORFLOW
    newer, older = (libtpu_command(real, python).split()[-1] for python in [(3, 11), (3, 10)])
    assert newer != older  # the newer one has no wheel for Python 3.9
    assert installed.requires == [
        f"tensorflow-tpu=={real}",
        f'{newer}; python_version >= "3.11"',
        f'{older}; python_version < "3.11"',
    ]
    assert {path.parts[0] for path in installed.files} == {
        f"tensorflow-{installed.version}.dist-info"
    }
    assert not (STAND_IN / "build").exists()


def test_no_extra_asks_for_another_libtpu():
    """With jax[tpu], pip installed TensorFlow over tensorflow-tpu to get the libtpu of jax."""
    setup = re.sub(r"#.*", "", (ROOT / "setup.py").read_text(encoding="utf-8"))
    assert "jax[tpu]" not in setup
    (libtpu,) = re.findall(r'"libtpu([<>=][^;]*);', setup)
    assert SpecifierSet(libtpu).contains(wheel_without_files._LIBTPU)
