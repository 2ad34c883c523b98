"""Finds the private names that a test file uses."""

from __future__ import annotations

import textwrap

import pytest

from parity.harness.privates import private_names

HEAD = """
    import tempfile
    import tensorflow as tf
    from tensorflow.python.distribute import estimator_training as gone
    from tensorflow.python.training import server_lib
    from tensorflow_estimator.python.estimator import estimator as est_lib
    from tensorflow_estimator.python.estimator import gc
    from tensorflow_estimator.python.estimator.mode_keys import ModeKeys

    def helper():
        return deeper()

    def deeper():
        return gc.Path(1)

    class Base(tf.test.TestCase):
        def setUp(self):
            self.shared = 1

        def checks(self, est):
            return est._inside
"""


def privates(tmp_path, body, setup="", decorator=""):
    path = tmp_path / "some_test.py"
    source = textwrap.dedent(HEAD) + textwrap.dedent(f"""
    {decorator}
    class SomeTest(Base):
        {setup}
        def test_it(self):
            {body}
    """)
    path.write_text(source)
    return private_names(path).of("SomeTest.test_it")


@pytest.mark.parametrize(
    "body",
    [
        "est_lib.EstimatorV2(None)",
        "ModeKeys.TRAIN",
        "spec._replace(mode=1)",
        "self._own = 1; self._own",
        "value.__class__",
        "est_lib._load_global_step_from_checkpoint_dir('x')",  # it has a stand-in
        "tf.test.mock.patch.object(tempfile, 'mkdtemp')",
        "tf.test.mock.patch.object(tf.logging, 'warning')",
    ],
)
def test_public_use(tmp_path, body):
    assert privates(tmp_path, body) == ()


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("est_lib._dict_to_str({})", "estimator._dict_to_str"),
        ("gc.Path", "gc.Path"),
        ("est._session_config", "(object)._session_config"),
        ("server_lib._something", "tensorflow.python.training.server_lib._something"),
        ("gone.is_used()", "tensorflow.python.distribute.estimator_training.is_used"),
        ("helper()", "gc.Path"),
        ("self.checks(est)", "(object)._inside"),
        ("mock.patch.object(server_lib, 'Server')",
         "mock of tensorflow.python.training.server_lib.Server"),
        ("mock.patch.object(est_lib.Estimator, 'train')", "mock of estimator.Estimator.train"),
    ],
)  # fmt: skip
def test_private_use(tmp_path, body, name):
    assert name in privates(tmp_path, body)


def test_a_stand_in_for_a_part_of_the_original(tmp_path):
    head = "from tensorflow_estimator.python.estimator import training as t\n"
    for method, privates_of_it in {
        "run_local": (),
        "run_chief": ("training._TrainingExecutor",),
    }.items():
        path = tmp_path / "some_test.py"
        path.write_text(
            f"{head}class A:\n def test_a(self):\n  t._TrainingExecutor(1).{method}()\n"
        )
        assert private_names(path).of("A.test_a") == privates_of_it


def test_a_part_that_this_library_has_too_is_private(tmp_path):
    path = tmp_path / "some_test.py"
    path.write_text(
        "from tensorflow_estimator.python.estimator import training as t\n"
        "class A:\n def test_a(self):\n  t._EvalStatus.EVALUATED\n"
    )
    assert private_names(path).of("A.test_a") == ("training._EvalStatus",)


def test_what_the_class_does_for_each_test_counts(tmp_path):
    assert privates(tmp_path, "1", setup="setUp = None\n        def tearDown(self): gc.Path\n")
    faked = "@mock.patch.object(server_lib, 'Server')"
    assert privates(tmp_path, "1", decorator=faked)


def test_parameterized_tests_share_their_methods_names(tmp_path):
    path = tmp_path / "some_test.py"
    path.write_text("class A:\n def test_a(self): est._x\n def test_a_b(self): pass\n")
    names = private_names(path)
    assert names.of("A.test_a0") == ("(object)._x",)
    assert names.of("A.test_a_b_mode_graph") == ()
    assert names.of("A.test_other") == ()


def test_a_class_named_in_super_does_not_make_its_other_tests_private(tmp_path):
    path = tmp_path / "super_test.py"
    path.write_text(
        textwrap.dedent(HEAD)
        + textwrap.dedent("""
        class SomeTest(Base):
            def setUp(self):
                super(SomeTest, self).setUp()

            def test_public(self):
                est_lib.EstimatorV2(None)

            def test_private(self):
                helper()
        """)
    )
    names = private_names(path)
    assert names.of("SomeTest.test_public") == ()
    assert names.of("SomeTest.test_private") != ()
