"""A program after BERT's pattern: pretrained weights, its own optimizer, results in files."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from running_programs import run_program

ENCODER = {
    "encoder/embeddings/word_embeddings": (12, 8),
    "encoder/embeddings/LayerNorm/beta": (8,),
    "encoder/embeddings/LayerNorm/gamma": (8,),
    "encoder/pooler/dense/kernel": (8, 8),
    "encoder/pooler/dense/bias": (8,),
}
CLASSIFIER = {"output_weights": (2, 8), "output_bias": (2,)}
STEPS = 4


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    """A checkpoint of the encoder, with what a pretraining leaves beside it."""
    random = np.random.default_rng(5)
    values = {name: random.normal(size=shape) * 0.5 for name, shape in ENCODER.items()}
    others = {"encoder/pooler/dense/bias/adam_m": np.ones(8), "cls/predictions/output_bias": [1.0]}
    path = str(tmp_path_factory.mktemp("pretrained") / "bert_model.ckpt")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, value in {**values, **others}.items():
            tf.compat.v1.get_variable(name, initializer=np.float32(value))
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, path, write_meta_graph=False)
    return path, values


def probabilities(saved, count):
    """The classifier by hand, from a checkpoint: (probabilities, labels)."""
    ids = np.array([[(7 * i + 3 * j * j) % 12 for j in range(5)] for i in range(count)])
    values = [saved.get_tensor(name) for name in (*ENCODER, *CLASSIFIER)]
    table, beta, gamma, kernel, bias, out, out_bias = values
    net = table[ids]
    net = net - net.mean(-1, keepdims=True)
    net = net / np.sqrt((net**2).mean(-1, keepdims=True) + 1e-12) * gamma + beta
    logits = np.tanh(net.mean(1) @ kernel + bias) @ out.T + out_bias
    return np.exp(logits) / np.exp(logits).sum(-1, keepdims=True), ids.sum(1) % 2


def check_lamb_step(before, after, step):
    """One update by the formula of You et al. 2019, from what the slots say of the gradient."""
    rate = 0.1 * step / 2 if step < 2 else 0.1 * (1 - step / STEPS)
    for name in (*ENCODER, *CLASSIFIER):
        old, new = before.get_tensor(name), after.get_tensor(name)
        m, v = (before.get_tensor(f"{name}/lamb_{slot}").astype(float) for slot in "mv")
        next_m, next_v = (after.get_tensor(f"{name}/lamb_{slot}").astype(float) for slot in "mv")
        gradient = (next_m - 0.9 * m) / 0.1
        np.testing.assert_allclose(next_v, 0.999 * v + 0.001 * gradient**2, rtol=2e-3, atol=1e-9)
        update = next_m / (np.sqrt(next_v) + 1e-6)
        if "LayerNorm" not in name and "bias" not in name:
            update = update + 0.01 * old
        norms = np.linalg.norm(old), np.linalg.norm(update)
        ratio = norms[0] / norms[1] if min(norms) > 0 else 1.0
        np.testing.assert_allclose(new, old - ratio * rate * update, rtol=1e-3, atol=1e-6)


def test_fine_tuning(on_cores, tmp_path, pretrained):
    checkpoint, values = pretrained
    run_program(
        "finetune.py", f"--output_dir={tmp_path}", f"--init_checkpoint={checkpoint}",
        f"--use_tpu={on_cores}", "--num_tpu_cores=2", f"--num_train_steps={STEPS}",
        *(["--tpu_name=my-tpu"] if on_cores else []), on_cores=on_cores,
    )  # fmt: skip
    steps = [
        tf.train.load_checkpoint(str(tmp_path / f"model.ckpt-{step}")) for step in range(STEPS + 1)
    ]
    for name, value in values.items():
        np.testing.assert_allclose(steps[0].get_tensor(name), value, rtol=1e-6)
    assert not steps[0].get_tensor("output_bias").any()
    for step in range(STEPS):
        check_lamb_step(steps[step], steps[step + 1], step)

    expected, labels = probabilities(steps[-1], 16)
    results = dict(
        line.split(" = ") for line in (tmp_path / "eval_results.txt").read_text().splitlines()
    )
    loss = -np.log(expected[np.arange(16), labels]).mean()
    assert {name: float(value) for name, value in results.items()} == pytest.approx(
        {
            "eval_accuracy": np.mean(expected.argmax(-1) == labels),
            "eval_loss": loss,
            "loss": loss,
            "global_step": STEPS,
        },
        rel=1e-4,
    )
    rows = [line.split() for line in (tmp_path / "test_results.tsv").read_text().splitlines()]
    np.testing.assert_allclose(np.array(rows, float), probabilities(steps[-1], 13)[0], rtol=1e-4)
