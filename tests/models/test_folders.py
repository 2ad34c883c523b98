import os

import pytest

from models.common.errors import UserError
from models.common.folders import require_writable


def test_a_folder_is_made_and_left_empty(tmp_path):
    folder = tmp_path / "a" / "b"
    require_writable(str(folder), "model_dir")
    assert os.listdir(folder) == []


def test_a_path_below_a_file_is_refused_with_the_flag_to_mend_it(tmp_path):
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "model")
    with pytest.raises(UserError, match=f"cannot write in {folder}: .*--model_dir="):
        require_writable(folder, "model_dir")


def test_a_remote_folder_is_left_to_its_own_file_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_writable("gs://bucket/model", "model_dir")
    assert os.listdir(tmp_path) == []
