"""Each model's steps are compiled by a TPU's own compiler, on a machine without a TPU."""

import pytest
from task_runs import open_task, params_of, parsed
from tpu_compiler import needs_libtpu

import estimator_bridge as eb
from estimator_bridge.compile_for.compiler import shared_compiler
from models.common.registry import model_names
from models.common.task import InputRequest

pytestmark = needs_libtpu
# The models with the flags of their smallest configurations.
SMALLEST = {
    "bert": ("bert", "--bert_size=nano", "--max_seq_length=16"),
    "bert-pretrain": ("bert", "--bert_task=pretrain", "--bert_size=nano", "--max_seq_length=16"),
    "flowers": ("flowers",),
    "gan": ("gan",),
    "lstm": ("lstm", "--text_length=8", "--lstm_units=16"),
    "mnist": ("mnist",),
    "resnet": ("resnet", "--mixed_precision", "--ema_decay=0.9", "--cross_replica_norm"),
    "tabular": ("tabular",),
}
# The fifty convolutions of flowers take the compiler a while. BERT's encoder is compiled for
# evaluation and prediction with the classifier.
TRAINING_ALONE = {"flowers", "bert-pretrain"}
BATCH = 8
HBM = 16 * 2**30  # of a v5e


@pytest.fixture(scope="module", autouse=True)
def compiler():
    """One process compiles for all tests of this module."""
    yield
    shared_compiler(None, 1800.0).close()


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


def test_every_model_is_compiled():
    assert {model for model, *_ in SMALLEST.values()} == set(model_names())


@pytest.mark.parametrize("name", SMALLEST)
def test_its_steps_are_compiled_for_a_tpus_chip(name, data_dir):
    model, *smaller = SMALLEST[name]
    values = parsed(f"--model={model}", f"--data_dir={data_dir}", *smaller)
    task = open_task(values)
    requests = {
        mode: InputRequest("train" if is_training else "test", is_training, BATCH, seed=1)
        for mode, is_training in ((eb.ModeKeys.TRAIN, True), (eb.ModeKeys.EVAL, False))
    }

    def input_fn(params, mode):
        request = requests.get(mode, requests[eb.ModeKeys.EVAL])
        return task.data.input_fn(request)(params=params, mode=mode)

    modes = ("train",) if name in TRAINING_ALONE else ("train", "eval", "infer")
    report = eb.testing.compile_for_tpu(
        task.model.tpu_model_fn,
        input_fn,
        "v5e-1",
        params_of(values, task),
        train_batch_size=BATCH,
        modes=modes,
        eval_steps=1,
    )
    assert not report.refused
    names = ("training", "evaluation", "prediction")
    assert tuple(step.name for step in report.compiled) == names[: len(modes)]
    for step in report.compiled:
        assert 0 < step.memory.total < HBM
        assert step.roofline.seconds > 0
