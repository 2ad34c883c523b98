"""Shows the values of a check's failed assertion, as in the tests themselves."""

import pytest

pytest.register_assert_rewrite("migrate.rewritten")
