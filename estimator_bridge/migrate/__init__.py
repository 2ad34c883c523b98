"""`estimator-bridge check` and `rewrite`: turn old source into source that plain Python runs.

Sources are parsed with `ast` and rewritten as text, in spans: a rule reports what it found and what
to write instead, and all other text stays unchanged, byte for byte. libcst was tried: names with
their scopes and positions took 5 s for 10,000 lines; `ast` and `scopes` take 0.3 s.

``check`` reads a source with ``ast`` (``module``) and follows names through imports, aliases
and scopes (``scopes``). A name of TensorFlow is looked up in the API that the module uses
(``names``): "tf1." is TensorFlow 1's API, "tf2." today's. The dialect is the one that ``run`` sees
(``legacy.running.dialects``). Tables map names to their replacements: those of ``legacy/``, and
``names.json``, which ``tests/migrate/make_names.py`` writes from TensorFlow and this library. If a
name of ``tf.contrib`` is the same object as a public name of either, it is rewritten to that name,
so its numbers cannot differ.

``migrate/eb_model/`` splits a model_fn: ``modes`` follows it in each mode up to its spec,
``slicing`` slices the statements by the names they read and set (``data_flow``). Statements of all
modes that need no labels are inference. A statement without a place in ``eb.Model`` raises a
``CannotTakeApartError`` with its line.

A rule is a function in a file of ``rules/`` that reads a module and yields findings. Its docstring
is the documentation's text, whose examples are tested. Its other cases, left alone and changed, are
in ``tests/migrate/rules/``, one test module a rule. A finding that can be rewritten carries edits:
spans of the text and their replacements (``edits``). So one rule serves both commands, and text
that no rule matches keeps its bytes. Rounds of rules and edits repeat until nothing is found
(``rewriting``), so a second ``rewrite`` changes nothing.

Why ``ast`` and edits of spans, and not libcst: parsing 10,017 lines with names, scopes and
positions took libcst 5.1 s of CPU time, ``ast`` 0.07 s; ``check`` as a whole takes 0.7 s to 0.9 s.
Edits also serve both commands, since ``check`` needs the place and ``rewrite`` the text, and
unedited text keeps its bytes without a printer that has to know it. Few rules need what libcst
would add, a tree with comments and white space: imports are the only statements that are written
anew (``import_statements``).

A notebook is handled as one text (``notebooks``): its cells follow comments that mark them, its
magics become comments. Only the sources of changed cells are written back, in place in the JSON
(``json_spans``). Rules on TPUs examine the functions whose operations run on cores
(``tpu_functions``): those that make a ``TPUEstimatorSpec`` or are given as ``model_fn``, and the
functions that they call in their module, without those that ``host_call``, ``eval_metrics`` and
``scaffold_fn`` run on the host.
"""
