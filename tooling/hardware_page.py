"""Writes docs/hardware.md from the table of hardware: `python -m tooling.hardware_page`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["page_of"]

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "estimator_bridge" / "compile_for" / "hardware.json"
PAGE = ROOT / "docs" / "hardware.md"

_HEAD = """# Hardware facts

The figures that the [monitor](monitoring.md), `--compile-for` and its reports use. They are read
from `estimator_bridge/compile_for/hardware.json`, from which this page is written
(`python -m tooling.hardware_page`).
"""
_TPUS = """
## TPUs

Of a whole chip; peak rates are in bfloat16. A core is a TensorFlow device. The memory is what a
program on one core may use, as libtpu's compiler reports it. Arrays are stored in tiles of 8 by 128
elements of 32 bits, so dimensions that are multiples of 8 and 128 waste none.
`estimator_bridge/compile_for/chips.py` gives the evidence.

"""
_GPUS = """
## GPUs

Dense peak rates of the matrix units, for float16 or bfloat16 and for float32 rounded to
TensorFloat-32 (TensorFlow's default), and of float32 outside of them.

"""


def page_of(facts: dict[str, Any]) -> str:
    """Returns the page of the facts in `hardware.json`."""
    tpus = _table(
        ["chip", "cores", "TFLOP/s", "HBM GB/s", "HBM of a core, GiB", "between chips, Gbit/s",
         "matrix unit", "source"],
        [
            [f["name"], f["cores"], f["peak_tera_flops"], f["hbm_giga_bytes_per_second"],
             f["hbm_gib_for_a_program"], f["ici_giga_bits_per_second"], f["matrix_unit"],
             f["source"]]
            for f in facts["tpus"]
        ],
    )  # fmt: skip
    gpus = _table(
        ["GPU", "16-bit TFLOP/s", "TF32", "float32", "memory, GB", "GB/s", "source"],
        [
            [f["name"], f["half_tera_flops"], f["tf32_tera_flops"], f["float32_tera_flops"],
             f["memory_giga_bytes"], f["memory_giga_bytes_per_second"], f["source"]]
            for f in facts["gpus"]
        ],
    )  # fmt: skip
    return _HEAD + _TPUS + tpus + _GPUS + gpus


def _table(names: list[str], rows: list[list[Any]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(map(_text_of, line))} |\n" for line in lines)


def _text_of(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, (int, float)) else value


if __name__ == "__main__":
    PAGE.write_text(page_of(json.loads(FACTS.read_text(encoding="utf-8"))), encoding="utf-8")
