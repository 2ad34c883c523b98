"""Why a step of a program is not compiled: program to a part of the message to the reason."""

from __future__ import annotations

__all__ = ["EXPLAINED"]

EXPLAINED: dict[str, dict[str, str]] = {}
