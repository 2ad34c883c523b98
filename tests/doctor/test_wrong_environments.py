"""Environments made wrong on purpose: the exit code and the advice of doctor.

Packages are folders with the files that doctor reads: records, and libraries with the symbols that
count. TensorFlow is a module that ends as the real one does in such an environment.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import packaging
import pytest

from estimator_bridge.commands.doctor.shared_libraries import functions_of, tpu_functions_called_by

ROOT = Path(__file__).resolve().parents[2]
GOOD = {"tensorflow-tpu": "2.20.0", "libtpu": "0.0.31", "tf-keras": "2.20.1", "keras": "3.15.1"}
LOADS = "class config:\n    list_physical_devices = staticmethod(lambda: [])\n"
ABORTS = (
    "import os, sys\n"
    "print('F0000 TpuCompiler_New not available in this library.', file=sys.stderr, flush=True)\n"
    "os.abort()\n"
)


def shared_library(*functions):
    """An ELF file whose table of dynamic symbols defines these functions."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name in functions:
        symbols += struct.pack("<IBBHQQ", names.index(name.encode()), 18, 0, 1, 0, 0)
    at_names = 64 + 3 * 64
    sections = struct.pack("<IIQQQQIIQQ", *[0] * 10)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, at_names, len(names), 0, 0, 1, 0)
    start = at_names + len(names)
    sections += struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, start, len(symbols), 1, 0, 8, 24)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, 3, 0)
    return header + sections + names + symbols


def calls(*functions):
    return b"".join(
        b"\0" + name.encode() + b" not available in this library.\0" for name in functions
    )


class Site:
    """A folder of installed packages."""

    def __init__(self, folder):
        self.folder = folder

    def install(self, name, version, files=(), requires=()):
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"]
        lines += [f"Requires-Dist: {text}\n" for text in requires]
        (info / "METADATA").write_text("".join(lines))
        record = []
        for file, content in dict(files).items():
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            record.append(f"{file},,{len(content)}\n")
        (info / "RECORD").write_text("".join(record))

    def tensorflow(self, name="tensorflow-tpu", version="2.20.0", source=LOADS, requires=()):
        text = calls("TpuCompiler_New", "TpuProgram_New") if name == "tensorflow-tpu" else b"cpu"
        files = {
            "tensorflow/__init__.py": source.encode(),
            "tensorflow/libtensorflow_cc.so.2": text,
        }
        self.install(name, version, files, requires)

    def libtpu(self, version="0.0.31", functions=("TpuCompiler_New", "TpuProgram_New")):
        library = shared_library(*functions)
        self.install("libtpu", version, {"libtpu/__init__.py": b"", "libtpu/libtpu.so": library})

    def python(self, *arguments, **environ):
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith(("TPU_", "COLAB_"))},
                "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}",
                **environ,
            },
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def doctor(self, **environ):
        done = self.python("-m", "estimator_bridge", "doctor", **environ)
        assert done.stderr == ""
        _, _, lines = done.stdout.partition("Run these lines, in this order\n")
        commands = re.findall(r"^  (pip .*|unset .*)$", lines, re.M)
        return done.returncode, done.stdout, commands


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path / "site")


def rest(site, *names):
    for name in names or ("tf-keras", "keras"):
        site.install(name, GOOD[name])


def test_the_pair_that_goes_together_is_ready(site):
    site.tensorflow()
    site.libtpu()
    rest(site)
    code, text, commands = site.doctor()
    assert (code, commands) == (0, [])
    assert text.splitlines()[-1].startswith("Ready: ")
    (stand_in,) = re.findall(r'run: pip install "(.*tensorflow_for_tpu)"', text)
    assert (Path(stand_in) / "pyproject.toml").is_file()


