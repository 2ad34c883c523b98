"""Each program runs on plain CPU and on two emulated cores."""

import pytest


@pytest.fixture(params=[False, True], ids=["cpu", "cores"])
def on_cores(request):
    """Whether the program requests a TPU, for which it gets two emulated cores."""
    return request.param
