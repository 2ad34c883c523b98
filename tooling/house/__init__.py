"""The project's own rules about its source, checked by `make lint`: `python -m tooling.house`.

Each rule is a function of a `Tree` that yields a line for each place that breaks it, beginning with
`path:` or `path:line:`, and is in the list `RULES` of its module.
"""
