"""Parses a compiled module's text: operations, sizes of arrays, and costs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator_bridge.compile_for import Argument, LoweredStep, find_slice
from estimator_bridge.compile_for.analysis import analyse
from estimator_bridge.compile_for.compiler import Compiled
from estimator_bridge.compile_for.hlo import Shape, parse_module
from estimator_bridge.compile_for.text_table import table_of

# The training step of two dense layers, 784 to 500 to 10, compiled by libtpu 0.0.52 for v5e-8.
TEXT = (Path(__file__).parent / "recorded" / "training_v5e_8.txt").read_text(encoding="utf-8")
LOOP = """HloModule loop

%round (p: (s32[], f32[4])) -> (s32[], f32[4]) {
  %p = (s32[], f32[4]{0:T(128)}) parameter(0)
  ROOT %f = f32[4]{0:T(128)} fusion(%p), calls=%x, metadata={op_name="in_loop"}, \
backend_config={"estimated_cycles":"7"}
}

%test (p: (s32[], f32[4])) -> pred[] {
  %p.1 = (s32[], f32[4]{0:T(128)}) parameter(0)
  ROOT %c = pred[] compare(%p.1, %p.1), backend_config={"estimated_cycles":"1"}
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0:T(128)} parameter(0)
  %known = (s32[], /*index=1*/f32[4]{0:T(128)}) while(%a), condition=%test, body=%round, \
backend_config={"known_trip_count":{"n":"5"}}
  %unknown = (s32[], f32[4]{0:T(128)}) while(%known), condition=%test, body=%round
  ROOT %out = f32[4]{0:T(128)} outfeed(%unknown)
}
"""


def argument(name, *shape):
    return Argument("variable", name, shape, "float32", 4)


STEP = LoweredStep(
    b"",
    8,
    (
        argument("x", 32, 784),
        argument("y", 32),
        argument("w", 784, 500),
        argument("b", 500),
        argument("w2", 500, 10),
    ),
    sums=3,
)
MEMORY = {"argument": 1755648, "output": 1641472, "alias": 1640448, "temp": 311296,
          "generated_code": 1371136}  # fmt: skip


def report(text=TEXT, step=STEP, **costs):
    costs = {"flops": 52480704.0, "bytes accessed": 24139264.0, "optimal_seconds": 3e-5, **costs}
    compiled = Compiled("TPU v5 lite", 0.6, costs, MEMORY, text, 1 << 30)
    return analyse(
        "training", step, compiled, find_slice("v5e-8"), 256, {"hidden/mm": "m.py:3"}.get
    )


def test_operations_carry_tensorflows_names_and_the_users_lines():
    costs = {cost.op: cost for cost in report().costs}
    assert costs["hidden/mm"].cycles == 5544
    assert costs["hidden/mm"].line == "m.py:3"
    assert costs["AssignSubVariableOp"].cycles == 8835
    assert sum(cost.share for cost in costs.values()) == pytest.approx(1)


def test_three_sums_became_one_all_reduce_of_all_gradients():
    sums = report().all_reduces
    size = 4 * (784 * 500 + 500 + 500 * 10)
    assert (sums.asked, sums.count, sums.bytes) == (3, 1, size)
    # A ring of eight over a v5e's 1600 Gbit/s.
    assert sums.seconds == pytest.approx(2 * 7 / 8 * size / 2e11)


def test_memory_is_what_the_step_needs_once_and_its_share_of_the_chips():
    memory = report().memory
    assert memory.total == 1755648 + 1641472 - 1640448 + 311296 + 1371136
    assert memory.arguments_unpadded == 4 * (32 * 784 + 32 + 784 * 500 + 500 + 5000)
    assert memory.available == pytest.approx(15.75 * 2**30)


def test_the_roofline_counts_back_the_second_of_each_custom_call():
    line = report(optimal_seconds=3.27e-5 - 1).roofline
    assert TEXT[TEXT.index("ENTRY") :].count(" custom-call(") == 1
    assert line.compiler == pytest.approx(3.27e-5)
    assert line.compute == pytest.approx(52480704 / 197e12)
    assert line.alone == line.memory < line.compiler  # the compiler's is no lower bound
    assert line.bound == "all-reduce"
    assert line.seconds == line.all_reduce
    assert report(optimal_seconds=-4.0).roofline.compiler is None


def test_padded_arrays_are_named_by_what_they_are():
    padding = {(one.op, one.shape): one for one in report().padding}
    weights = padding["w2", "f32[500,10]"]
    assert weights.padded == (512, 16)  # the tile's 128 lies along the 500
    assert weights.wasted_bytes == 4 * (512 * 16 - 5000)
    assert padding["w", "f32[784,500]"].padded == (784, 512)


def test_a_loop_counts_as_often_as_it_is_known_to_run():
    summary = report(LOOP, LoweredStep(b"", 1, (argument("a", 4),)))
    assert {cost.op: cost.cycles for cost in summary.costs} == {"in_loop": 42, "compare": 6}
    assert summary.loops_counted_once == 1
    assert summary.host_transfers == 1


def test_text_without_a_program_is_an_error():
    with pytest.raises(ValueError, match="no ENTRY"):
        parse_module("HloModule nothing\n")


@given(
    st.lists(st.integers(1, 300), min_size=2, max_size=4),
    st.sampled_from([(8, 128), (128,), (2, 128), (16, 128)]),
)
def test_padding_only_adds_and_fills_the_tile(dims, tile):
    order = tuple(reversed(range(len(dims))))
    shape = Shape("f32", tuple(dims), order, tile)
    assert shape.padded_bytes >= shape.bytes
    for size, tiled in zip(shape.padded_dims[-len(tile) :], tile):
        assert size % tiled == 0
    for size, padded in zip(dims, shape.padded_dims):
        assert size <= padded


def test_a_table_fits_a_screen_and_says_what_counts():
    table = table_of(report())
    assert table.startswith("== training for v5e-8: compiled in 0.6 s (8 replicas on TPU v5 lite,")
    assert "52.5 MFLOP per replica step" in table
    assert "3 sum(s) in 1 all-reduce(s), 1.52 MiB" in table
    assert "bound by all-reduce" in table
    assert "m.py:3" in table
    assert len(table.splitlines()) < 30
