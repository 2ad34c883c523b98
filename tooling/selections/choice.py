"""The rules by which files of tests are chosen.

- **core**: files outside the rooms of `NOT_CORE`, the cheapest first, as long as they add up to at
  most `CORE_SECONDS`; of each package at least one file, and those of `ALWAYS`.
- **fast**: the files that take at most `FAST_FILE_SECONDS`, the cheapest first, as long as they add
  up to `FAST_SECONDS`; of each package that has such a file, at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

# Rooms that `make test-all` alone runs: tf.contrib, recorded values, kills and full disks, the
# quality of models, a TPU's compiler, programs of others, and the tools' own tests.
NOT_CORE = (
    "tests/benchmarks/", "tests/compile_for/", "tests/contrib/", "tests/faults/",
    "tests/legacy_programs/", "tests/models/", "tests/notebooks/",
    "tests/parity/", "tests/tooling/",
)  # fmt: skip
ALWAYS = ("tests/test_tensorflow_private.py",)  # the seam that a new TensorFlow breaks first
CORE_SECONDS = 700.0
FAST_FILE_SECONDS, FAST_SECONDS = 4.0, 120.0

Seconds = Mapping[str, float]


def package_of(file: str) -> str:
    """Returns the package that a file tests: its folder below tests/, or "" for the project."""
    parts = file.split("/")
    return parts[1] if len(parts) > 2 else ""


def _within(seconds: Seconds, budget: float, is_candidate: Callable[[str], bool]) -> list[str]:
    """Returns each package's cheapest file, then further files, cheapest first, in a budget."""
    candidates = sorted(filter(is_candidate, seconds), key=lambda file: (seconds[file], file))
    first_of_package = {package_of(file): file for file in reversed(candidates)}
    selection = dict.fromkeys(
        [*first_of_package.values(), *filter(candidates.__contains__, ALWAYS)]
    )
    total = sum(seconds[file] for file in selection)
    for file in candidates:
        if file in selection:
            continue
        if total + seconds[file] > budget:
            break
        total += seconds[file]
        selection[file] = None
    return longest_first(selection, seconds)


def longest_first(files: Iterable[str], seconds: Seconds) -> list[str]:
    """Returns files in the order in which several processes end at the same time."""
    return sorted(files, key=lambda file: (-seconds[file], file))


def core(seconds: Seconds) -> list[str]:
    """Returns the files of `make test`, longest first."""
    return _within(seconds, CORE_SECONDS, lambda file: not file.startswith(NOT_CORE))


def fast(seconds: Seconds) -> list[str]:
    """Returns the files of `make test-fast`, longest first."""
    cheap = {file: s for file, s in seconds.items() if s <= FAST_FILE_SECONDS}
    return _within(cheap, FAST_SECONDS, lambda file: True)
