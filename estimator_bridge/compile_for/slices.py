"""TPU slices by their Google Cloud names, such as v5e-8, for libtpu's compiler."""

from __future__ import annotations

import dataclasses
import math
import re

from estimator_bridge.compile_for.chips import CHIPS, Chip

__all__ = ["SLICES", "Slice", "find_slice", "slice_names"]

# The grid of a slice by its number of chips; the number in a slice's name counts chips or cores.
# Google Cloud's documentation lists these shapes for each version.
_GRIDS_2D = {1: "1x1", 4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16",
             256: "16x16", 512: "16x32", 1024: "32x32"}  # fmt: skip
_GRIDS_3D = {4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4", 64: "4x4x4", 128: "4x4x8",
             256: "4x8x8", 512: "8x8x8"}  # fmt: skip
_ALIASES = (
    (r"v5(?:litepod|lite|-?lite-?pod)-(\d+)", r"v5e-\1"),
    (r"v6lite-(\d+)", r"v6e-\1"),
    (r"(?:v7x?|tpu7|tpu-?v7x?)-(\d+)", r"tpu7x-\1"),
)


@dataclasses.dataclass(frozen=True)
class Slice:
    """A TPU slice.

    Attributes:
      name: the slice's name, such as 'v5e-8'.
      chip: the kind of its chips.
      grid: the layout of its chips, such as '2x4'.
      hosts: the number of machines its chips are attached to.
    """

    name: str
    chip: Chip
    grid: str
    hosts: int

    @property
    def chips(self) -> int:
        """The number of chips."""
        return math.prod(map(int, self.grid.split("x")))

    @property
    def replicas(self) -> int:
        """The number of replicas, one per core."""
        return self.chips * self.chip.cores

    @property
    def topology(self) -> str:
        """The slice's name in libtpu, such as 'v5e:2x4'."""
        return f"{self.chip.compiler_name}:{self.grid}"

    @property
    def options(self) -> dict[str, str | list[int]]:
        """Further settings of libtpu's topology."""
        options: dict[str, str | list[int]] = dict(self.chip.options)
        if self.chips == 1:  # libtpu 0.0.32 to 0.0.37 assume four on a host
            options["chips_per_host_bounds"] = [1, 1, 1]
        return options


def find_slice(name: str) -> Slice:
    """Returns the slice with this name; 'v5litepod-8' is v5e-8.

    Raises:
      ValueError: there is none; the message lists all slices.
    """
    slice_name = name.strip().lower()
    for pattern, canonical in _ALIASES:
        slice_name = re.sub(f"^{pattern}$", canonical, slice_name)
    if slice_name not in SLICES:
        raise ValueError(f"no TPU slice is named {name!r}. Known slices:\n{slice_names()}")
    return SLICES[slice_name]


def slice_names() -> str:
    """Returns the names of all slices, a line for each kind of chip."""
    lines = []
    for chip in CHIPS:
        names = [name for name, tpu_slice in SLICES.items() if tpu_slice.chip.name == chip]
        lines.append("  " + ", ".join(names))
    return "\n".join(lines)


def _slices() -> dict[str, Slice]:
    slices = []
    for chip, counts, per_number, per_host in (
        # numbers of chips; count per chip in the name; chips per host
        ("v2", (4, 16, 64, 128, 256), 2, 4),
        ("v3", (4, 16, 32, 64, 128, 256, 512, 1024), 2, 4),
        ("v4", (4, 8, 16, 32, 64, 128, 256, 512), 2, 4),
        ("v5e", (1, 4, 8, 16, 32, 64, 128, 256), 1, 4),
        ("v5p", (4, 8, 16, 32, 64, 128, 256, 512), 2, 4),
        ("v6e", (1, 4, 8, 16, 32, 64, 128, 256), 1, 4),
        ("tpu7x", (4, 8, 16, 32, 64, 128, 256, 512), 2, 4),
    ):
        grids = _GRIDS_3D if chip in ("v4", "v5p", "tpu7x") else _GRIDS_2D
        for count in counts:
            # Eight v5e or v6e chips are on one machine.
            is_one = count <= per_host or (chip in ("v5e", "v6e") and count == 8)
            hosts = 1 if is_one else count // per_host
            name = f"{chip}-{count * per_number}"
            slices.append(Slice(name, CHIPS[chip], grids[count], hosts))
    return {one.name: one for one in slices}


SLICES = _slices()
