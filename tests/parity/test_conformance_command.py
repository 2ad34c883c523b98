"""The command on a small checkout written for this test, without lines of the original."""

from __future__ import annotations

import json
import textwrap

import pytest

from parity import conformance
from parity.harness import records, test_files
from parity.harness.outcomes import FileResult, Outcome

FOLDER = "tensorflow_estimator/python/estimator"

# A hang, a crash, a fixture that fails: what a process of tests can do to the one that runs it.
SOURCE = """
    import os
    import time

    import tensorflow as tf
    from tensorflow_estimator.python.estimator import estimator as lib
    from tensorflow_estimator.python.estimator import model_fn
    from tensorflow_estimator.python.estimator.export import export_lib


    class GoodTest(tf.test.TestCase):
        def test_spec(self):
            spec = model_fn.EstimatorSpec("infer", predictions=tf.constant([1.0]))
            self.assertEqual("infer", spec.mode)

        def test_step_of_no_checkpoint(self):
            self.assertEqual(0, lib._load_global_step_from_checkpoint_dir(self.get_temp_dir()))

        def test_skipped(self):
            self.skipTest("not today")

        def test_mode(self):
            self.assertEqual(EXPECTED, tf.compat.v1.executing_eagerly_outside_functions())


    class BadTest(tf.test.TestCase):
        def test_assertion(self):
            self.assertEqual(1, 2)

        def test_private(self):
            lib._secret_of_the_original()

        def test_missing(self):
            raise AttributeError("missing name estimator_bridge.Thing, for estimator.Thing")

        def test_secret_mock(self):
            with tf.compat.v1.test.mock.patch.object(lib, "Estimator"):
                self.fail()


    class RudeTest(tf.test.TestCase):
        def test_crash(self):
            os._exit(3)

        def test_hang(self):
            time.sleep(3600)

        def test_the_last(self):
            self.assertTrue(True)


    class NoFixtureTest(tf.test.TestCase):
        @classmethod
        def setUpClass(cls):
            raise RuntimeError("no fixture")

        def test_never(self):
            self.fail()
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with one file per name, and nothing of the original's scores."""
    monkeypatch.setattr(records, "ORIGINAL", tmp_path / "original.json")
    monkeypatch.setattr(records, "HERE", tmp_path / "here.json")

    def write(**sources):
        for name, source in sources.items():
            path = tmp_path / FOLDER / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source))
        return str(tmp_path)

    return write


def run(*arguments):
    return conformance.main([str(argument) for argument in arguments])


def test_each_test_has_its_outcome_whatever_the_others_do(checkout, tmp_path, capsys):
    folder = checkout(model_fn_test=SOURCE.replace("EXPECTED", "True"))
    out = tmp_path / "out.json"
    status = run(folder, "--mode", "tf2", "--time-limit", "3", "--json", out, "--record")
    assert status == 1  # public names, and no score of the original excuses them

    outcomes = {o["test"]: o for o in json.loads(out.read_text())}
    results = {test: (o["result"], o["kind"]) for test, o in outcomes.items()}
    assert results == {
        "GoodTest.test_spec": ("passed", "public"),
        "GoodTest.test_step_of_no_checkpoint": ("passed", "public"),
        "GoodTest.test_skipped": ("skipped", "public"),
        "GoodTest.test_mode": ("passed", "public"),
        "BadTest.test_assertion": ("failed", "public"),
        "BadTest.test_private": ("failed", "private"),
        "BadTest.test_missing": ("failed", "public"),
        "BadTest.test_secret_mock": ("failed", "private"),
        "RudeTest.test_crash": ("failed", "public"),
        "RudeTest.test_hang": ("failed", "public"),
        "RudeTest.test_the_last": ("passed", "public"),
        "NoFixtureTest.test_never": ("failed", "public"),
    }
    assert (
        "private name estimator._secret_of_the_original"
        in (outcomes["BadTest.test_private"]["detail"])
    )
    assert "status 3" in outcomes["RudeTest.test_crash"]["detail"]
    assert "longer than 3 seconds" in outcomes["RudeTest.test_hang"]["detail"]
    assert "no fixture" in outcomes["NoFixtureTest.test_never"]["detail"]

    text = records.HERE.read_text()
    assert len([line for line in text.splitlines() if "Test.test_" in line]) == 7  # of a test each
    record = json.loads(records.HERE.read_text())["model_fn_test.py"]["tf2"]
    assert (record["passed"], record["passed_private"], record["skipped"]) == (4, 0, 1)
    assert record["failed"]["BadTest.test_private"] == {
        "privates": ["estimator._secret_of_the_original"]
    }
    progress, _, row, *_ = capsys.readouterr().out.splitlines()
    assert record["failed"]["BadTest.test_missing"] == {"missing": "estimator_bridge.Thing"}
    begin, seconds, unit = progress.rsplit(" ", 2)
    assert begin == "[1/1] model_fn_test.py (tf2): 4 passed, 7 failed, 1 skipped;"
    assert (seconds.isdigit(), unit) == (True, "s")
    assert row.split() == ["model_fn_test.py", "tf2", "?", "4", "5", "2", "1"]


