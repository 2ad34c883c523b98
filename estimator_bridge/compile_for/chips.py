"""The chips that `hardware.json` describes: TPUs, which steps are compiled for, and GPUs.

The file names the source of each line. Peak FLOP/s (bfloat16), HBM bandwidth and inter-chip
bandwidth are per chip, from Google Cloud's documentation as of November 2026:

- v3: "TPU v3", https://cloud.google.com/tpu/docs/v3: 123 TFLOP/s, 900 GB/s.
- v4: "TPU v4", https://docs.cloud.google.com/tpu/docs/v4: 275 TFLOP/s, 1,200 GB/s.
- v5e: "TPU v5e", https://docs.cloud.google.com/tpu/docs/v5e: 197 TFLOP/s, 819 GB/s, 400 GB/s
  between chips in both directions (formerly 1,600 Gbit/s, for one direction).
- v5p, v6e, tpu7x: "TPU7x (Ironwood)", https://docs.cloud.google.com/tpu/docs/tpu7x: 459, 918 and
  2,307 TFLOP/s; 2,765, 1,638 and 7,380 GB/s; 1,200, 800 and 1,200 GB/s in both directions. That
  page also says that TensorFlow is not supported on TPU7x.

The documentation has no figures of v2, and no inter-chip bandwidths of v2, v3 and v4. Those of v2
and v3 are from Jouppi et al., "A domain-specific supercomputer for training deep neural networks",
CACM 63(7), 2020; v4 has six links of 400 Gbit/s, according to
https://glennklockwood.com/garden/processors/TPUv4. Evidence for them:

- libtpu 0.0.42.1's estimates per core, from its optimal_seconds of an 8192 by 8192 bfloat16 product
  and of a sum of 512 MiB arrays, and their share of the figures here: v2 22.8 TFLOP/s (99 %) and
  317 GB/s (91 %); v3 61.4 (100 %) and 430 (95 %); v4 241 (88 %) and 983 (82 %); v5e 197 (100 %) and
  738 (90 %); v5p 394 (86 %) and 2,350 (85 %); v6e 918 (100 %) and 1,638 (100 %).
- The documented all-reduce bandwidth of a pod, divided by its chips: v3 340 TB/s / 1,024 = 332
  GB/s, and four links of 656 Gbit/s are 328; v4 1.1 PB/s / 4,096 = 269 GB/s, and six links of
  400 Gbit/s are 300.

We found no evidence for or against v2's 4 links of 496 Gbit/s.

Devices per chip: the documentation counts two TensorCores for a v2, v3, v4, v5p and tpu7x. Those of
a v4 or v5p are one device to the runtime: a v4-8 needed TPU_NUM_DEVICES=4 under TensorFlow's XRT
(https://github.com/pytorch/xla/issues/5258), and jax finds 4 devices on a v5p-8
(https://github.com/jax-ml/jax/issues/19493). Those of a tpu7x are two devices, according to its
page. We found no page about TPUStrategy itself.

The HBM that a program may use is the figure in the error of libtpu's compiler for a program that
needs more (libtpu 0.0.52); the runtime reserves the rest.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

__all__ = ["CHIPS", "GPUS", "Chip", "Gpu"]

_FACTS = json.loads(Path(__file__).with_name("hardware.json").read_text(encoding="utf-8"))
_TERA, _GIGA, _GIB = 1e12, 1e9, 2**30


@dataclasses.dataclass(frozen=True)
class Chip:
    """One kind of TPU chip.

    Attributes:
      name: the name in slice names, such as 'v5e'.
      compiler_name: libtpu's name, the first part of a topology's name.
      cores: the number of TensorFlow devices, each a replica: 2 for a v2 or v3; 1 for a v4 or v5p,
        whose two cores share their memory and work as one (megacore).
      peak_flops: FLOP/s of the whole chip in bfloat16.
      hbm_bytes_per_second: the HBM bandwidth of the whole chip.
      hbm_bytes: the HBM that a program on one core may use.
      ici_bytes_per_second: the bandwidth of all links to other chips, in one direction.
      options: further settings of libtpu's topology.
      runs_tensorflow: whether Google offers it for TensorFlow.
    """

    name: str
    compiler_name: str
    cores: int
    peak_flops: float
    hbm_bytes_per_second: float
    hbm_bytes: int
    ici_bytes_per_second: float
    options: tuple[tuple[str, str], ...] = ()
    runs_tensorflow: bool = True

    @property
    def core_flops(self) -> float:
        """Peak FLOP/s of one core in bfloat16."""
        return self.peak_flops / self.cores

    @property
    def core_hbm_bytes_per_second(self) -> float:
        """A core's share of the HBM bandwidth."""
        return self.hbm_bytes_per_second / self.cores


@dataclasses.dataclass(frozen=True)
class Gpu:
    """One kind of GPU with matrix units.

    Attributes:
      name: the short name, such as 'H100 SXM'.
      devices: the names that the driver gives to it.
      half_flops: dense FLOP/s of its matrix units in float16 or bfloat16.
      tf32_flops: dense FLOP/s of its matrix units on float32 as TensorFloat-32; None if they take
        none.
      float32_flops: FLOP/s in float32, outside of the matrix units.
    """

    name: str
    devices: tuple[str, ...]
    half_flops: float
    tf32_flops: float | None
    float32_flops: float


def _chip(facts: dict[str, Any]) -> Chip:
    return Chip(
        facts["name"],
        facts["name"],
        facts["cores"],
        facts["peak_tera_flops"] * _TERA,
        facts["hbm_giga_bytes_per_second"] * _GIGA,
        int(facts["hbm_gib_for_a_program"] * _GIB),
        facts["ici_giga_bits_per_second"] * _GIGA / 8,
        tuple(sorted(facts.get("options", {}).items())),
        facts.get("runs_tensorflow", True),
    )


def _gpu(facts: dict[str, Any]) -> Gpu:
    tf32 = facts["tf32_tera_flops"]
    return Gpu(
        facts["name"],
        tuple(facts["devices"]),
        facts["half_tera_flops"] * _TERA,
        None if tf32 is None else tf32 * _TERA,
        facts["float32_tera_flops"] * _TERA,
    )


CHIPS = {facts["name"]: _chip(facts) for facts in _FACTS["tpus"]}
GPUS = {facts["name"]: _gpu(facts) for facts in _FACTS["gpus"]}
