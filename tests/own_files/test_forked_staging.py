"""A forked copy of a process leaves the files alone that its parent is writing."""

import contextlib
import os

from estimator_bridge.own_files.staging import open_staging, staged


def test_a_forked_copy_that_ends_removes_nothing_of_its_parent(tmp_path):
    with contextlib.ExitStack() as contexts:
        contexts.enter_context(open_staging(str(tmp_path)))
        path = contexts.enter_context(staged(str(tmp_path), "model"))
        with open(path, "w", encoding="utf-8") as file:
            file.write("half")
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException):
                contexts.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert os.path.exists(path)
        os.rename(path, tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
