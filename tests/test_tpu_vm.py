"""The variables of a TPU VM: what is said about each chip, and about a machine without one."""

import pytest

from estimator_bridge.base.tpu_vm import advice_after_failure, tpu_vm_notes

TPU = {"tensorflow-tpu": "2.20.0"}
PJRT = {
    "NEXT_PLUGGABLE_DEVICE_USE_C_API": "true",
    "TF_PLUGGABLE_DEVICE_LIBRARY_PATH": "/lib/libtpu.so",
}


def notes(environ, chip, versions=TPU, files=("/lib/libtpu.so",)):
    return list(tpu_vm_notes(environ, chip, versions, exists=files.__contains__))


@pytest.mark.parametrize("chip", ["v5e", "v5p", "v6e"])
def test_chips_of_pjrt_are_told_their_variables(chip):
    (note,) = notes({}, chip)
    assert f"TensorFlow drives a {chip} by PJRT. Before the program starts, run: " in note
    commands = note.partition("run: ")[2].split(" && ")
    assert commands[0] == "export NEXT_PLUGGABLE_DEVICE_USE_C_API=true"
    assert commands[1].startswith("export TF_PLUGGABLE_DEVICE_LIBRARY_PATH=")
    assert commands[1].endswith("libtpu.so")
    assert notes({**PJRT, "TPU_NAME": "local"}, chip) == []


def test_a_library_that_is_not_there():
    (note,) = notes(PJRT, "v5e", files=())
    assert note.startswith("TF_PLUGGABLE_DEVICE_LIBRARY_PATH names no file, and ")
    assert "NEXT_PLUGGABLE_DEVICE_USE_C_API" not in note


@pytest.mark.parametrize("chip", ["v2 or v3", "v4", "of unknown kind"])
def test_other_chips_need_no_variables(chip):
    assert notes({}, chip) == []


def test_variables_without_a_chip_are_to_be_unset():
    (note,) = notes(PJRT, None)
    command = "unset NEXT_PLUGGABLE_DEVICE_USE_C_API TF_PLUGGABLE_DEVICE_LIBRARY_PATH"
    assert note.endswith(f"Run: {command}")
    assert notes({**PJRT, "NEXT_PLUGGABLE_DEVICE_USE_C_API": "0"}, None) == []


def test_a_tpu7x_and_a_tensorflow_without_tpus_are_told_of_jax():
    (note,) = notes({}, "tpu7x", {})
    assert "there is no TensorFlow" in note and "--runtime jax" in note
    (note,) = notes({}, "v5e", {"tensorflow": "2.21.0"})
    assert "no support for them. Run: pip install " in note and "jax[tpu]" in note


def test_a_cloud_name_on_a_tpu_vm():
    (note,) = notes({"TPU_NAME": "my-tpu"}, "v4")
    assert "TPU_NAME=my-tpu is a name of the Cloud API" in note
    assert notes({"TPU_NAME": "my-tpu", "TPU_WORKER_HOSTNAMES": "a,b"}, "v4") == []
    assert notes({"TPU_NAME": "grpc://10.0.0.2:8470"}, "v4") == []


def test_pjrt_device_is_not_tensorflows():
    (note,) = notes({"PJRT_DEVICE": "TPU"}, None)
    assert note.startswith("PJRT_DEVICE=TPU is read by PyTorch/XLA")


def test_a_library_path_that_names_no_file_hides_the_tpu():
    (note,) = notes({"TPU_LIBRARY_PATH": "/gone/libtpu.so"}, None)
    assert note.startswith("TPU_LIBRARY_PATH=/gone/libtpu.so names no file, so TensorFlow finds no")
    assert note.endswith("Run: unset TPU_LIBRARY_PATH")
    assert notes({"TPU_LIBRARY_PATH": "/lib/libtpu.so"}, None) == []


def test_a_failed_start_says_which_runtime_the_chip_has():
    text = advice_after_failure({}, "tpu7x", {"tensorflow": "2.21.0"}, "")
    assert "TPU7x, for which there is no TensorFlow. JAX runs the steps" in text
    text = advice_after_failure({}, None, {"tensorflow": "2.21.0"}, "")
    assert "does not support TPUs. tensorflow-tpu supports v2 to v6e: pip install " in text
    assert "name the TPU 'jax'" in text and text.endswith("\n")
    text = advice_after_failure({}, "v6e", TPU, "")
    assert "export NEXT_PLUGGABLE_DEVICE_USE_C_API=true" in text
    assert advice_after_failure({}, "v4", TPU, "Aborted") == ""


def test_a_failed_start_of_a_tensorflow_over_tensorflow_tpu_says_so():
    error = "No OpKernel ... Registered kernels:\n  <no registered kernels>"
    text = advice_after_failure({}, "v4", {**TPU, "tensorflow": "2.20.0"}, error)
    assert text.startswith("tensorflow-tpu 2.20.0 is installed, and the TensorFlow that was loaded")
    assert "`estimator-bridge doctor` prints" in text
