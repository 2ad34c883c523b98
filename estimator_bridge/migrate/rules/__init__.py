"""The rules, one a file. Each adds itself to the table in `registry` when it is imported."""