@pytest.mark.parametrize("version", ["0.0.13", "0.0.32", "0.0.52"])
def test_a_libtpu_of_another_release(site, version):
    site.tensorflow(source=ABORTS)
    site.libtpu(version, functions=["TpuCompiler_New"])
    rest(site)
    code, text, commands = site.doctor()
    assert code == 1
    problem = f"tensorflow-tpu 2.20.0 ends the process when it is imported with libtpu {version}"
    assert problem in text
    assert commands == ["pip install --no-deps libtpu==0.0.31"]
    done = site.python("-c", "import estimator_bridge")
    assert done.returncode == 1  # not -6: TensorFlow is not imported
    assert f"ImportError: {problem}" in done.stderr


def test_a_libtpu_without_a_function_whatever_its_release(site):
    site.tensorflow(source=ABORTS)
    site.libtpu(functions=["TpuCompiler_New"])
    rest(site)
    code, text, commands = site.doctor()
    assert code == 1
    assert "lacks 1 function(s) that it calls: TpuProgram_New" in text
    assert commands == ["pip install --force-reinstall --no-deps libtpu==0.0.31"]


def test_no_libtpu_is_a_note(site):
    site.tensorflow()
    rest(site)
    code, text, _ = site.doctor()
    assert code == 0
    assert "finds no TPU without libtpu. Run: pip install --no-deps libtpu==0.0.31" in text


@pytest.mark.parametrize("version", ["2.20.0", "2.21.0"])
def test_another_tensorflow_over_it(site, version):
    site.tensorflow()
    site.libtpu()
    rest(site)
    site.tensorflow("tensorflow", version)
    code, text, commands = site.doctor()
    assert code == 1
    assert "tensorflow-tpu 2.20.0" in text
    assert commands == [
        "pip uninstall -y tensorflow",
        "pip install --force-reinstall --no-deps tensorflow-tpu==2.20.0",
        "pip install --no-deps libtpu==0.0.31",
        'pip install --no-deps "tf-keras~=2.20.0"',
    ]


def test_files_that_were_removed_with_another_tensorflow(site):
    site.tensorflow()
    site.libtpu()
    rest(site)
    (site.folder / "tensorflow/libtensorflow_cc.so.2").unlink()
    code, text, commands = site.doctor()
    assert code == 1
    assert "tensorflow/libtensorflow_cc.so.2 is missing or another package's" in text
    assert commands[0] == "pip install --force-reinstall --no-deps tensorflow-tpu==2.20.0"


@pytest.mark.parametrize("tf_keras", [None, "2.21.0"])
def test_tf_keras_does_not_bring_tensorflow(site, tf_keras):
    site.tensorflow()
    site.libtpu()
    rest(site, "keras")
    if tf_keras:
        site.install("tf-keras", tf_keras)
    code, _, commands = site.doctor()
    assert (code, commands) == (1, ['pip install --no-deps "tf-keras~=2.20.0"'])


def test_the_stand_in_is_no_second_tensorflow(site):
    site.tensorflow()
    site.libtpu()
    rest(site)
    site.install("tensorflow", "2.20.0+tpu", requires=["tensorflow-tpu==2.20.0"])
    code, text, _ = site.doctor()
    assert code == 0
    assert "Problems\n  none\n" in text


def test_the_stand_in_without_tensorflow(site):
    rest(site)
    site.install("tensorflow", "2.20.0+tpu")
    code, text, commands = site.doctor()
    assert code == 1
    assert "stands for tensorflow-tpu, which is not installed" in text
    assert [command.rpartition("/")[2] for command in commands] == ['tensorflow_for_tpu"']


def test_two_keras(site):
    site.tensorflow("tensorflow", "2.20.0")
    rest(site)
    site.install("keras-nightly", "3.16.0.dev1")
    code, text, commands = site.doctor()
    assert code == 1
    assert "keras 3.15.1 and keras-nightly 3.16.0.dev1 overwrite each other's files" in text
    assert commands == [
        "pip uninstall -y keras-nightly keras",
        'pip install --no-deps "keras==3.15.1"',
    ]


