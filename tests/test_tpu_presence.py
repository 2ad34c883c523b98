"""Detects a TPU by environment variables, devices and device files."""

import pytest

from estimator_bridge.base.tpu_presence import (
    attached_chip,
    default_tpu_name,
    find_tpu,
    name_on_tpu_vm,
)


@pytest.mark.parametrize(
    ("environ", "devices", "files", "expected"),
    [
        ({}, ["CPU", "GPU"], [], None),
        ({}, ["CPU", "TPU"], [], "1 TPU core attached"),
        ({"TPU_NAME": "x"}, ["CPU"] + ["TPU"] * 8, [], "8 TPU cores attached"),
        ({"COLAB_TPU_ADDR": "10.0.0.2:8470"}, ["CPU"], [], "COLAB_TPU_ADDR=10.0.0.2:8470"),
        ({"TPU_NAME": ""}, ["CPU"], [], None),
        ({}, [], ["/dev/accel0"], "/dev/accel0"),
        ({}, [], ["/dev/accel3"], "/dev/accel3"),  # a container with one chip of four
        ({"TPU_NAME": "x"}, [], ["/dev/accel0"], "TPU_NAME=x"),
    ],
)
def test_find_tpu(environ, devices, files, expected):
    assert find_tpu(environ, devices, exists=files.__contains__) == expected


@pytest.mark.parametrize(
    ("vendor", "device", "expected"),
    [
        ("0x1ae0", "0x0063", "/dev/vfio/0"),
        ("0x1ae0", "0x0042", None),  # Google's network card
        ("0x10de", "0x2330", None),  # a GPU
        (None, None, "/dev/vfio/0"),  # a container without the bus
    ],
)
def test_a_device_below_vfio_is_a_tpu_if_the_bus_has_one(tmp_path, vendor, device, expected):
    bus = tmp_path / "devices"
    if vendor:
        (bus / "0000:00:05.0").mkdir(parents=True)
        (bus / "0000:00:05.0" / "vendor").write_text(f"{vendor}\n")
        (bus / "0000:00:05.0" / "device").write_text(f"{device}\n")
        (bus / "0000:00:06.0").mkdir()  # one that cannot be read
    assert find_tpu({}, exists=["/dev/vfio/0"].__contains__, pci_devices=str(bus)) == expected
    another = find_tpu({}, exists=["/dev/vfio/5"].__contains__, pci_devices=str(bus))
    assert another == (expected and "/dev/vfio/5")


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"TPU_NAME": "mine", "COLAB_TPU_ADDR": "10.0.0.2:8470"}, "mine"),
        ({"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "grpc://10.0.0.3:8470"}, "grpc://10.0.0.3:8470"),
        ({"COLAB_TPU_ADDR": "10.0.0.2:8470"}, "grpc://10.0.0.2:8470"),
        ({"COLAB_TPU_ADDR": "grpc://10.0.0.2:8470"}, "grpc://10.0.0.2:8470"),
        ({"TPU_ACCELERATOR_TYPE": "v5e-8"}, "local"),
        ({}, "local"),
    ],
)
def test_default_tpu_name(environ, name):
    assert default_tpu_name(environ) == name


@pytest.mark.parametrize(
    ("device", "kind", "expected"),
    [
        ("0x0063", "", "v5e"),
        ("0x006f", "v5litepod-8", "v6e"),  # the bus counts
        ("0x2330", "v5litepod-8", None),
        (None, "v5litepod-8", "v5e"),
        (None, "v6e-8", "v6e"),
        (None, "", "of unknown kind"),
    ],
)
def test_the_kind_of_the_chips(tmp_path, device, kind, expected):
    bus = tmp_path / "devices"
    if device:
        (bus / "0000:00:05.0").mkdir(parents=True)
        (bus / "0000:00:05.0" / "vendor").write_text("0x1ae0\n")
        (bus / "0000:00:05.0" / "device").write_text(f"{device}\n")
    environ = {"TPU_ACCELERATOR_TYPE": kind, "TPU_NAME": "mine"}
    chip = attached_chip(environ, exists=["/dev/vfio/0"].__contains__, pci_devices=str(bus))
    assert chip == expected
    assert attached_chip(environ, exists=[].__contains__) is None


@pytest.mark.parametrize(
    ("name", "environ", "has_chips", "expected"),
    [
        ("mine", {"TPU_NAME": "mine"}, True, "local"),
        ("mine", {"TPU_NAME": "mine"}, False, "mine"),
        ("other", {"TPU_NAME": "mine"}, True, "other"),
        ("mine", {"TPU_NAME": "mine", "TPU_WORKER_HOSTNAMES": "localhost"}, True, "local"),
        ("mine", {"TPU_NAME": "mine", "TPU_WORKER_HOSTNAMES": "a,b"}, True, "mine"),
        (
            "grpc://10.0.0.2:8470",
            {"TPU_NAME": "grpc://10.0.0.2:8470"},
            True,
            "grpc://10.0.0.2:8470",
        ),
    ],
)
def test_a_cloud_name_on_a_tpu_vm_is_the_machines_own_tpu(name, environ, has_chips, expected):
    assert name_on_tpu_vm(name, environ, has_chips) == expected
