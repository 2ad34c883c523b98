"""Each line of docs/security.md's table of what is not trusted names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = "tests/security"
# By the first cell: the file, and a text in it that shows the case.
TESTS = {
    "record files and event files": [
        (f"{HERE}/test_hostile_files.py", "a length of 2^36"),
        (f"{HERE}/test_hostile_files.py", "a length in event files"),
    ],
    "manifests of record folders": [(f"{HERE}/test_hostile_files.py", "a manifest's ../name")],
    "images": [(f"{HERE}/test_hostile_files.py", "an image of 2^28 pixels")],
    ".npz archives": [(f"{HERE}/test_hostile_files.py", "an archive larger than memory")],
    "MNIST's idx files, plain or .gz": [(f"{HERE}/test_the_page.py", "def test_an_idx_file(shape, content, is_packed, tmp_path):
    import gzip

    from models.mnist.errors import DataError
    from models.mnist.idx import read_idx

    path, packed = tmp_path / ("a.gz" if is_packed else "a"), idx(shape, content)
    path.write_bytes(gzip.compress(packed) if is_packed else packed)
    with pytest.raises(DataError):
        read_idx(str(path))


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a": 1, "a": 2}', '{"a": ' + "[" * 101 + "]" * 101 + "}"]
)
def test_json_lines(text, tmp_path):
    from estimator_bridge.foreign_json import foreign_json

    with pytest.raises(ValueError, match=r"levels deep|occurs twice"):
        foreign_json(text)
