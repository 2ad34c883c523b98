"""Each program of tests/legacy_programs, rewritten, gives by plain Python the numbers of `run`.

The tests there say which numbers those have to be. Here both ways start from one seed, and must
agree bit for bit: in what is printed, and in every variable of the last checkpoint.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from forking import Host

from estimator_bridge.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "legacy_programs" / "scripts"
SEEDED = ROOT / "parity" / "rewriting" / "seeded"
PATIENCE = 240  # seconds
CORES = ["--cores", "2"]

# By program: whether it runs on two emulated cores, and its arguments.
PROGRAMS = {
    "averaged.py": (True, "--model-dir {out} --max-steps 3 --use-tpu"),
    "census.py": (True, "--job_dir={out} --jobs={data}/jobs.txt --use_tpu=true"),
    "clusters.py": (True, "--model_dir={out} --use_tpu=true --examples=11 --tpu=local"),
    "digits.py": (True, "--data_dir={data} --model_dir={out} --use_tpu=true --tpu_name=any"),
    "finetune.py": (False, "--output_dir={out} --init_checkpoint={data}/bert.ckpt"),
    "flowers.py": (False, "--model_dir={out}"),
    "keras_on_tpu.py": (True, "--model_dir={out} --use_tpu"),
    "old.py": (True, "--output_dir={out} --use_tpu=true --tpu=any"),
    "sessions.py": (False, "{out} {empty}"),
    "slim_net.py": (True, "--train_dir={out} --use_tpu=true --steps=3"),
    "straight_line.py": (True, "--model_dir {out} --use_tpu"),
    "tagger.py": (True, "--data_dir {data} --model_dir {out} --use_tpu --tpu=any"),
    "trainer/task.py": (
        True,
        "--model_dir {out} --hparams=learning_rate=0.25,units=1 --job-dir=gs://a --tpu=a "
        "--num_shards=2",
    ),
    "wide_deep.py": (False, "--model_dir={out} --data={data}/people.csv --model_type=wide_deep"),
    "wide_deep.py, wide": (False, "--model_dir={out} --data={data}/people.csv --model_type=wide"),
}


def test_every_program_is_compared():
    scripts = {path.name for path in SCRIPTS.glob("*.py")} | {"trainer/task.py"}
    # lamb.py is the optimizer that finetune.py imports.
    assert {name.partition(",")[0] for name in PROGRAMS} == scripts - {"lamb.py"}


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """All programs, rewritten."""
    folder = tmp_path_factory.mktemp("programs") / "scripts"
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    main(["rewrite", "--write", str(folder)])
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What the programs read."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "jobs.txt").write_text("other\nbaker\ndriver\nnurse\n")
    (folder / "words.txt").write_text("the dog sees a cat\na bird sings\ncat sleeps\nthe cat\n")
    (folder / "tags.txt").write_text("DET NOUN VERB DET NOUN\nDET NOUN VERB\nNOUN VERB\nDET NOUN\n")
    (folder / "vocab.txt").write_text("<pad>\nthe\na\ndog\ncat\nbird\nsees\nsings\n")
    people = ["22,Bachelors,Sales,40,<=50K", "47,Masters,Exec,50,>50K", "29,HS-grad,Craft,38,>50K"]
    (folder / "people.csv").write_text("\n".join(people * 8) + "\n")
    for name, first in (("train-0", 0), ("eval", 100)):
        with tf.io.TFRecordWriter(str(folder / f"{name}.tfrecords")) as writer:
            for number in range(first, first + 32):
                writer.write(digit(number).SerializeToString())
    shapes = {
        "encoder/embeddings/word_embeddings": (12, 8),
        "encoder/embeddings/LayerNorm/beta": (8,),
        "encoder/embeddings/LayerNorm/gamma": (8,),
        "encoder/pooler/dense/kernel": (8, 8),
        "encoder/pooler/dense/bias": (8,),
    }
    random = np.random.default_rng(5)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        for name, shape in shapes.items():
            value = random.normal(size=shape).astype(np.float32)
            tf.compat.v1.get_variable(name, initializer=value)
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(folder / "bert.ckpt"), write_meta_graph=False)
    return folder


def digit(number):
    image = ((np.arange(36) * (number % 3 + 2) + number * 5) % 256).astype(np.uint8)
    example = tf.train.Example()
    example.features.feature["image_raw"].bytes_list.value.append(image.tobytes())
    example.features.feature["label"].int64_list.value.append(number % 3)
    return example


@pytest.fixture(scope="module")
def environment():
    """Its PYTHONPATH has what seeds the programs."""
    return {
        **{name: value for name, value in os.environ.items() if name != "ESTIMATOR_BRIDGE_CORES"},
        "PYTHONPATH": os.pathsep.join(map(str, (SEEDED, ROOT))),
        "TF_USE_LEGACY_KERAS": "1",
    }


@pytest.fixture(scope="module")
def host(environment):
    """The process that the programs are forks of."""
    host = Host(PYTHONPATH=environment["PYTHONPATH"])
    yield host
    host.close()


def printed(host, out, words, folder, environment):
    """What a program prints, without its folder and the time that an export is named by."""
    result = host.run(words, folder, environment, "", PATIENCE)
    assert result.returncode == 0, f"{result.args}\n{result.stderr[-6000:]}"
    return re.sub(r"/\d{10}\b", "/TIME", result.stdout.replace(str(out), "OUT"))


def variables(folder):
    """The variables of the last checkpoint, or of the last file that Keras saved."""
    latest = tf.train.latest_checkpoint(str(folder))
    if latest is None:
        return {}
    reader = tf.train.load_checkpoint(latest)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_rewritten_gives_the_numbers_of_run(program, rewritten, data, tmp_path, host, environment):
    on_cores, arguments = PROGRAMS[program]
    script = program.partition(",")[0]
    words = [script] if "/" not in script else ["-m", script[:-3].replace("/", ".")]
    outputs = []
    for folder in (SCRIPTS, rewritten):
        is_run = folder == SCRIPTS
        out = tmp_path / ("was" if is_run else "now")
        out.mkdir()
        places = {"data": data, "out": out, "empty": ""}
        own = [word.format(**places) for word in arguments.split()]
        run = ["-m", "estimator_bridge", "run", *(CORES if on_cores else [])] if is_run else []
        cores = {"ESTIMATOR_BRIDGE_CORES": "2"} if on_cores and not is_run else {}
        outputs.append(printed(host, out, [*run, *words, *own], folder, {**environment, **cores}))
    was, now = outputs
    assert now == was
    ours, theirs = variables(tmp_path / "was"), variables(tmp_path / "now")
    assert ours.keys() == theirs.keys()
    assert len(ours) > 1 or program == "keras_on_tpu.py"
    assert [name for name in ours if not np.array_equal(ours[name], theirs[name])] == []
