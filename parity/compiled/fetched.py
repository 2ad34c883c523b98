"""Third-party programs, compiled as published; none of their files is here.

A checkout of each repository is expected in a folder ``OWNER+NAME``, at the revision that is named.
In a command, ``{n}`` is the number of replicas and ``{8n}`` eight times that, ``{data}`` the folder
that ``parity.compiled.data`` writes, ``{out}`` a new folder, ``{code}`` the checkout.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["FETCHED", "Fetched", "command", "import_path"]


@dataclasses.dataclass(frozen=True)
class Fetched:
    """A program of others.

    Attributes:
      repository: owner/name on GitHub.
      revision: a commit or a branch.
      arguments: what follows `estimator-bridge run`.
      path: folders of the checkout for PYTHONPATH.
      environment: variables that the program reads.
      package: the name by which the program imports its own repository, or ''.
    """

    repository: str
    revision: str
    arguments: str
    path: tuple[str, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    package: str = ""


_BERT = "eedf5716ce1268e56f0a50264a88cafad334ac61"
_CLASSIFY = (
    "{code}/run_classifier.py --task_name=MRPC --data_dir={data}/mrpc --do_train=true "
    "--vocab_file={data}/vocab.txt --bert_config_file={data}/CONFIG --max_seq_length=LENGTH "
    "--train_batch_size={BATCHn} --eval_batch_size={BATCHn} --predict_batch_size={BATCHn} "
    "--num_train_epochs=1000 --use_tpu=true --tpu_name=any --output_dir={out}"
)
_PRETRAIN = (
    "{code}/run_pretraining.py --input_file={data}/pretraining.tfrecord --max_seq_length=32 "
    "--max_predictions_per_seq=5 --do_train=true --do_eval=true --train_batch_size={8n} "
    "--eval_batch_size={8n} --num_train_steps=12 --num_warmup_steps=4 --max_eval_steps=5 "
    "--use_tpu=true --tpu_name=any --output_dir={out} "
)
_TEMPLATES = "GoogleCloudPlatform/cloudml-samples"


def _classifier(config: str, length: int, batch: int, mode: str) -> Fetched:
    arguments = _CLASSIFY.replace("CONFIG", config).replace("LENGTH", str(length))
    arguments = arguments.replace("BATCH", str(batch)) + mode
    return Fetched("google-research/bert", _BERT, arguments)


def _tpu_models(script: str, arguments: str, *path: str) -> Fetched:
    return Fetched(
        "tensorflow/tpu",
        "r1.15",
        f"{{code}}/models/official/{script} {arguments} --tpu=any --model_dir={{out}}",
        ("models", *path),
    )


def _template(name: str) -> Fetched:
    return Fetched(
        _TEMPLATES,
        "efddc4a9898127e55edc0946557aca4bfaf59705",
        f"{{code}}/tpu/templates/{name}/trainer.py --model-dir={{out}} --max-steps=20 "
        "--train-batch-size={16n} --use-tpu --tpu=any",
    )


_IMAGES = (
    "--train_batch_size={8n} --eval_batch_size={8n} --num_train_images={64n} "
    "--num_eval_images={16n} --iterations_per_loop=2 "
)
FETCHED: dict[str, Fetched] = {
    "bert: run_classifier": _classifier("bert_tiny.json", 32, 8, " --do_eval=true"),
    "bert: run_classifier, predicts": _classifier("bert_tiny.json", 32, 8, " --do_predict=true"),
    "bert: run_pretraining": Fetched(
        "google-research/bert", _BERT, _PRETRAIN + "--bert_config_file={data}/bert_tiny.json"
    ),
    "bert: run_classifier, BERT-base": _classifier("bert_base.json", 128, 32, ""),
    "albert: run_pretraining": Fetched(
        "google-research/albert",
        "b772393d3dae115b493258ce8e37c17b2cc62100",
        # Its evaluation waits for a checkpoint, which compiling does not write.
        _PRETRAIN.replace("--do_eval=true", "--do_eval=false")
        + "--albert_config_file={data}/albert_tiny.json",
        package="albert",
    ),
    "electra: run_pretraining": Fetched(
        "google-research/electra",
        "8a46635f32083ada044d7e9ad09604742600ee7b",
        "{code}/run_pretraining.py --data-dir {data}/electra --model-name {out} --hparams "
        '{"model_size":"small","max_seq_length":32,"vocab_size":97,"train_batch_size":{8n},'
        '"num_train_steps":4,"num_warmup_steps":2,"use_tpu":true,"tpu_name":"any",'
        '"num_tpu_cores":{n}}',
    ),
    "tpu: mnist_tpu": _tpu_models(
        "mnist/mnist_tpu.py",
        "--data_dir={data}/mnist --batch_size={8n} --train_steps=10 --eval_steps=2 --iterations=10",
    ),
    "tpu: resnet_main, ResNet-50": _tpu_models(
        "resnet/resnet_main.py",
        "--data_dir= --use_tpu=true --num_cores={n} --mode=train --resnet_depth=50 "
        "--train_batch_size={128n} --num_train_images={1280n} --train_steps=2 "
        "--iterations_per_loop=2",
    ),
    "tpu: resnet_main": _tpu_models(
        "resnet/resnet_main.py",
        "--data_dir= --use_tpu=true --num_cores={n} --resnet_depth=18 --image_size=64 "
        "--num_label_classes=10 --train_steps=6 --steps_per_eval=3 " + _IMAGES,
    ),
    "tpu: mnasnet_main": _tpu_models(
        "mnasnet/mnasnet_main.py",
        "--data_dir=null --use_tpu=true --input_image_size=32 --train_steps=2 --steps_per_eval=2 "
        + _IMAGES,
        "models/common",
        "models/official/efficientnet",
        "models/official/mnasnet",
    ),
    "tpu: efficientnet": _tpu_models(
        "efficientnet/main.py",
        "--data_dir=null --use_tpu=true --input_image_size=32 --train_steps=2 --steps_per_eval=2 "
        + _IMAGES,
        "models/common",
        "models/official/efficientnet",
    ),
    "tpu: densenet_imagenet": _tpu_models(
        "densenet/densenet_imagenet.py",
        "--mode=train --train_batch_size={4n} --eval_batch_size={4n} --num_shards={n} "
        "--train_steps=2 --steps_per_checkpoint=2 --iterations_per_loop=2",
        "models/common",
    ),
    "tpu: amoeba_net": _tpu_models(
        "amoeba_net/amoeba_net.py",
        "--use_tpu=true --data_dir={data}/imagenet --image_size=64 --num_cells=3 "
        "--reduction_size=32 --use_aux_head=false --train_batch_size={4n} --eval_batch_size={4n} "
        "--iterations_per_loop=2 --lr_warmup_epochs=0.5 --num_epochs=1 --num_train_images={16n} "
        "--num_eval_images={8n} --model_name=amoeba_net --cell_name=amoeba_net_a "
        "--num_label_classes=11 --num_epochs_per_eval=1 --num_shards={n} --mode=train_and_eval",
        "models/common",
        "models/official/efficientnet",
    ),
    **{
        f"templates: {name}": _template(name)
        for name in (
            "tpu_estimator",
            "tpu_cnn_estimator",
            "tpu_lstm_estimator",
            "tpu_film_estimator",
            "tpu_grl_estimator",
            "tpu_gan_estimator",
        )
    },
}


def command(program: Fetched, replicas: int, **folders: str) -> list[str]:
    """A program's arguments with numbers and folders in their places.

    Args:
      program: one of ``FETCHED``.
      replicas: how many.
      **folders: 'data', 'out' and 'code'.
    """

    def number(match: re.Match[str]) -> str:
        return str(int(match[1] or 1) * replicas)

    words = []
    for word in program.arguments.split():
        text = re.sub(r"\{(\d*)n\}", number, word)
        for name, folder in folders.items():
            text = text.replace("{" + name + "}", folder)
        words.append(text)
    return words


def import_path(program: Fetched, checkout: Path, folder: Path) -> str:
    """Returns the PYTHONPATH with which a program finds this project and its own modules.

    Args:
      program: one of ``FETCHED``.
      checkout: its repository.
      folder: where a link is made if the repository's folder has another name than its package.
    """
    packages = folder / "packages"
    if program.package:
        packages.mkdir()
        (packages / program.package).symlink_to(checkout)
    below = [checkout / path for path in program.path]
    return os.pathsep.join(map(str, (Path(__file__).parents[2], packages, checkout, *below)))
