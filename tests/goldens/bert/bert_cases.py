"""A small BERT, its inputs, and texts to split; read by TensorFlow 1.15 and by the tests."""

import zlib

import numpy as np

CONFIG = {
    "vocab_size": 40,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "max_position_embeddings": 16,
    "type_vocab_size": 2,
    "initializer_range": 0.02,
}
BATCH, LENGTH, HIDDEN, CLASSES = 4, 10, 3, 3
# The rate hardly falls: where the original reads the step is a race with the step's update.
STEPS, RATE, ALL_STEPS, WARMUP = 4, 0.05, 10**9, 0
# fmt: off
VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "un", "##aff", "##able", "resume", "##s",
    "run", "##ning", ",", ".", "!", "-", "'", "$", "2", "##0", "##1", "##8", "caf", "##e", "a", "b",
    "c", "##b", "##c", "\u4e2d", "\u6587", "na", "##ive",
]
# fmt: on
TEXTS = (
    "UNaffable runs, running. The resum\u00e9s!",
    "caf\u00e9 na\u00efve 2018 $20",
    "\u4e2d\u6587the\u00a0run\tb\u0000c\u200babc",
    "abc the-run's xyz \u2019run\u2019 ",
    "",
    "a" * 250 + " a",
)


def inputs():
    random = np.random.RandomState(0)
    mask = np.ones([BATCH, LENGTH], np.int32)
    mask[1, 7:] = 0
    return {
        "input_ids": random.randint(0, CONFIG["vocab_size"], [BATCH, LENGTH]).astype(np.int32),
        "input_mask": mask,
        "segment_ids": random.randint(0, 2, [BATCH, LENGTH]).astype(np.int32),
        "masked_lm_positions": random.randint(0, 7, [BATCH, HIDDEN]).astype(np.int32),
        "masked_lm_ids": random.randint(0, CONFIG["vocab_size"], [BATCH, HIDDEN]).astype(np.int32),
        "masked_lm_weights": np.array([[1, 1, 0]] * BATCH, np.float32),
        "next_sentence_labels": np.array([0, 1, 1, 0], np.int32),
    }


def weight(name, shape):
    """A weight's value, by its name."""
    random = np.random.RandomState(zlib.crc32(name.encode()) % (1 << 31))
    centre = 1.0 if name.endswith("gamma") else 0.0
    return (centre + 0.2 * random.standard_normal(shape)).astype(np.float32)
