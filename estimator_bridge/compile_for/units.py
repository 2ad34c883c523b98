"""Numbers as a person reads them: FLOPs, bytes and seconds with a fitting unit."""

from __future__ import annotations

__all__ = ["as_bytes", "as_seconds", "as_si"]


def as_si(value: float) -> str:
    """Three digits and a decimal prefix, to be followed by a unit: '52.5 M'."""
    for unit, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} "


def as_bytes(value: float) -> str:
    """Bytes with a binary prefix: '1.52 MiB'."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def as_seconds(value: float) -> str:
    """Seconds with a fitting unit: '102 µs'."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"
