"""The rules, one per file. Each registers itself in `registry` when it is imported."""
