"""Old programs whose outputs are checked against their own checkpoints and data."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tensorflow as tf
from running_programs import numbers, run_program


def events(folder):
    """(tag, step, value) of the scalars in a folder's event files."""
    scalars = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        for event in tf.compat.v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    scalars.append((value.tag, event.step, value.simple_value))
                elif value.HasField("tensor") and value.tensor.dtype == tf.float32.as_datatype_enum:
                    scalars.append((value.tag, event.step, float(tf.make_ndarray(value.tensor))))
    return scalars


def write_digits(path, count, first):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(first, first + count):
            label = number % 3
            image = (np.arange(36) * (label + 2) + number * 5) % 256
            feature = {
                "image_raw": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[image.astype(np.uint8).tobytes()])
                ),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


def test_contrib_attributes_and_host_call(on_cores, tmp_path):
    data, model = tmp_path / "data", tmp_path / "model"
    data.mkdir()
    write_digits(data / "train-0.tfrecords", 24, 0)
    write_digits(data / "train-1.tfrecords", 24, 24)
    write_digits(data / "eval.tfrecords", 20, 100)
    done = run_program(
        "digits.py", f"--data_dir={data}", f"--model_dir={model}",
        f"--use_tpu={on_cores}", "--tpu_name=demo-tpu", "--tpu_zone=us-central1-b",
        on_cores=on_cores,
    )  # fmt: skip
    labels = [number % 3 for number in range(100, 120)]
    predicted = [int(line) for line in done.lines("class ")]
    assert len(predicted) == 20
    accuracy = np.mean(np.equal(predicted, labels))
    assert numbers(done.line("eval accuracy =")) == pytest.approx([accuracy])
    assert done.line("eval global_step =") == "6"

    written = events(model)
    rates = {step: value for tag, step, value in written if tag == "learning_rate"}
    assert rates == pytest.approx({step: 0.1 * 0.5 ** (step // 2) for step in range(6)})
    losses = {step for tag, step, value in written if tag == "mean_loss" and value > 0}
    assert losses == set(range(6))
    checkpoints = {path.stem for path in model.glob("*.index")}
    assert checkpoints == {"model.ckpt-0", "model.ckpt-3", "model.ckpt-6"}


def test_compat_v1_predictions_keep_count_and_order(on_cores, tmp_path):
    done = run_program(
        "clusters.py", f"--model_dir={tmp_path}", f"--use_tpu={on_cores}", "--examples=11",
        *(["--tpu=local-of-old"] if on_cores else []), on_cores=on_cores,
    )  # fmt: skip
    assert re.search(r"accuracy 1\.0000 after 10 steps", done.log)
    rows = [line.split("\t") for line in (tmp_path / "predictions.tsv").read_text().splitlines()]
    assert [int(row[0]) for row in rows] == list(range(11))
    assert [int(row[1]) for row in rows] == [number * 7 % 3 for number in range(11)]

    saved = tf.train.load_checkpoint(str(tmp_path))
    centers = np.array([[2.0, 0.0], [-2.0, 1.0], [0.0, -3.0]])
    for number, row in enumerate(rows):
        point = centers[number * 7 % 3] + np.array([number % 5 - 2, number % 4 - 1.5]) * 0.2
        logits = point @ saved.get_tensor("groups/kernel") + saved.get_tensor("groups/bias")
        expected = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(np.array(row[2:], float), expected, rtol=1e-4)


def lstm_gru(saved, ids):
    """The tags and the last state that `tagger.py`'s net gives one sentence."""

    def weights(name):
        return saved.get_tensor(f"tagger/{name}/kernel"), saved.get_tensor(f"tagger/{name}/bias")

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    cells = "rnn/multi_rnn_cell"
    cell, hidden, state, logits = np.zeros(5), np.zeros(5), np.zeros(3), []
    for word in ids:
        x = saved.get_tensor("tagger/embedding")[word]
        kernel, bias = weights(f"{cells}/cell_0/basic_lstm_cell")
        i, j, f, o = np.split(np.concatenate([x, hidden]) @ kernel + bias, 4)
        cell = cell * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
        hidden = np.tanh(cell) * sigmoid(o)
        kernel, bias = weights(f"{cells}/cell_1/gru_cell/gates")
        r, u = np.split(sigmoid(np.concatenate([hidden, state]) @ kernel + bias), 2)
        kernel, bias = weights(f"{cells}/cell_1/gru_cell/candidate")
        candidate = np.tanh(np.concatenate([hidden, r * state]) @ kernel + bias)
        state = u * state + (1 - u) * candidate
        logits.append(
            state @ saved.get_tensor("tagger/project/weights")
            + saved.get_tensor("tagger/project/biases")
        )
    return np.argmax(logits, axis=1), state


def test_recurrent_cells_and_lookup_tables(on_cores, tmp_path):
    sentences = [
        "the dog sees a cat", "a bird sings", "the old zebra sleeps", "dog bites the cat",
        "cat sleeps", "a dog sees the bird",
    ]  # fmt: skip
    kinds = {"the": "DET", "a": "DET", "sees": "VERB", "sings": "VERB", "sleeps": "VERB",
             "bites": "VERB"}  # fmt: skip
    tags = [[kinds.get(word, "NOUN") for word in line.split()] for line in sentences]
    vocabulary = ["<pad>", "the", "a", "dog", "cat", "bird", "sees", "sings", "sleeps", "bites"]
    (tmp_path / "words.txt").write_text("\n".join(sentences) + "\n")
    (tmp_path / "tags.txt").write_text("\n".join(" ".join(line) for line in tags) + "\n")
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    model = tmp_path / "model"
    done = run_program(
        "tagger.py", "--data_dir", tmp_path, "--model_dir", model,
        *(["--use_tpu", "--tpu=any"] if on_cores else []), on_cores=on_cores,
    )  # fmt: skip

    saved = tf.train.load_checkpoint(str(model))
    hits = []
    shown = done.lines("line ")
    assert len(shown) == len(sentences)
    for number, (line, sentence) in enumerate(zip(shown, sentences)):
        # Words that are not in the vocabulary share the bucket behind it.
        ids = [vocabulary.index(word) if word in vocabulary else 10 for word in sentence.split()]
        tags_of_line, state = lstm_gru(saved, ids)
        place, _, rest = line.partition(": ")
        words, _, values = rest.partition(" | ")
        assert int(place) == number
        assert words.split() == [["DET", "NOUN", "VERB"][tag] for tag in tags_of_line]
        np.testing.assert_allclose(numbers(values), state, atol=2e-5)
        hits += [guess == tag for guess, tag in zip(words.split(), tags[number])]
    assert numbers(done.line("accuracy")) == pytest.approx([np.mean(hits)], abs=1e-6)


def test_train_and_evaluate_with_exporters_and_hparams(on_cores, tmp_path):
    jobs = tmp_path / "jobs.txt"
    jobs.write_text("other\nbaker\ndriver\nnurse\n")
    model = tmp_path / "model"
    done = run_program(
        "census.py", f"--job_dir={model}", f"--jobs={jobs}", f"--use_tpu={on_cores}",
        "--hparams=hidden_units=[4,2],learning_rate=0.05,batch_norm=false", on_cores=on_cores,
    )  # fmt: skip
    assert (
        '{"activation": "relu", "batch_norm": false, "hidden_units": [4, 2], '
        '"learning_rate": 0.05}' in done.log
    )
    saved = tf.train.load_checkpoint(str(model))
    assert saved.get_tensor("global_step") == 12
    net = np.concatenate(
        [np.eye(4)[[1, 2, 3, 0, 1, 3]], np.arange(2.0, 8.0)[:, None]], axis=1
    )  # the pilot is none of the jobs
    for layer in ("dense", "dense_1", "dense_2"):
        net = net @ saved.get_tensor(f"{layer}/kernel") + saved.get_tensor(f"{layer}/bias")
        net = np.maximum(net, 0) if layer != "dense_2" else net
    np.testing.assert_allclose(numbers(done.line("served")), net[:, 0], rtol=1e-3)

    counts = {kind: len(list((model / "export" / kind).iterdir())) for kind in
             ("final", "latest", "best")}  # fmt: skip
    assert counts == {"final": 1, "latest": 2, "best": 1}
    evaluated = {step for tag, step, _ in events(model / "eval") if tag == "rmse"}
    assert evaluated == {4, 8, 12}
    assert len(list(model.glob("model.ckpt-*.index"))) == 2


def test_slim_with_arg_scope(on_cores, tmp_path):
    done = run_program(
        "slim_net.py", f"--train_dir={tmp_path}", f"--use_tpu={on_cores}", "--steps=3", "a", "b",
        on_cores=on_cores,
    )  # fmt: skip
    assert done.line("arguments left:") == "['a', 'b']"
    assert "end points: Net/conv/conv_1 Net/conv/conv_2" in done.log
    saved = tf.train.load_checkpoint(str(tmp_path))
    kernels = [f"Net/conv/conv_{i}/weights" for i in (1, 2)]
    net = (np.arange(128).reshape(8, 4, 4, 1) % 11 / 11.0).astype(np.float32)
    for kernel in kernels:
        layer = kernel.rpartition("/")[0]
        assert f"{layer}/biases" not in saved.get_variable_to_shape_map()
        mean, variance, beta, gamma = (
            saved.get_tensor(f"{layer}/BatchNorm/{name}")
            for name in ("moving_mean", "moving_variance", "beta", "gamma")
        )
        assert np.abs(mean).max() > 0
        net = tf.nn.conv2d(net, saved.get_tensor(kernel), 1, "SAME")
        net = tf.nn.relu((net - mean) / tf.sqrt(variance + 0.001) * gamma + beta)
    net = tf.reshape(tf.nn.max_pool2d(net, 2, 2, "VALID"), [8, -1])
    logits = net @ saved.get_tensor("Net/logits/weights") + saved.get_tensor("Net/logits/biases")
    labels = np.arange(8) % 2
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    decayed = [*kernels, "Net/logits/weights"]
    penalty = sum(0.01 * np.sum(saved.get_tensor(name) ** 2) / 2 for name in decayed)
    loss = np.mean(entropy) + penalty
    values = dict(zip(("loss", "penalty"), numbers(done.line("loss"))))
    assert values == pytest.approx({"loss": loss, "penalty": penalty}, rel=1e-3)


def test_the_program_of_the_readme_learns(tmp_path):
    printed = run_program(
        "old.py", "--use_tpu=true", "--tpu=my-tpu", f"--output_dir={tmp_path}", on_cores=True
    ).output
    loss = re.fullmatch(r"\{'loss': (\S+), 'global_step': 400\}\n", printed)[1]
    assert float(loss) < 0.2
    assert (tmp_path / "model.ckpt-400.index").exists()
