"""Tests that need libtpu, the TPU's own compiler: it exists for some machines and Pythons only."""

import platform
import sys

import pytest

needs_libtpu = pytest.mark.skipif(
    sys.version_info < (3, 11) or sys.platform != "linux" or platform.machine() != "x86_64",
    reason="libtpu's releases are for Linux on x86-64, and jax of that range for Python 3.11 on",
)
