"""Each host of a TPU, and each worker, reads examples of its own, in every model."""

import numpy as np
import pytest
import tensorflow as tf
from pods import trace_loop
from record_files import write_flowers, write_imagenet
from task_runs import TaskRun, open_task, params_of, parsed

import estimator_bridge as eb
from estimator_bridge.testing import described_tpu
from estimator_bridge.tpu.context import TPUContext
from models.common.task import InputRequest

HOSTS = 2


def contexts(count):
    return [{"context": TPUContext(2 * count, count, i, i, count)} for i in range(count)]


def task_of(model, data_dir, *others):
    return open_task(parsed(f"--model={model}", f"--data_dir={data_dir}", "--nouse_tpu", *others))


def identities(batch):
    """Returns a value for each example: its features and label, but for the noise of the gan."""
    features, labels = batch
    if isinstance(features, dict):
        features = {name: value for name, value in features.items() if name != "noise"}
    columns = [np.asarray(value) for value in tf.nest.flatten((features, labels))]
    return [b"".join(column[row].tobytes() for column in columns) for row in range(len(columns[0]))]


def read(task, params, request, batches=None, **context):
    dataset = task.data.input_fn(request)(params, **context)
    elements = dataset.take(batches or -1).as_numpy_iterator()
    return [identity for batch in elements for identity in identities(batch)]


def small_text(folder):
    numbers = np.random.RandomState(0).randint(0, 10**9, [120, 3])
    (folder / "text.txt").write_text("\n\n".join(f"{a} {b} {c}" for a, b, c in numbers))


def small_labels(folder):
    for name, count in (("train.tsv", 31), ("test.tsv", 7)):
        lines = [f"{'odd' if i % 2 else 'even'}\tthe number {i} of {name}" for i in range(count)]
        (folder / name).write_text("\n".join(lines))


def small_table(folder):
    (folder / "mine").mkdir()
    for name, count in (("train.csv", 23), ("test.csv", 5)):
        rows = [f"{i},{i % 3}" for i in range(count)]
        (folder / "mine" / name).write_text("\n".join(["x,target", *rows]))


def small_cifar(folder):
    random = np.random.RandomState(0)
    for number, name in enumerate(
        [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]
    ):
        content = random.randint(0, 256, [3, 3073]).astype(np.uint8)
        content[:, 0] = number
        (folder / name).write_bytes(content.tobytes())


def small_imagenet(folder):
    for name in ("train-00000-of-00001", "validation-00000-of-00001"):
        write_imagenet(folder / name, list(range(1, 8)))


def small_flowers(folder):
    for split in ("train", "test"):
        write_flowers(folder / split / "a.tfrec", list(range(7)), count=7)


def nothing(folder):
    """The small data that ships is read."""


CASES = {
    "bert": (small_labels, "--max_seq_length=16"),
    "lstm": (small_text, "--text_length=16"),
    "tabular": (small_table, "--table=mine"),
    "gan": (nothing,),
    "mnist": (nothing,),
    "resnet digits": (nothing,),
    "resnet cifar": (small_cifar,),
    "resnet imagenet": (small_imagenet,),
    "flowers": (small_flowers, "--image_size=32"),
}


@pytest.fixture(params=CASES)
def task(request, tmp_path):
    make, *others = CASES[request.param]
    make(tmp_path)
    return task_of(request.param.split()[0], tmp_path, *others)


def test_hosts_read_disjoint_examples_that_are_all(task):
    """Of the test set, which comes in order and is not changed at random."""
    whole = InputRequest("test", False, 64)
    every = read(task, {}, whole)
    assert len(every) == task.data.sizes["test"]
    parts = [read(task, context, whole) for context in contexts(HOSTS)]
    assert all(parts)
    assert sorted(parts[0] + parts[1]) == sorted(every)
    assert abs(len(parts[0]) - len(parts[1])) <= 2  # one for each file
    workers = [tf.distribute.InputContext(HOSTS, i, HOSTS) for i in range(HOSTS)]
    assert [read(task, {}, whole, input_context=one) for one in workers] == parts


def labels_in_training(task, params, count):
    dataset = task.data.input_fn(InputRequest("train", True, 1, seed=1))(params)
    return [
        tuple(np.asarray(value).tobytes() for value in tf.nest.flatten(labels))
        for _, labels in dataset.take(count).as_numpy_iterator()
    ]


@pytest.mark.parametrize("name", ["resnet imagenet", "flowers"])
def test_hosts_train_on_examples_of_their_own(tmp_path, name):
    """Each of these records has a label of its own; the images are changed at random."""
    make, *others = CASES[name]
    make(tmp_path)
    task = task_of(name.split()[0], tmp_path, *others)
    parts = [set(labels_in_training(task, context, 40)) for context in contexts(HOSTS)]
    assert sorted(map(len, parts)) == [3, 4]
    assert not parts[0] & parts[1]


@pytest.mark.parametrize("name", ["lstm", "bert", "tabular"])
def test_hosts_train_on_rows_of_their_own(tmp_path, name):
    make, *others = CASES[name]
    make(tmp_path)
    task = task_of(name, tmp_path, *others)
    request = InputRequest("train", True, 1, seed=1)
    count = 3 * task.data.sizes["train"]
    parts = [set(read(task, context, request, count)) for context in contexts(HOSTS)]
    assert not parts[0] & parts[1]
    assert parts[0] | parts[1] == set(read(task, {}, request, count))


def test_hosts_of_the_digits_train_on_images_of_their_own(tmp_path):
    """Without the shifts of the first pixels, of as many images as an epoch of a host has."""
    task = task_of("mnist", tmp_path)
    few = InputRequest("train", True, 1, seed=1, first=20)
    parts = [set(read(task, context, few, 30)) for context in contexts(HOSTS)]
    assert [len(part) for part in parts] == [10, 10]
    assert not parts[0] & parts[1]


def test_hosts_of_the_gan_draw_noise_of_their_own(tmp_path):
    task = task_of("gan", tmp_path)
    input_fn = task.data.input_fn(InputRequest("train", True, 8, seed=1))
    drawn = [
        [features["noise"] for features, _ in input_fn(context).take(3).as_numpy_iterator()]
        for context in contexts(HOSTS)
    ]
    values = np.concatenate(drawn[0] + drawn[1])
    assert values.shape == (48, 32)
    assert len(np.unique(values[:, 0])) == 48


def test_one_host_reads_what_a_single_machine_reads(task):
    """Whose labels tell the order; images are changed at random."""
    assert labels_in_training(task, contexts(1)[0], 30) == labels_in_training(task, {}, 30)


@pytest.mark.parametrize("mode", [eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT])
@pytest.mark.parametrize("name", ["mnist", "tabular"])
def test_several_hosts_evaluate_and_predict_one_input_together(tmp_path, name, mode):
    make, *others = CASES[name]
    make(tmp_path)
    flags = ("--tpu=emulated:8", f"--model_dir={tmp_path / 'model'}")
    run = TaskRun(f"--model={name}", f"--data_dir={tmp_path}", *flags, *others)
    of_config = run.estimator.config.tpu_config.eval_training_input_configuration
    traced = trace_loop(
        described_tpu(8, HOSTS),
        run.task.model.tpu_model_fn,
        run.task.data.input_fn(InputRequest("test", False, 64)),
        mode,
        64,
        params_of(run.flags, run.task),
        eval_training_input_configuration=of_config,
    )
    assert traced.graph.replicas == 8 * HOSTS