def test_scores_of_other_files_and_modes_stay(tmp_path):
    path = tmp_path / "scores.json"
    files = [("a.py", "tf2", "A.x"), ("a.py", "v1", "A.y"), ("b.py", "tf2", "B.z")]
    for file, mode, test in [*files, ("a.py", "tf2", "A.w")]:
        records.update(path, [FileResult(file, mode, [Outcome(test, "failed")])])
    failed = {
        f: {m: list(s["failed"]) for m, s in r.items()} for f, r in records.load(path).items()
    }
    assert failed == {"a.py": {"tf2": ["A.w"], "v1": ["A.y"]}, "b.py": {"tf2": ["B.z"]}}


def test_a_part_of_a_file_is_not_recorded(checkout):
    with pytest.raises(SystemExit, match="keeps whole files"):
        run(checkout(), "--only", "gc_test.py::test_a", "--record")


def test_v1_mode_one_test_and_the_originals_failures(checkout, tmp_path, capsys):
    folder = checkout(model_fn_test=SOURCE.replace("EXPECTED", "False"))
    (tmp_path / "original.json").write_text(
        json.dumps({"model_fn_test.py": {"v1": {"passed": 9, "failed": {"x": {}}}}})
    )
    status = run(folder, "--mode", "v1", "--only", "model_fn_test.py::test_mode", "--verbose")
    assert status == 0
    table = capsys.readouterr().out.splitlines()
    assert table[-2].split() == ["model_fn_test.py", "v1", "9", "1", "0", "0", "0"]


def test_a_file_that_cannot_be_loaded_is_one_failure(checkout, capsys):
    source = "from tensorflow_estimator.python.estimator.run_config import Nothing"
    folder = checkout(run_config_test=source)
    assert run(folder, "--mode", "tf2", "--verbose") == 1
    assert "(the file)" in capsys.readouterr().out


def test_a_folder_that_is_no_checkout(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Wanted: a work tree of the original project"):
        run(tmp_path)


def test_a_file_that_chooses_its_mode_runs_in_that_alone(checkout, tmp_path):
    switch = "if __name__ == '__main__':\n    tf.compat.v1."
    checkout(
        gc_test=switch + "disable_v2_behavior()",
        exporter_test=switch + "enable_eager_execution()",
        util_test="import tensorflow as tf",
    )
    modes = {file.name: file.modes for file in test_files.find_files(tmp_path)}
    assert modes == {
        "gc_test.py": ("v1",),
        "exporter_test.py": ("tf2",),
        "util_test.py": ("tf2", "v1"),
    }


ON_CORES = """
    from absl import flags
    import tensorflow as tf
    from tensorflow_estimator.python.estimator.tpu import tpu_config

    flags.DEFINE_integer("test_num_shards", 8, "cores")


    class CoresTest(tf.test.TestCase):
        def test_empty_master(self):
            self.assertEqual("emulated:4", tpu_config.RunConfig(master="").master)

        def test_more_than_there_are(self):
            config = tpu_config.RunConfig(tpu_config=tpu_config.TPUConfig(num_shards=16))
            self.assertEqual("emulated:4", config.master)

        def test_flag(self):
            self.assertEqual(4, flags.FLAGS.test_num_shards)
"""


def test_tests_of_tpus_run_on_as_many_cores_as_are_asked_for(checkout):
    folder = checkout(**{"tpu/tpu_estimator_test": ON_CORES})
    assert run(folder, "--mode", "v1", "--cores", 4) == 0
    with pytest.raises(SystemExit, match="scores of 8 and of 2 emulated"):
        run(folder, "--cores", 4, "--record")
