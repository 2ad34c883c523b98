"""`estimator-bridge docs`: which page and which part of it are shown."""

import documents
import pytest

from estimator_bridge.commands.cli import main
from estimator_bridge.commands.docs import find_pages, section_of

PAGE = """# Title

Text.

## One thing, and `more`

```sh
# no heading
```

### Below

Deep.

## Another

Last.
"""


def test_all_pages_are_listed_with_their_titles(capsys):
    assert main(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(find_pages()) == len(list((documents.ROOT / "docs").rglob("*.md")))
    assert ["workers", "Several machines"] in [line.split(maxsplit=1) for line in lines]


@pytest.mark.parametrize("name", ["workers", "docs/workers.md", "workers.md"])
def test_a_page_is_shown_whole(name, capsys):
    assert main(["docs", name]) == 0
    assert capsys.readouterr().out.rstrip("\n") == (
        (documents.ROOT / "docs" / "workers.md").read_text(encoding="utf-8").rstrip("\n")
    )


def test_a_section_is_shown_with_those_below_it(capsys):
    assert section_of(PAGE, "one-thing-and-more").endswith("### Below\n\nDeep.\n\n")
    assert section_of(PAGE, "below") == "### Below\n\nDeep.\n\n"
    assert section_of(PAGE, "another") == "## Another\n\nLast.\n"
    assert section_of(PAGE, "title") == PAGE
    assert main(["docs", "workers#how-a-job-ends"]) == 0
    assert capsys.readouterr().out.startswith("### How a job ends\n")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("worker", "there is no page 'worker'; did you mean workers?"),
        ("nothing-like-it", "the pages are "),
        ("workers#nowhere-at-all-in-it", "the page workers has no section"),
        ("workers#parameter-server", "did you mean parameter-servers"),
    ],
)
def test_an_unknown_page_is_wrong_usage(page, words, capsys):
    assert main(["docs", page]) == 2
    assert words in capsys.readouterr().err
