"""Writes docs/rules.md: what the rules' own texts say.

python -m estimator_bridge.migrate.documentation > docs/rules.md
"""

from __future__ import annotations

from collections.abc import Iterator

from estimator_bridge.migrate.registry import all_rules

__all__ = ["page"]

_HEAD = """\
# The rules of `check` and `rewrite`

Written by `python -m estimator_bridge.migrate.documentation`, from the rules' own texts.

`estimator-bridge check` reports what the rules find, `estimator-bridge rewrite` writes what they
say. Each finding has one of four severities:

| severity | meaning |
|---|---|
| works as is | nothing is to be done |
| rewritten automatically | `rewrite` does it |
| by hand | a person has to look: the message says how, and `rewrite` writes it as a comment |
| cannot be had | the name is nowhere any more: the message says what to use |

`# eb: ignore[EB012]` at the end of a line leaves out what a rule finds there, `# eb: ignore` what
all rules find, `# eb: ignore-file[EB012]` what a rule finds in the file. `--select EB01,EB030` and
`--ignore EB04` choose rules by their codes or what these begin with. The same in pyproject.toml:

```toml
[tool.estimator-bridge]
select = ["EB01", "EB03"]
ignore = ["EB030"]
exclude = ["third_party/*"]
dialect = "tf1"
```
"""


def page() -> str:
    """The page, in Markdown."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "| rule | |\n|---|---|"
    for code, rule in all_rules().items():
        yield f"| [{code}](#{code.lower()}) | {rule.title} |"
    yield ""
    for code, rule in all_rules().items():
        yield f'<a id="{code.lower()}"></a>\n\n## {code}: {rule.title}\n\n{_shown(rule.text)}\n'


def _shown(text: str) -> str:
    """A rule's text; its examples are parts of programs, and none that a page's test can run."""
    return text.replace("```python", "```py")


if __name__ == "__main__":
    print(page(), end="")
