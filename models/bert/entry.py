"""The entry of `train.py --model=bert`, which is read before TensorFlow is imported."""

from __future__ import annotations

from collections.abc import Iterator

from absl import flags as absl_flags

from estimator_bridge.base.any_files import exists
from models.bert.config import SIZES, read_config
from models.bert.labeled import FILES, check_files, read_labeled
from models.bert.tokenization import read_vocabulary
from models.common.errors import UserError
from models.common.model_entry import Entry, Layout
from models.common.text import read_texts, text_files

__all__ = ["ENTRY"]

# [CLS], two parts and two [SEP]
_SHORTEST = 8


def _define(flag_values: absl_flags.FlagValues) -> None:
    absl_flags.DEFINE_enum(
        "bert_task",
        "classify",
        ["pretrain", "classify"],
        "For bert: 'pretrain' learns masked pieces and the order of sentences, 'classify' labels.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_enum(
        "bert_size", "tiny", list(SIZES), "For bert: the size of the model.",
        flag_values=flag_values,
    )  # fmt: skip
    absl_flags.DEFINE_string(
        "bert_config_file",
        None,
        "For bert: the bert_config.json of a released checkpoint, in place of --bert_size.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_string(
        "vocab_file",
        None,
        "For bert: the vocab.txt of a released checkpoint. By default, a vocabulary is built from "
        "the texts and kept in the data_dir.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_bool(
        "lower_case", True, "For bert: ignore case and accents.", flag_values=flag_values
    )
    absl_flags.DEFINE_string(
        "init_checkpoint",
        None,
        "For bert: a checkpoint with initial weights, such as bert_model.ckpt.",
        flag_values=flag_values,
    )
    absl_flags.DEFINE_integer(
        "max_seq_length", 48, "For bert: pieces in a sequence.", flag_values=flag_values
    )


def _problems(flag_values: absl_flags.FlagValues) -> Iterator[str]:
    length = flag_values.max_seq_length
    longest = SIZES[flag_values.bert_size].max_position_embeddings
    if length is None or length < _SHORTEST:
        yield f"--max_seq_length={length}: want {_SHORTEST} or more"
    elif flag_values.bert_config_file is None and length > longest:
        yield (
            f"--max_seq_length={length}: --bert_size={flag_values.bert_size} reads at most "
            f"{longest} pieces"
        )
    if flag_values.bert_config_file is not None and flag_values.vocab_file is None:
        yield (
            "--bert_config_file needs --vocab_file: the checkpoint's weights are those of its "
            "own vocabulary"
        )


def _check(flag_values: absl_flags.FlagValues) -> None:
    """Checks the files that the flags name."""
    pieces = read_vocabulary(flag_values.vocab_file) if flag_values.vocab_file else None
    if flag_values.bert_config_file:
        config = read_config(flag_values.bert_config_file)
        if pieces is not None and len(pieces) != config.vocab_size:
            raise UserError(
                f"{flag_values.vocab_file}: {len(pieces):,} pieces, but "
                f"{flag_values.bert_config_file} says vocab_size {config.vocab_size:,}. Name the "
                "files of one checkpoint."
            )
        if flag_values.max_seq_length > config.max_position_embeddings:
            raise UserError(
                f"--max_seq_length={flag_values.max_seq_length}: the model of "
                f"{flag_values.bert_config_file} reads at most {config.max_position_embeddings}."
            )
    checkpoint = flag_values.init_checkpoint
    if checkpoint and not exists(f"{checkpoint}.index"):
        raise UserError(
            f"--init_checkpoint={checkpoint}: there is no {checkpoint}.index. Name the prefix of "
            "its files, such as uncased_L-12_H-768_A-12/bert_model.ckpt."
        )
    data_dir = flag_values.data_dir
    if flag_values.bert_task == "classify" and check_files(data_dir):
        read_labeled(data_dir)
        return
    read_texts(data_dir)
    if flag_values.bert_task == "classify" and text_files(data_dir):
        raise UserError(
            f"{data_dir}: has .txt files, and no {' and '.join(FILES.values())} with the labels "
            "that --bert_task=classify learns. --bert_task=pretrain reads .txt files."
        )


ENTRY = Entry(
    about="BERT: pretraining, and classification of texts",
    defaults={"train_steps": 400, "learning_rate": 3e-3, "warmup_steps": 30, "data_dir":
              "runs/data/text", "train_batch_size": 64},
    task="models.bert.task",
    layout=Layout(
        "labeled texts (train.tsv and test.tsv) or files of text (.txt)",
        ("*.tsv", "*.txt"),
        "Python's language reference",
    ),
    define_flags=_define,
    problems=_problems,
    check=_check,
    apis=("estimator",),
)  # fmt: skip