def test_a_tensorflow_that_ends_its_process(site):
    site.tensorflow("tensorflow", "2.20.0", source=ABORTS)
    rest(site)
    code, text, commands = site.doctor()
    assert code == 1
    assert "the process ended by SIGABRT: F0000 TpuCompiler_New not available" in text
    assert commands == ["pip install --force-reinstall --no-deps tensorflow==2.20.0"]


def test_a_tensorflow_tpu_that_ends_its_process_is_installed_again_and_not_its_stand_in(site):
    site.tensorflow(source=ABORTS)
    site.libtpu()
    rest(site)
    site.install("tensorflow", "2.20.0+tpu")
    code, _, commands = site.doctor()
    assert code == 1
    assert commands == ["pip install --force-reinstall --no-deps tensorflow-tpu==2.20.0"]


def test_an_older_tensorflow_tpu_that_ends_its_process_is_replaced(site):
    """As 2.18.0 does with Python 3.9, whatever libtpu there is: to install it again is no help."""
    site.tensorflow(version="2.18.0", source=ABORTS)
    site.libtpu("0.0.2")
    site.install("tf-keras", "2.18.0")
    code, _, commands = site.doctor()
    assert code == 1
    assert commands[0].endswith('tensorflow_for_tpu"')
    assert commands[1:] == ['pip install "tf-keras~=2.20.0"']


def test_a_tensorflow_that_raises(site):
    site.tensorflow("tensorflow", "2.20.0", source="raise ImportError('undefined symbol: _ZN1')")
    rest(site)
    code, text, _ = site.doctor()
    assert code == 1
    assert "TensorFlow cannot be loaded: ImportError: undefined symbol: _ZN1" in text


def test_only_a_process_without_a_tpu_is_told_to_ask_no_server(site):
    site.tensorflow()
    site.libtpu()
    rest(site)
    program = "import estimator_bridge, os; print(os.environ.get('TPU_SKIP_MDS_QUERY'))"
    assert site.python("-c", program).stdout == "1\n"
    assert site.python("-c", program, TPU_NAME="local").stdout == "None\n"
    assert site.python("-c", program, TPU_SKIP_MDS_QUERY="0").stdout == "0\n"


def test_variables_of_a_chip_that_is_not_there_are_a_note(site):
    site.tensorflow()
    site.libtpu()
    rest(site)
    report = site.python(
        "-m",
        "estimator_bridge",
        "doctor",
        NEXT_PLUGGABLE_DEVICE_USE_C_API="true",
        PJRT_DEVICE="TPU",
    )
    assert report.returncode == 0
    command = "unset NEXT_PLUGGABLE_DEVICE_USE_C_API TF_PLUGGABLE_DEVICE_LIBRARY_PATH"
    assert f"ends as it starts the TPU. Run: {command}" in report.stdout
    assert "PJRT_DEVICE=TPU is read by PyTorch/XLA" in report.stdout


def test_faults_of_several_packages_are_repaired_in_one_go(site):
    site.tensorflow(requires=["protobuf>=5.28"])
    site.libtpu("0.0.52")
    site.install("protobuf", "3.20.3")
    shutil.copytree(Path(packaging.__file__).parent, site.folder / "packaging")
    rest(site, "keras")
    code, text, commands = site.doctor()
    assert code == 1 and text.endswith("Not ready: 3 problems to fix, as shown above.\n")
    assert commands == [
        "pip install --no-deps libtpu==0.0.31",
        'pip install --no-deps "tf-keras~=2.20.0"',
        'pip install "protobuf>=5.28"',
    ]


def test_a_package_that_is_recorded_twice(site):
    site.tensorflow()
    site.libtpu()
    rest(site)
    site.install("keras", "3.9.0")
    site.install("tensorflow", "2.20.0+tpu")
    site.install("tensorflow", "2.19.0+tpu")
    code, text, commands = site.doctor()
    assert code == 1
    assert "keras is recorded twice in one folder" in text
    assert commands[:3] == ["pip uninstall -y keras"] * 2 + ["pip install --no-deps keras==3.15.1"]
    assert commands[3:5] == ["pip uninstall -y tensorflow"] * 2
    assert commands[5].endswith('tensorflow_for_tpu"')  # no index has that release


