"""The TPU chips that a step can be compiled for, with the figures that its report is measured by.

Peak FLOP/s (bfloat16), HBM and interconnect bandwidths are those that Google Cloud's documentation
gives for a chip ("TPU architecture" and the page of each version, and for v2 and v3, where it gives
none, Jouppi et al., "A domain-specific supercomputer for training deep neural networks", CACM
63(7), 2020). The HBM that a program may use is what libtpu's compiler names when it refuses a
program that needs more (libtpu 0.0.52): the runtime keeps the rest to itself.
"""

from __future__ import annotations

import dataclasses

__all__ = ["CHIPS", "Chip"]

_TERA, _GIGA, _GIB = 1e12, 1e9, 2**30


@dataclasses.dataclass(frozen=True)
class Chip:
    """One kind of TPU chip.

    Attributes:
      name: as in the names of slices: 'v5e'.
      compiler_name: libtpu's, the first part of a topology's name.
      cores: how many devices it is to TensorFlow, each a replica: 2 for a v2 or v3; 1 for a v4 or
        v5p, whose two cores share their memory and work as one (megacore).
      peak_flops: FLOP/s of the whole chip in bfloat16.
      hbm_bytes_per_second: of the whole chip.
      hbm_bytes: that a program on one core may use.
      ici_bytes_per_second: that a chip sends over all of its links to other chips, one way.
      options: further settings of libtpu's topology.
    """

    name: str
    compiler_name: str
    cores: int
    peak_flops: float
    hbm_bytes_per_second: float
    hbm_bytes: int
    ici_bytes_per_second: float
    options: tuple[tuple[str, str], ...] = ()

    @property
    def core_flops(self) -> float:
        """Peak FLOP/s of one core in bfloat16."""
        return self.peak_flops / self.cores

    @property
    def core_hbm_bytes_per_second(self) -> float:
        """A core's share of the HBM's bandwidth."""
        return self.hbm_bytes_per_second / self.cores


def _chip(
    name: str,
    cores: int,
    tera_flops: float,
    hbm_giga_bytes: float,
    hbm_gib: float,
    ici_giga_bits: float,
    compiler_name: str = "",
    **options: str,
) -> Chip:
    return Chip(
        name,
        compiler_name or name,
        cores,
        tera_flops * _TERA,
        hbm_giga_bytes * _GIGA,
        int(hbm_gib * _GIB),
        ici_giga_bits * _GIGA / 8,
        tuple(sorted(options.items())),
    )


CHIPS = {
    chip.name: chip
    for chip in (
        _chip("v2", 2, 46, 700, 7.48, 4 * 496),
        _chip("v3", 2, 123, 900, 15.48, 4 * 656),
        _chip("v4", 1, 275, 1228, 30.75, 2400, chip_config_name="megacore"),
        _chip("v5e", 1, 197, 819, 15.75, 1600),
        _chip("v5p", 1, 459, 2765, 95.73, 4800),
        _chip("v6e", 1, 918, 1640, 31.24, 3584),
        _chip("tpu7x", 2, 2307, 7380, 94.74, 9600),
    )
}
