"""Programs that run within a test's process do not see what other tests have left there."""

import types

from absl import flags as absl_flags
from train_here import start


def test_flags_of_others_are_hidden_and_come_back(tmp_path):
    left = types.ModuleType("left_by_a_test")
    exec("def define(flags): flags.DEFINE_string('left_over', 'there', '')", vars(left))
    left.define(absl_flags)
    seen = []

    def program():
        seen.extend(absl_flags.FLAGS)
        absl_flags.DEFINE_string("of_the_program", "", "")
        absl_flags.FLAGS(["program"])

    try:
        assert start(tmp_path, program, "program").code == 0
        assert "left_over" not in seen and "of_the_program" not in absl_flags.FLAGS
        assert absl_flags.FLAGS["left_over"].value == "there"
        module = absl_flags.FLAGS.find_module_defining_flag("left_over")
        start(tmp_path, program, "program")
        assert absl_flags.FLAGS.find_module_defining_flag("left_over") == module
    finally:
        delattr(absl_flags.FLAGS, "left_over")
