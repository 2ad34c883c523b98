"""Programs compiled by a TPU's own compiler: which, for which slices, and what came of it."""
