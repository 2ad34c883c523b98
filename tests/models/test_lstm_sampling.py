"""Texts that a checkpoint of the language model continues."""

import numpy as np
import pytest
import tensorflow as tf
from task_runs import TaskRun

import estimator_bridge as eb
from models.common.errors import UserError
from models.lstm.sample import main
from models.lstm.sampling import Sampling, sample

LENGTH = 24


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two layers; its texts are of two letters, so that what it writes can be read."""
    folder = tmp_path_factory.mktemp("lstm")
    for name in ("a", "b", "c", "d", "e", "f"):  # some of them are the test set
        (folder / f"{name}.txt").write_text(f"{name} abab baba abba baab " * 40)
    return TaskRun(
        "--model=lstm", "--nouse_tpu", f"--data_dir={folder}", f"--model_dir={folder / 'run'}",
        f"--text_length={LENGTH}", "--lstm_units=16", "--lstm_layers=2", "--train_batch_size=16",
        "--train_steps=60", "--learning_rate=0.02", "--tf_random_seed=1",
    ).train()  # fmt: skip


def test_a_temperature_of_0_takes_the_byte_that_the_model_predicts(trained):
    """The steps that remember equal the model on whole sequences."""
    prompt = "ab"
    text = sample(trained.estimator.model_dir, prompt, Sampling(LENGTH - len(prompt), 0))
    written = (prompt + text).encode()
    assert len(written) == LENGTH
    features = np.frombuffer(written, np.uint8).astype(np.int32)[np.newaxis]
    (row,) = trained.estimator.predict(lambda: tf.data.Dataset.from_tensors(features))
    assert bytes(row["next"][len(prompt) - 1 : -1].astype(np.uint8)) == text.encode()


def test_a_seed_gives_the_same_text_and_another_one_another(trained):
    folder = trained.estimator.model_dir
    texts = [sample(folder, "b", Sampling(40, 1.0, seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert all(len(text.encode(errors="replace")) >= 40 for text in texts)


def test_a_high_temperature_writes_less_likely_bytes(trained):
    """By the texts' alphabet: one that is nearly uniform leaves it."""
    folder = trained.estimator.model_dir

    def share_of_alphabet(temperature):
        text = sample(folder, "ab", Sampling(100, temperature, 1))
        return sum(letter in "abcdef " for letter in text) / len(text)

    assert share_of_alphabet(0.3) > 0.9
    assert share_of_alphabet(50.0) < 0.5


def test_the_command_writes_the_prompt_and_what_follows(trained, capsys):
    folder = trained.estimator.model_dir
    code = main([f"--model_dir={folder}", "--prompt=ab", "--length=10", "--seed=3"])
    assert code == 0
    assert capsys.readouterr().out == f"ab{sample(folder, 'ab', Sampling(10, seed=3))}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prompt="], "the prompt is empty"),
        (["--length=0"], "length 0: want 1 byte or more"),
        (["--temperature=-1"], "temperature -1.0: want a number from 0 on"),
        (["--temperature=nan"], "temperature nan: want a number from 0 on"),
    ],
)
def test_wrong_arguments_are_refused(trained, capsys, arguments, message):
    assert main([f"--model_dir={trained.estimator.model_dir}", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_folder_without_a_checkpoint_is_refused(tmp_path, capsys):
    assert main([f"--model_dir={tmp_path}"]) == 1
    assert f"Couldn't find a checkpoint in the folder {tmp_path}" in capsys.readouterr().err


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        weight = tf.compat.v1.get_variable("dense/kernel", [2, 3])
        session.run(weight.initializer)
        prefix = tf.compat.v1.train.Saver([weight]).save(session, str(tmp_path / "model.ckpt"))
    with pytest.raises(UserError, match=r"recurrent_kernel is missing. It has dense/kernel"):
        sample(prefix, "a")
    with pytest.raises(eb.errors.CheckpointError):
        sample(str(tmp_path / "none.ckpt"), "a")
