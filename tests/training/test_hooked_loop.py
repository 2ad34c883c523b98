"""Which compiled loop serves a call, and when another one is compiled."""

from types import SimpleNamespace

import pytest

from estimator_bridge.training.hooked_loop import LoopCache


@pytest.fixture
def loops():
    return []


@pytest.fixture
def cache(loops):
    def make(fetches, fed, sums, needs):
        loop = SimpleNamespace(
            request=SimpleNamespace(fetches=fetches, fed=fed, needs=needs),
            sums=frozenset(sums),
            has_effects=False,
            draws_more=False,
        )
        loops.append(loop)
        return loop

    return LoopCache(make, may_do_more=True)


def test_equal_requests_share_a_loop(cache, loops):
    both = cache.loop(["a:0", "b:0"], ())
    assert cache.loop(["a:0", "b:0"], ()) is both
    assert cache.loop(["b:0", "a:0"], ()) is both
    assert cache.loop(["a:0", "b:0"], ("x:0",)) is not both
    assert cache.loop(["a:0", "b:0"], ()) is both
    assert cache.loop(["a:0", "b:0"], (), ["sum"]) is not both
    assert cache.loop(["a:0", "b:0"], (), (), ["c:0"]) is not both
    assert len(loops) == 4


def test_single_steps_that_fetch_less_get_their_own_loop_after_a_hundred(cache, loops):
    both = cache.loop(["a:0", "b:0"], (), is_single=True)
    served = [cache.loop(["a:0"], (), is_single=True) for _ in range(101)]
    assert served[:100] == [both] * 100
    assert served[100] is loops[1]
    assert loops[1].request.fetches == ("a:0",)
    assert cache.loop(["a:0"], (), is_single=True) is loops[1]
    assert cache.loop(["a:0", "b:0"], ()) is both
