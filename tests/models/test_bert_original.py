"""BERT's names, numbers, training step and pieces are those of google-research/bert on TF 1.15."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from goldens.bert import bert_cases as cases
from task_runs import open_task, parsed

import estimator_bridge as eb
from models.bert.config import SIZES, BertConfig, read_config, variable_shapes
from models.bert.encoder import encode
from models.bert.initial_weights import warm_start
from models.bert.model import CLASSIFIER, PRETRAINING
from models.bert.optimizer import bert_optimizer
from models.bert.tokenization import Tokenizer, build_vocabulary, read_vocabulary
from models.common.errors import UserError
from models.common.task import InputRequest

v1 = tf.compat.v1
GOLDEN = json.loads((Path(__file__).parent.parent / "goldens" / "bert" / "bert.json").read_text())
RECORDED = GOLDEN["pretraining"]
PARAMS = {"learning_rate": cases.RATE, "train_steps": cases.ALL_STEPS,
          "warmup_steps": cases.WARMUP, "classes": cases.CLASSES}  # fmt: skip
LABELS = ("masked_lm_ids", "masked_lm_weights", "next_sentence_labels")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "bert_config.json"
    path.write_text(json.dumps({**cases.CONFIG, "pooler_type": "first_token_transform"}))
    return read_config(str(path))


@pytest.fixture
def session(config):
    """A session in the graph of pretraining's step, with the recorded start; and its spec."""
    with tf.Graph().as_default(), v1.Session() as session:
        tensors = {name: tf.constant(value) for name, value in cases.inputs().items()}
        features = {name: value for name, value in tensors.items() if name not in LABELS}
        labels = {name: tensors[name] for name in LABELS}
        v1.train.get_or_create_global_step()
        spec = PRETRAINING.model_fn(features, labels, "train", {**PARAMS, "config": config})
        session.run(v1.global_variables_initializer())
        for variable in v1.trainable_variables():
            variable.load(cases.weight(variable.op.name, variable.shape.as_list()), session)
        yield session, spec


def test_variables_have_the_names_and_shapes_of_released_checkpoints(config, session):
    shapes = {v.op.name: v.shape.as_list() for v in v1.trainable_variables()}
    assert shapes == RECORDED["variables"]
    every = sorted(v.op.name for v in v1.global_variables())
    assert every == RECORDED["all_variables"]
    encoder = {name: tuple(shape) for name, shape in shapes.items() if name.startswith("bert/")}
    assert variable_shapes(config) == encoder


def test_a_classifier_has_the_names_of_the_original(config):
    with tf.Graph().as_default():
        features = {name: tf.constant(cases.inputs()[name])
                    for name in ("input_ids", "input_mask", "segment_ids")}  # fmt: skip
        v1.train.get_or_create_global_step()
        CLASSIFIER.model_fn(features, None, "infer", {**PARAMS, "config": config})
        shapes = {v.op.name: v.shape.as_list() for v in v1.trainable_variables()}
    assert shapes == GOLDEN["classifier"]


def test_the_encoder_computes_the_numbers_of_the_original(config, session):
    with v1.variable_scope("", reuse=True):
        features = {name: tf.constant(value) for name, value in cases.inputs().items()}
        encoded, pooled, _ = encode(features, config, training=False)
    np.testing.assert_allclose(session[0].run(encoded), RECORDED["sequence"], atol=2e-6)
    np.testing.assert_allclose(session[0].run(pooled), RECORDED["pooled"], atol=2e-6)


def test_the_training_step_makes_the_losses_and_weights_of_the_original(session):
    session, spec = session
    for masked, follows in RECORDED["losses"]:
        # The original reads the loss before the step, and so does one run here.
        assert session.run(spec.loss) == pytest.approx(masked + follows, rel=2e-5)
        session.run(spec.train_op)
    embeddings = next(
        v for v in v1.trainable_variables() if v.op.name == "bert/embeddings/word_embeddings"
    )
    np.testing.assert_allclose(
        session.run(embeddings), RECORDED["word_embeddings_afterwards"], atol=1e-4
    )


