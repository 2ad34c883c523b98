"""EB061: a flag that TensorFlow also defines."""

import pytest
from absl import flags, logging
from migrate.model_sources import HEAD
from migrate.rewritten import check_changed, check_left_alone, check_reported, rewritten


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "tf.flags.DEFINE_string('logdir', '', '')\nparser.add_argument('--log_dir')\n",
        HEAD + "tf.flags.DEFINE_string('log_dir', '', '', allow_override=True)\n",
        HEAD + "tf.flags.DEFINE_string(*log_dir)\n",
    ],
)
def test_left_alone(source):
    check_left_alone(source)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            HEAD + "tf.flags.DEFINE_string('log_dir', '', '')\n",
            HEAD + "tf.flags.DEFINE_string('log_dir', '', '', allow_override=True)\n",
        ),
        (
            HEAD + "tf.app.flags.DEFINE_bool(name='pdb', default=0, help='')\n",
            HEAD
            + "tf.app.flags.DEFINE_bool(name='pdb', default=0, help='', allow_override=True)\n",
        ),
        (
            HEAD + "tf.flags.DEFINE_string(\n    'log_dir', '',\n    'Where.',  # here\n)\n",
            HEAD
            + "tf.flags.DEFINE_string(\n    'log_dir', '',\n"
            + "    'Where.', allow_override=True,  # here\n)\n",
        ),
    ],
)
def test_changed(before, after):
    check_changed("EB061", before, after)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            HEAD + "tf.flags.DEFINE_integer('v', 1, 'What.')\n",
            "Give the program's flag another name.",
        ),
    ],
)
def test_reported(source, words):
    check_reported("EB061", "by hand", source, words)


def test_the_flag_is_then_the_programs():
    """tf.flags is absl.flags, which shows it without TensorFlow."""
    before = "from absl import flags\nflags.DEFINE_string('log_dir', 'of the program', '')\n"
    of_absl = logging.FLAGS["log_dir"]
    with pytest.raises(flags.DuplicateFlagError):
        exec(before, {})
    try:
        exec(rewritten(before), {})
        assert logging.FLAGS["log_dir"].default == "of the program"
    finally:
        delattr(logging.FLAGS, "log_dir")
        flags.DEFINE_flag(of_absl, module_name="absl.logging")
