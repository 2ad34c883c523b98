"""Networks of ``benchmarks.models`` as somebody would write them in JAX, with their training loop.

Parameters have the names of TensorFlow's variables, so both sides begin with the same values.
"""

from __future__ import annotations
