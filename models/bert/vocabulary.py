"""The vocabulary and the sizes of the model that a program's flags name."""

from __future__ import annotations

import dataclasses
import os
import zlib
from collections.abc import Sequence

from absl import flags as absl_flags

from estimator_bridge.base.any_files import exists
from models.bert.config import SIZES, BertConfig, read_config
from models.bert.tokenization import Tokenizer, build_vocabulary, read_vocabulary
from models.common.saved_files import write_text

__all__ = ["config_of", "open_tokenizer"]

_VOCABULARY = os.path.join("bert", "vocab-{:08x}.txt")
_PIECES = 2000


def open_tokenizer(flag_values: absl_flags.FlagValues, texts: Sequence[Sequence[str]]) -> Tokenizer:
    """Reads the vocabulary of `--vocab_file`, or that of the texts, which it writes at first use.

    Args:
        flag_values: parsed and checked flags.
        texts: the sentences of each text to train on. They are to be checked before: a vocabulary
            of bad texts would stay in the data_dir.
    """
    path = flag_values.vocab_file
    if path is None:
        every = [sentence for text in texts for sentence in text]
        checksum = zlib.crc32("\n".join(every).encode())  # other texts have another vocabulary
        path = os.path.join(flag_values.data_dir, _VOCABULARY.format(checksum))
        if not exists(path):
            pieces = build_vocabulary(every, _PIECES, flag_values.lower_case)
            write_text(path, "\n".join(pieces) + "\n")
    return Tokenizer(read_vocabulary(path), flag_values.lower_case)


def config_of(flag_values: absl_flags.FlagValues, vocab_size: int) -> BertConfig:
    """Returns the sizes of `--bert_config_file`, or those of `--bert_size`."""
    if flag_values.bert_config_file:
        return read_config(flag_values.bert_config_file)
    return dataclasses.replace(SIZES[flag_values.bert_size], vocab_size=vocab_size)