def test_a_tensorflow_that_still_has_estimator_is_replaced(site):
    site.tensorflow("tensorflow-cpu", "2.15.1")
    code, text, commands = site.doctor()
    assert code == 1
    assert "tensorflow-cpu 2.15.1, which still has tf.estimator itself" in text
    assert commands == [
        "pip uninstall -y tensorflow-cpu",
        'pip install --upgrade "tensorflow<2.22" "tf-keras<2.22"',
    ]


def test_another_library_than_the_installed_libtpu(site, tmp_path):
    site.tensorflow(source=ABORTS)
    site.libtpu()
    rest(site)
    library = tmp_path / "libtpu.so"
    library.write_bytes(shared_library("TpuCompiler_New"))
    code, text, commands = site.doctor(TPU_LIBRARY_PATH=str(library))
    assert code == 1
    assert f"TPU_LIBRARY_PATH={library}, which lacks 1 function(s)" in text
    assert commands == ["unset TPU_LIBRARY_PATH", "pip install --no-deps libtpu==0.0.31"]


def test_pjrt_without_a_chip_that_ends_the_process_is_not_a_damaged_package(site):
    site.tensorflow(source=ABORTS)
    site.libtpu()
    rest(site)
    code, _, commands = site.doctor(NEXT_PLUGGABLE_DEVICE_USE_C_API="true")
    assert code == 1
    command = "unset NEXT_PLUGGABLE_DEVICE_USE_C_API TF_PLUGGABLE_DEVICE_LIBRARY_PATH"
    assert commands == [command]


def test_another_tensorflow_tpu_than_the_stand_ins_is_left(site):
    site.tensorflow(version="2.19.1")
    site.libtpu("0.0.10")
    site.install("tf-keras", "2.19.0")
    code, text, commands = site.doctor()
    assert (code, commands) == (0, [])
    assert (
        "with pip's --no-deps. The package that stands for tensorflow would replace 2.19.1" in text
    )


KERNELS = (
    "class List:\n    kernel = []\ndef get_registered_kernels_for_op(name):\n    return List\n"
)


def test_a_tensorflow_that_loads_without_the_kernels_of_tpus(site, tmp_path):
    """Its files have the recorded sizes; or another folder's TensorFlow is found first."""
    site.tensorflow(source=f"{LOADS}__file__ = __spec__.origin\n")
    site.libtpu()
    rest(site)
    for package in ("python", "python/framework"):
        (site.folder / "tensorflow" / package).mkdir()
        (site.folder / "tensorflow" / package / "__init__.py").touch()
    (site.folder / "tensorflow/python/framework/kernels.py").write_text(KERNELS)
    code, text, commands = site.doctor()
    assert code == 1
    file = site.folder / "tensorflow/__init__.py"
    assert f"the TensorFlow that is loaded has no support for TPUs: {file}." in text
    assert commands[0] == "pip install --force-reinstall --no-deps tensorflow-tpu==2.20.0"
    shutil.copytree(site.folder / "tensorflow", tmp_path / "first" / "tensorflow")
    path = os.pathsep.join([str(tmp_path / "first"), str(site.folder), str(ROOT)])
    code, text, commands = site.doctor(PYTHONPATH=path)
    assert (code, commands) == (1, [])
    assert f"Python finds it before {site.folder / 'tensorflow'}" in text


def test_functions_of_libraries(tmp_path):
    library = tmp_path / "library.so"
    library.write_bytes(shared_library("TpuCompiler_New", "TpuStatus_Ok"))
    assert functions_of(library) == {"TpuCompiler_New", "TpuStatus_Ok"}
    library.write_bytes(calls("TpuStatus_Ok", "TpuCompiler_New"))
    assert tpu_functions_called_by(library) == {"TpuCompiler_New", "TpuStatus_Ok"}
    for damaged in (b"MZ and so on", shared_library("TpuStatus_Ok")[:100]):
        library.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"library\.so is"):
            functions_of(library)
