"""A pytest fixture of emulated cores."""

from __future__ import annotations

import importlib
from typing import Any

from estimator_bridge.runtime import EmulatedClusterResolver, emulate_cores

__all__ = ["cores_fixture"]


def cores_fixture(*cores: int, scope: str = "function") -> Any:
    """Makes a pytest fixture that runs a test once for each number of emulated cores.

    Call it in conftest.py, since the cores must exist before TensorFlow runs anything::

        cores = estimator_bridge.testing.cores_fixture(1, 2, 8)

        def test_my_model(cores):
            config = eb.tpu.RunConfig(cluster=cores)

    Args:
      *cores: numbers of cores; 2 by default.
      scope: the fixture's scope, as in ``pytest.fixture``.

    Returns:
      The fixture. Its value is a resolver for ``RunConfig(cluster=)``; ``.cores`` is the number.

    Raises:
      TooLateError: TensorFlow has already started with fewer devices.
      ValueError: a number is not positive.
    """
    numbers = cores or (2,)
    if min(numbers) < 1:
        raise ValueError(f"Numbers of emulated cores must be positive, got {list(numbers)}.")
    emulate_cores(max(numbers))
    pytest = importlib.import_module("pytest")  # not a dependency of the library; callers have it

    @pytest.fixture(params=numbers, ids=[f"{n} core{'s' * (n > 1)}" for n in numbers], scope=scope)
    def fixture(request: Any) -> EmulatedClusterResolver:
        return EmulatedClusterResolver(request.param)

    return fixture
