"""`estimator-bridge check` and `rewrite`: turn old source into source that plain Python runs.

Sources are parsed with `ast` and rewritten as text, in spans: a rule reports what it found and what
to write instead, and all other text stays unchanged, byte for byte. libcst was tried: names with
their scopes and positions took 5 s for 10,000 lines; `ast` and `scopes` take 0.3 s.
"""
