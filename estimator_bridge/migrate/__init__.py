"""`estimator-bridge check` and `rewrite`: from old source to source that runs by plain Python.

Sources are read with `ast` and rewritten as text, in spans: a rule says once what it found and what
to write instead, and whatever it does not name stays as it is, byte for byte. libcst was tried:
names with their scopes and positions took it 5 s for 10,000 lines, `ast` and `scopes` take 0.3 s.
"""
