"""Bytes through HBM, by hand, of modules in the compiler's text."""

from pathlib import Path

import pytest

from estimator_bridge.compile_for.hbm_traffic import hbm_bytes_moved
from estimator_bridge.compile_for.hlo import parse_module

HBM, CHIP = "{1,0:T(8,128)}", "{1,0:T(8,128)S(1)}"
FUSED = """
%reads (p: f32[64,128], i: s32[8]) -> f32[8,128] {
  %p = f32[64,128]{1,0} parameter(0)
  %i = s32[8]{0} parameter(1)
  ROOT %rows = f32[8,128]{1,0} gather(%p, %i), slice_sizes={1,128}
}

%writes (q: f32[64,128], u: f32[1,128], k: s32[]) -> f32[64,128] {
  %q = f32[64,128]{1,0} parameter(0)
  %u = f32[1,128]{1,0} parameter(1)
  %k = s32[] parameter(2)
  ROOT %updated = f32[64,128]{1,0} dynamic-update-slice(%q, %u, %k, %k)
}

%doubles (d: f32[64,128]) -> f32[64,128] {
  %d = f32[64,128]{1,0} parameter(0)
  ROOT %sum = f32[64,128]{1,0} add(%d, %d)
}
"""
ARRAY, ROW = 4 * 64 * 128, 4 * 128
CASES = {
    "all of an array": ("%r = f32[64,128]H fusion(%t), kind=kLoop, calls=%doubles", 2 * ARRAY),
    "the result stays on the chip": (
        "%r = f32[64,128]C fusion(%t), kind=kLoop, calls=%doubles",
        ARRAY,
    ),
    "looked-up rows": (
        "%r = f32[8,128]C fusion(%t, %ids), kind=kLoop, calls=%reads",
        8 * ROW + 4 * 8,
    ),
    "an update in place": (
        "%r = f32[64,128]H fusion(%t, %row, %zero), kind=kLoop, calls=%writes",
        2 * ROW + 4,
    ),
    "fetched to the chip": ("%r = (f32[64,128]C, f32[64,128]H, u32[]) copy-start(%t)", ARRAY),
    "a part fetched": (
        "%r = ((f32[64,128]H), f32[8,128]C, s32[]) slice-start(%t), slice={[0:8], [0:128]}",
        8 * ROW,
    ),
    "only another name": ("%r = f32[8192]{0:T(1024)} bitcast(%t)", 0),
}


def moved(instruction):
    entry = f"""
ENTRY %main (t: f32[64,128], ids: s32[8], row: f32[1,128], zero: s32[]) -> f32[64,128] {{
  %t = f32[64,128]H parameter(0)
  %ids = s32[8]{{0:T(128)}} parameter(1)
  %row = f32[1,128]H parameter(2)
  %zero = s32[] parameter(3)
  ROOT {instruction}
}}
"""
    text = "HloModule m\n" + FUSED + entry.replace("]H", "]" + HBM).replace("]C", "]" + CHIP)
    return hbm_bytes_moved(parse_module(text))


@pytest.mark.parametrize("case", CASES)
def test_what_moves_through_hbm(case):
    instruction, expected = CASES[case]
    assert moved(instruction) == expected


def test_a_recorded_step_moves_its_arguments_and_results_at_least():
    recorded = Path(__file__).parent / "recorded" / "training_v5e_8.txt"
    weights = 4 * (784 * 500 + 500 + 500 * 10)
    batch = 4 * (32 * 784 + 32)
    moved = hbm_bytes_moved(parse_module(recorded.read_text(encoding="utf-8")))
    compilers = 24139264  # with what moves in on-chip memory
    assert batch + 2 * weights <= moved < compilers