def test_the_rate_rises_from_0_and_falls_to_0():
    params = {"learning_rate": 0.5, "train_steps": 10, "warmup_steps": 2}
    with tf.Graph().as_default(), v1.Session() as session:
        step = v1.train.get_or_create_global_step()
        optimizer = bert_optimizer(params)
        rates = []
        session.run(v1.global_variables_initializer())
        for number in (0, 1, 2, 5, 10, 11):
            step.load(number, session)
            rates.append(float(session.run(optimizer.rate)))
    np.testing.assert_allclose(rates, [0.0, 0.25, 0.4, 0.25, 0.0, 0.0], atol=1e-7)


@pytest.mark.parametrize("kind", ["lower", "cased"])
def test_texts_are_split_as_by_the_original(kind):
    tokenizer = Tokenizer(cases.VOCABULARY, lower_case=kind == "lower")
    assert [tokenizer.pieces(text) for text in cases.TEXTS] == GOLDEN["texts"][kind]


def test_a_vocabulary_is_built_of_the_most_frequent_neighbors():
    pieces = build_vocabulary(["low lower lowest low", "slow"], 16)
    assert pieces[:5] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert "low" in pieces
    assert len(pieces) == 16
    assert Tokenizer(pieces).pieces("low slow") == ["low", "s", "##l", "##ow"]


def test_a_vocabulary_without_special_pieces_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("the\na\n")
    with pytest.raises(UserError, match=r"lacks \[PAD\], \[UNK\], \[CLS\], \[SEP\], \[MASK\]"):
        read_vocabulary(str(tmp_path / "vocab.txt"))


@pytest.fixture(scope="module")
def checkpoint(config, tmp_path_factory):
    """A checkpoint with the recorded variables, as the original saved it."""
    prefix = str(tmp_path_factory.mktemp("released") / "bert_model.ckpt")
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in RECORDED["variables"].items():
            v1.get_variable(name, initializer=tf.constant(cases.weight(name, shape)))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, prefix, write_meta_graph=False)
    return prefix


def test_a_released_checkpoint_is_the_start_of_a_classifier(config, checkpoint, tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(cases.VOCABULARY))
    (tmp_path / "bert_config.json").write_text(json.dumps(cases.CONFIG))
    for name in ("train.tsv", "test.tsv"):
        (tmp_path / name).write_text("good\tthe run\nbad\tunaffable caf\u00e9\nbad\ta\tb c\n")
    arguments = [
        f"--data_dir={tmp_path}", f"--vocab_file={tmp_path / 'vocab.txt'}",
        f"--bert_config_file={tmp_path / 'bert_config.json'}", f"--init_checkpoint={checkpoint}",
        "--max_seq_length=10", "--train_steps=1", "--warmup_steps=0",
    ]  # fmt: skip
    count = len(cases.VOCABULARY)
    with pytest.raises(UserError, match=f"{count} pieces, but .* says vocab_size 40"):
        open_task(parsed("--model=bert", *arguments))
    missing = [f"unused{number}" for number in range(cases.CONFIG["vocab_size"] - count)]
    (tmp_path / "vocab.txt").write_text("\n".join([*cases.VOCABULARY, *missing]))
    values = parsed("--model=bert", *arguments)
    task = open_task(values)
    assert task.data.sizes == {"train": 3, "test": 3}
    estimator = eb.Estimator(
        task.model.model_fn,
        model_dir=str(tmp_path / "run"),
        params={**task.params, **PARAMS, "learning_rate": 1e-9},
        warm_start_from=task.warm_start,
    )
    estimator.train(task.data.input_fn(InputRequest("train", True, 2, 1)), max_steps=1)
    for name in variable_shapes(config):
        expected = cases.weight(name, RECORDED["variables"][name])
        np.testing.assert_allclose(estimator.get_variable_value(name), expected, atol=1e-6)


def test_a_checkpoint_of_another_model_is_refused(checkpoint):
    with pytest.raises(UserError) as refused:
        warm_start(checkpoint, SIZES["tiny"], pretraining=False)
    assert "it is of another model" in str(refused.value)
    assert "word_embeddings has the shape [40, 8], want [30522, 64]" in str(refused.value)
    with pytest.raises(UserError, match=r"layer_2/attention/self/query/kernel is missing"):
        warm_start(checkpoint, BertConfig(8, 3, 2, 12, 40, 16), pretraining=True)
