"""tf.contrib.distributions beside TensorFlow 1.15.5: each case gives what was recorded there."""

import pytest
from golden_tables import Group, check_arguments, check_case

GROUP = Group("distributions")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return GROUP.run(tmp_path_factory.mktemp("contrib"))


@pytest.mark.parametrize("name", GROUP.cases)
def test_a_case_gives_what_the_original_gave(seen, name):
    check_case(seen, name)


@pytest.mark.parametrize("name", GROUP.signatures)
def test_arguments_are_those_of_the_original(seen, name):
    check_arguments(seen, name)
