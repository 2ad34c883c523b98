"""Writes docs/rules.md from the rules' texts.

python -m estimator_bridge.migrate.documentation > docs/rules.md
"""

from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.registry import all_rules

__all__ = ["page"]

_HEAD = """\
# The rules of `check` and `rewrite`

Written by `python -m estimator_bridge.migrate.documentation`, from the rules' own texts.
[Checking and rewriting old source](check_and_rewrite.md) describes the commands.

`estimator-bridge check` reports what the rules find; `estimator-bridge rewrite` changes the source
accordingly. Each finding has one of four severities:

| severity | meaning |
|---|---|
| works as is | no change is needed |
| rewritten automatically | `rewrite` does it |
| by hand | a person has to change it; `rewrite` writes the message as a comment |
| unavailable | the name no longer exists; the message says what to use instead |

`# eb: ignore[EB012]` at the end of a line suppresses a rule's findings there, `# eb: ignore` those
of all rules, and `# eb: ignore-file[EB012]` a rule's findings in the file. `--select EB01,EB030`
and `--ignore EB04` choose rules by codes or prefixes of codes. The same in pyproject.toml:

```toml
[tool.estimator-bridge]
select = ["EB01", "EB03"]
ignore = ["EB030"]
exclude = ["third_party/*"]
dialect = "tf1"
```
"""


def page() -> str:
    """Returns the page in Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "| rule | |\n|---|---|"
    for code, rule in all_rules().items():
        yield f"| [{code}](#{code.lower()}) | {rule.title} |"
    yield ""
    for code, rule in all_rules().items():
        title = f"{rule.title[:1].upper()}{rule.title[1:]}"
        yield f"## {code}\n\n**{title}.** {_text_of(rule.text)}\n"


def _text_of(text: str) -> str:
    """Returns a rule's text with its examples marked as `py`: the test of pages cannot run them."""
    return text.replace("```python", "```py")


if __name__ == "__main__":
    print(page(), end="")
