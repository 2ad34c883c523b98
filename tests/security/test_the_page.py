"""Each line of docs/security.md's table of what is not trusted names tests that exist."""

import gzip
import re
import struct
from pathlib import Path

import pytest

from estimator_bridge.base.foreign_json import foreign_json
from models.mnist.errors import DataError
from models.mnist.idx import read_idx

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
    "MNIST's idx files, plain or .gz": [(f"{HERE}/test_the_page.py", "def test_an_idx_file")],
    "indexes of checkpoints": [(f"{HERE}/test_hostile_files.py", "indexes with changed bytes")],
    "JSON lines": [(f"{HERE}/test_the_page.py", "def test_json_lines")],
    "YAML files of `--config`": [(f"{HERE}/test_foreign_texts.py", "def test_a_config_file_with")],
    "flag files of `--flagfile`": [
        (f"{HERE}/test_waiting_for_pipes.py", "def test_flag_files_that_name_one_another"),
        (f"{HERE}/test_changed_files.py", '"flag file": ('),
    ],
    "sources and notebooks, for `check` and `rewrite`": [
        (f"{HERE}/test_foreign_texts.py", "def test_one_deep_source_is_one_finding")
    ],
    "pipes, sockets and devices in place of a file": [
        (f"{HERE}/test_pipes.py", "THINGS = {"),
        (f"{HERE}/test_waiting_for_pipes.py", "def test_the_vocabulary_of_a_table"),
    ],
    "random bytes, cut ends and flipped bits in any of the small files above": [
        (f"{HERE}/test_changed_files.py", "READERS = {")
    ],
}


def test_each_line_has_its_tests():
    page = (ROOT / "docs" / "security.md").read_text()
    lines = re.findall(r"^\| (.+?) \| .+ \|$", page, re.M)
    assert lines[1:] == list(TESTS)


@pytest.mark.parametrize("line", TESTS)
def test_they_exist(line):
    for file, text in TESTS[line]:
        assert text in (ROOT / file).read_text()


def idx(shape, content):
    return struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + content


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(
    ("shape", "content"),
    [((1 << 31, 28, 28), b"x" * 100), ((2, 28, 28), b"x"), ((3,), b"\1" * 1000)],
    ids=["2^31 images", "cut short", "longer than its header states"],
)
def test_an_idx_file(shape, content, is_packed, tmp_path):
    path, packed = tmp_path / ("a.gz" if is_packed else "a"), idx(shape, content)
    path.write_bytes(gzip.compress(packed) if is_packed else packed)
    with pytest.raises(DataError):
        read_idx(str(path), len(shape))


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a": 1, "a": 2}', '{"a": ' + "[" * 101 + "]" * 101 + "}"]
)
def test_json_lines(text):
    with pytest.raises(ValueError, match=r"levels deep|occurs twice"):
        foreign_json(text)
