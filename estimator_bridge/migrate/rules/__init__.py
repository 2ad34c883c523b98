"""The rules, one per file. Each registers itself in `registry` when it is imported.

To add a rule, write `rules/NAME.py` with one function below `@rule("EB...", title)`. Its docstring
is the rule's section of docs/rules.md: why, and an example that `rewrite` must produce; write the
page with `python -m estimator_bridge.migrate.documentation > docs/rules.md`. Its cases, at least
one that is left alone and one that is changed or reported, are in
`tests/migrate/rules/test_NAME.py`. Only `unreadable_files.py` has several rules: their findings are
reported while files are read, and the functions only hold the texts.
"""
