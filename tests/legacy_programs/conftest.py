"""Each program runs on plain CPU and on two emulated cores."""

import pytest


@pytest.fixture(params=[False, True], ids=["cpu", "cores"])
def on_cores(request):
    """Whether the program asks for a TPU, and two emulated cores are there for it."""
    return request.param
