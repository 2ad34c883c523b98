"""TF 1.15's tests of tf.contrib: the command, on a checkout without lines of the original."""

from __future__ import annotations

import json
import textwrap

import pytest

from parity.contrib import conformance, docs
from parity.contrib.files import find_files
from parity.contrib.privates import contrib_private_names
from parity.harness import page
from parity.harness.records import load_json

SOURCE = """
    import os
    import time

    import numpy as np
    from tensorflow.contrib.layers.python.layers import layers
    from tensorflow.contrib.layers.python.layers import utils
    from tensorflow.contrib import cloud
    from tensorflow.python.eager import context
    from tensorflow.python.eager import test
    from tensorflow.python.framework import constant_op
    from tensorflow.python.framework import test_util


    class GoodTest(test.TestCase):
        def testFlatten(self):
            self.assertEqual([2, 12], layers.flatten(constant_op.constant(
                np.zeros([2, 3, 4], np.float32))).get_shape().as_list())

        def testOldSpellings(self):
            self.assertEqual(3, int(np.array([3])))
            self.assertEqual(3, int("3"))
            self.assertEqual(4, len(np.zeros(1, np.int32).tostring()))

        def testEager(self):
            self.assertTrue(context.executing_eagerly())
            self.assertTrue(os.path.isfile(
                test.test_src_dir_path("contrib/layers/python/layers/utils.py")))

        @test_util.run_in_graph_and_eager_modes(reset_test=True)
        def testModes(self):
            self.assertAllClose(1.0, self.evaluate(constant_op.constant(1.0)))


    class BadTest(test.TestCase):
        def testMissing(self):
            cloud.BigQueryReader(3)

        def testPrivate(self):
            layers._inner_flatten(None, 2)

        def testOfAFile(self):
            utils.two_element_tuple(1)

        def testHang(self):
            time.sleep(3600)

        def testDeath(self):
            os._exit(3)

        def testLast(self):
            self.assertTrue(True)


    if __name__ == "__main__":
        test.main()
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder with one test file, and the folders of the modules that it imports."""
    folder = tmp_path_factory.mktemp("checkout")
    files = {
        "layers/python/layers/layers_test.py": textwrap.dedent(SOURCE),
        "layers/python/layers/layers.py": "",
        "layers/python/layers/utils.py": "",
        "opt/python/training/ggt.py": "",
        "learn/python/learn/grid_search_test.py": "",
    }
    for name, source in files.items():
        path = folder / "tensorflow" / "contrib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return folder


def test_each_test_has_its_outcome_whatever_the_others_do(checkout, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.json"
    monkeypatch.setattr(docs, "ORIGINAL", tmp_path / "original.json")
    monkeypatch.setattr(docs, "HERE", tmp_path / "here.json")
    arguments = [str(checkout), "--time-limit", "3", "--json", str(out), "--record"]
    assert conformance.main(arguments) == 1
    outcomes = {each["test"]: each for each in json.loads(out.read_text())}
    results = {test: (each["result"], each["kind"]) for test, each in outcomes.items()}
    for method in ("assert_equal", "session"):
        results.pop(f"GoodTest.test_{method}", None)
    assert results == {
        "GoodTest.testEager": ("passed", "public"),
        "GoodTest.testFlatten": ("passed", "public"),
        "GoodTest.testOldSpellings": ("passed", "public"),
        "GoodTest.testModes": ("passed", "public"),
        "BadTest.testMissing": ("failed", "public"),
        "BadTest.testPrivate": ("failed", "private"),
        "BadTest.testOfAFile": ("passed", "private"),
        "BadTest.testHang": ("failed", "public"),
        "BadTest.testDeath": ("failed", "public"),
        "BadTest.testLast": ("passed", "public"),
    }, outcomes
    assert "longer than 3 seconds" in outcomes["BadTest.testHang"]["detail"]
    assert "status 3" in outcomes["BadTest.testDeath"]["detail"]
    assert "layers_test.py: 6 passed, 4 failed, 0 skipped" in capsys.readouterr().out

    record = load_json(docs.HERE)["layers/python/layers/layers_test.py"]
    assert (record["public"], record["private"]) == (5, 1)
    assert record["others"]["BadTest.testMissing"] == {"missing": "tf.contrib.cloud.BigQueryReader"}
    there = {"public": 7, "private": 2, "others": {"BadTest.testDeath": {}}}
    assert set(docs.missed(record, there)) == {"BadTest.testMissing", "BadTest.testHang"}


def test_files_that_are_left_out_and_a_folder_that_is_no_checkout(checkout, tmp_path):
    assert find_files(checkout) == ["layers/python/layers/layers_test.py"]
    with pytest.raises(FileNotFoundError, match=r"Wanted: a work tree of TensorFlow, tag v1.15.5"):
        find_files(tmp_path)


def test_a_class_named_in_super_does_not_make_its_other_tests_used(checkout):
    path = checkout / "tensorflow" / "contrib" / "layers" / "other.py"
    path.write_text(
        textwrap.dedent("""
        from tensorflow.contrib.layers.python.layers import layers
        from tensorflow.python.platform import test

        class SomeTest(test.TestCase):
            def setUp(self):
                super(SomeTest, self).setUp()

            def testPublic(self):
                layers.flatten(1)

            def testPrivate(self):
                layers._inner_flatten(1, 2)
        """)
    )
    names = contrib_private_names(path, checkout)
    assert names.of("SomeTest.testPublic") == ()
    assert "layers.python.layers.layers._inner_flatten" in names.of("SomeTest.testPrivate")


def test_every_miss_of_contrib_has_a_reason():
    misses = docs.contrib_parts()["contrib misses"].splitlines()
    assert misses
    assert [line for line in misses if page.UNEXPLAINED in line] == []
