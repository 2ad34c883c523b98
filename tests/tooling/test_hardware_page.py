import json

from tooling.hardware_page import FACTS, PAGE, page_of


def test_the_page_is_that_of_the_facts():
    """Otherwise: python -m tooling.hardware_page."""
    assert PAGE.read_text() == page_of(json.loads(FACTS.read_text()))
