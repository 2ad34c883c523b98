"""An exported classifier takes texts: TensorFlow splits them as Python does."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from models.bert.examples import sequence
from models.bert.text_graph import TextReader
from models.bert.tokenization import SPECIAL, Tokenizer

WORDS = ("un", "able", "##able", "##aff", "##a", "a", "aff", "b", "##b", "e", "##e", ",", "Un",
         "\u4e2d", "\u0432", "##\u0432", "?", "##d", "d", "E")  # fmt: skip
VOCABULARY = [*SPECIAL, *WORDS]
LENGTH = 12
TEXTS = [
    "", " ", "unaffable", "Unable, a b?", "un-able", "\u00c9e\u0301 \u0415\u0432 \u0432\u0432",
    "\u4e2da\u4e2d", "a\u00adb\u200bb", "a\u3000b\tb\x1cb\x00b\ufffd", "x" * 201 + " a",
    "a" * 200, "\uac00 \u212b \u0130", "e\u20dd", "a b " * 20,
]  # fmt: skip


@pytest.fixture(scope="module")
def read():
    """Reads texts by TensorFlow and by Python; a graph for each way is traced once."""
    functions = {}

    def both(lower_case, texts, second=None):
        key = lower_case, second is not None
        if key not in functions:
            reader = TextReader(VOCABULARY, lower_case, LENGTH)
            spec = tf.TensorSpec([None], tf.string)
            functions[key] = tf.function(reader.features, [spec] * (1 + (second is not None)))
        columns = [texts] if second is None else [texts, second]
        ours = functions[key](*(tf.constant(column, tf.string) for column in columns))
        tokenizer = Tokenizer(VOCABULARY, lower_case)
        rows = []
        for row in zip(*columns):
            parts = [tokenizer.numbers(text) for at, text in enumerate(row) if text or at == 0]
            rows.append(sequence(tokenizer, parts, LENGTH))
        theirs = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return {name: value.numpy() for name, value in ours.items()}, theirs

    return both


def assert_equal(both):
    ours, theirs = both
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        assert ours[name].dtype == np.int32
        np.testing.assert_array_equal(ours[name], value, err_msg=name)


@pytest.mark.parametrize("lower_case", [True, False])
def test_texts_of_all_kinds(read, lower_case):
    assert_equal(read(lower_case, TEXTS))
    assert_equal(read(lower_case, TEXTS, TEXTS[::-1]))


@settings(max_examples=60)
@given(texts=st.lists(st.text(st.characters(exclude_characters="\u03a3"), max_size=8), min_size=1))
def test_any_text(read, texts):
    """But for a capital sigma, whose small letter depends on its place."""
    assert_equal(read(True, texts))


@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(*[st.text("aeb ,d", max_size=24)] * 2), min_size=1))
def test_any_pair_is_cut_at_its_longer_part(read, pairs):
    assert_equal(read(True, [a for a, _ in pairs], [b for _, b in pairs]))
