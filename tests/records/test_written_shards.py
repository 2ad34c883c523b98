"""The number and the sizes of the files that are written follow the rule, without `shards=`."""

import os

import numpy as np
import pytest

from estimator_bridge import records
from estimator_bridge.records.framing import records_in

MB = 10**6
EACH = 100_000  # bytes of a record's array


@pytest.mark.parametrize(("megabytes", "count"), [(1, 1), (25, 2), (60, 6)])
def test_files_have_10_mb_or_more_unless_all_is_less(tmp_path, megabytes, count):
    rows = megabytes * MB // EACH
    values = np.zeros([rows, EACH], np.uint8)
    values[:, 0] = np.arange(rows) % 256
    manifest = records.write(records.from_arrays({"x": values}), str(tmp_path / "set"))
    files = sorted((tmp_path / "set").glob("*.tfrecord"))
    sizes = [os.path.getsize(file) for file in files]
    assert [file.name for file in files] == [shard.file for shard in manifest.shards]
    assert len(files) == count == records.shards_for(sum(sizes), rows)
    assert sizes == [shard.bytes for shard in manifest.shards]
    assert megabytes * MB <= sum(sizes) <= 1.01 * megabytes * MB
    assert max(sizes) <= 100 * MB
    assert count == 1 or min(sizes) >= 10 * MB
    assert max(sizes) - min(sizes) <= 1.01 * EACH  # one record
    assert [records_in(str(file)) for file in files] == [
        (shard.records, None) for shard in manifest.shards
    ]
    assert sum(shard.records for shard in manifest.shards) == manifest.records == rows
