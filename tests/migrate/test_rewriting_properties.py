"""Properties of `rewrite`, for mixes of imports, aliases, attributes and statements."""

from __future__ import annotations

import ast
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from estimator_bridge.migrate.check import examine
from estimator_bridge.migrate.edits import apply_edits, replace_spans, select_compatible
from estimator_bridge.migrate.findings import Edit
from estimator_bridge.migrate.module import Module
from estimator_bridge.migrate.notebooks import read_notebook_source
from estimator_bridge.migrate.registry import select_rules
from estimator_bridge.migrate.rewriting import rewrite_text

RULES = select_rules((), ())

IMPORTS = st.sampled_from(
    [
        "import tensorflow as tf", "import tensorflow", "import tensorflow.compat.v1 as tf",
        "import tensorflow as tf, numpy as np", "import numpy as np", "import collections, time",
        "from tensorflow.contrib import slim, tpu", "from tensorflow.contrib import bigtable as tf",
        "from tensorflow.contrib.layers import (conv2d,  # first\n    flatten)",
        "import tensorflow.contrib.slim as slim", "from tensorflow import estimator, flags",
        "from tensorflow.python.estimator import model_fn as lib", "import cPickle, Queue as queue",
        "from tensorflow.python.keras import backend as K", "from tensorflow.contrib.tpu import *",
        "try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle",
        "if True:\n    import tensorflow as tf\nelse:\n    tf = None",
    ]
)  # fmt: skip
NAMES = st.sampled_from(
    [
        "tf.contrib.layers.conv2d", "tf.contrib.rnn.GRUCell", "tf.contrib.learn.run_experiment",
        "tf.contrib.tpu.TPUConfig", "tf.estimator.RunConfig", "tf.estimator.DNNClassifier",
        "tf . contrib . training . HParams", "tf.nn.relu", "tf.nosuch.name", "tensorflow.estimator",
        "slim.conv2d", "tpu.RunConfig", "estimator.Estimator", "lib.ModeKeys.EVAL", "np.float",
        "np.fromstring", "np.product", "time.clock", "collections.Mapping", "xrange", "unicode",
        "flags.DEFINE_string", "tf.flags.DEFINE_string", "tf.VERSION", "K.name", "pickle", "self.x",
        "(tf.contrib\n  .layers)", "tf.contrib", "contrib", "eb", "näme.x",
    ]
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(NAMES, st.sampled_from(["1", "'ä'", '"""a\nb"""', "[]", "f'{x}'"])),
    lambda inner: st.one_of(
        st.builds("{}({})".format, NAMES, inner),
        st.builds("{}({}, interpolation={})".format, NAMES, inner, inner),
        st.builds("{}.iteritems()".format, NAMES),
        st.builds("{}.has_key({})".format, NAMES, inner),
        st.builds("map(str, {})[0]".format, inner),
        st.builds("range({}) + [{}]".format, inner, inner),
        st.builds("[{} for tf in {}]".format, inner, inner),
        st.builds("(lambda tf: {})({})".format, inner, inner),
        st.builds("({},\n   # between\n   {})".format, inner, inner),
    ),
    max_leaves=4,
)
STATEMENTS = st.one_of(
    IMPORTS,
    st.builds("x = {}".format, VALUES),
    st.builds("x = {}  # é".format, VALUES),
    st.builds("tf = {}".format, VALUES),
    st.builds("x = 1; y = {}; z = 2".format, VALUES),
    st.builds("if {}: x = 1".format, VALUES),
    st.builds("for i in {}:\n\tprint(i)".format, VALUES),
    st.builds("def f(tf=None):\n    return {}".format, VALUES),
    st.builds("class A({}):\n\n    def next(self):\n        pass".format, VALUES),
    st.builds("assert {}, 'a'".format, VALUES),
    st.builds("{} = 1".format, NAMES),
    st.just("\n# a comment\f"),
)


def is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


SOURCES = (
    st.lists(STATEMENTS, min_size=1, max_size=8)
    .map(lambda statements: "\n".join(filter(is_python, statements)) + "\n")
    .flatmap(lambda text: st.sampled_from([text, text[:-1], text.replace("\n", "\r\n")]))
    .filter(is_python)
)


@settings(max_examples=120, deadline=None)
@given(SOURCES)
def test_a_second_rewrite_does_nothing_and_the_result_is_python(source):
    module = Module("program.py", source)
    text, left = rewrite_text(module, RULES, examine(module, RULES).findings)
    ast.parse(text)
    again = Module("program.py", text, module.dialect)
    assert rewrite_text(again, RULES, examine(again, RULES).findings)[0] == text
    assert not select_compatible(left)


@settings(max_examples=60, deadline=None)
@given(SOURCES)
def test_text_outside_of_edits_keeps_its_bytes(source):
    module = Module("program.py", source)
    findings = examine(module, RULES).findings
    edits = sorted(
        {e: None for f in select_compatible(findings) for e in f.edits}, key=lambda e: e.span
    )
    text = replace_spans(source, edits)
    place = end = 0
    for edit in edits:
        unchanged = source[end : edit.span.start]
        assert text[place : place + len(unchanged)] == unchanged
        place += len(unchanged) + len(edit.text)
        end = edit.span.end
    assert text[place:] == source[end:]
    # What `rewrite` adds to that are whole lines: imports and comments.
    lines = apply_edits(module, findings).splitlines()
    rest = iter(lines)
    assert all(line in rest for line in text.splitlines())


@settings(max_examples=60, deadline=None)
@example(["from tensorflow.contrib import bigtable as tf\n"])
@example(["x = 1; y = map(str, (tf.contrib.layers.conv2d,\n   # between\n   tf.nosuch.name))[0]\n"])
@given(st.lists(st.one_of(SOURCES, st.sampled_from(["%magic a\n", "!ls", "x = !ls"])), max_size=4))
def test_a_notebook_that_is_not_changed_keeps_its_bytes(tmp_path_factory, cells):
    cells = ["import tensorflow as tf\n", *cells]
    code_cells = [{"source": c.splitlines(True), "cell_type": "code", "outputs": []} for c in cells]
    path = tmp_path_factory.mktemp("notebook") / "a.ipynb"
    content = json.dumps({"cells": code_cells, "nbformat": 4}, indent=1).encode()
    path.write_bytes(content)
    source = read_notebook_source(str(path))
    assert source.encode_text(source.text) == content
    module = Module("a.ipynb", source.text)
    text, _ = rewrite_text(module, RULES, examine(module, RULES).findings)
    after = json.loads(source.encode_text(text))
    assert [key for cell in after["cells"] for key in cell] == list(code_cells[0]) * len(cells)
    again = path.with_name("b.ipynb")
    again.write_bytes(source.encode_text(text))
    reread = read_notebook_source(str(again))
    sources = ["".join(cell["source"]) for cell in after["cells"]]
    assert [cell.source for cell in reread.cells] == [code for code in sources if code.strip()]
    if all(code.strip() for code in sources):  # an import that went may leave a cell empty
        assert reread.display(reread.text) == source.display(text)


def test_an_insertion_stands_before_what_is_replaced_there():
    from estimator_bridge.migrate.findings import Span

    edits = [Edit(Span(2, 4), "X"), Edit(Span(2, 2), "a"), Edit(Span(4, 4), "b")]
    assert replace_spans("012345", edits) == "01aXb45"
