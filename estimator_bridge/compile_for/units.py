"""Formats FLOPs, bytes and seconds with suitable units."""

from __future__ import annotations

__all__ = ["as_bytes", "as_seconds", "as_share", "as_si"]


def as_si(value: float) -> str:
    """Returns three digits and a decimal prefix, ready for a unit: '52.5 M'."""
    for unit, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} "


def as_share(value: float) -> str:
    """Returns a share as a percentage that is never rounded to none: '1.5%', '0.02%'."""
    if value >= 0.001 or not value:
        return f"{value:.1%}"
    return f"{value:.2%}" if value >= 0.0001 else "less than 0.01%"


def as_bytes(value: float) -> str:
    """Returns bytes with a binary prefix: '1.52 MiB'."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def as_seconds(value: float) -> str:
    """Returns seconds with a suitable unit: '102 µs'."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns" if value else "0 s"
