"""More third-party programs, which ``parity.on_jax_fetched`` runs and nothing compiles.

They are in the words of ``parity.compiled.fetched``. ``parity.compiled.further_data`` writes what
they read in addition.
"""

from __future__ import annotations

from collections.abc import Mapping

from parity.compiled.fetched import Fetched

__all__ = ["FURTHER", "PACKAGES"]

_BERT = (
    "--vocab_file={data}/vocab.txt --bert_config_file={data}/bert_tiny.json --max_seq_length=32 "
    "--do_train=true --train_batch_size={8n} --use_tpu=true --tpu_name=any "
    "--learning_rate=1e-3 --output_dir={out} "
)
_EVALUATED = "--eval_batch_size={8n} --predict_batch_size={8n} --num_train_epochs=2 "
_GROVER = (
    "--config_file={data}/grover.json --input_file={data}/tokens.tfrecord --output_dir={out} "
    "--max_seq_length=32 --train_batch_size={8n} --learning_rate=1e-3 --num_train_steps=8 "
    "--num_warmup_steps=2 --iterations_per_loop=4 --use_tpu=true --tpu_name=any"
)
_LASERTAGGER = (
    "{code}/run_lasertagger.py --training_file={data}/edits.tfrecord "
    "--eval_file={data}/edits.tfrecord --label_map_file={data}/label_map.txt "
    "--model_config_file={data}/CONFIG.json --max_seq_length=32 --do_train=true "
    "--do_eval=true --eval_timeout=1 --train_batch_size={8n} --eval_batch_size={8n} "
    "--num_train_examples={64n} --num_eval_examples={16n} --num_train_epochs=1 "
    "--learning_rate=1e-3 --use_tpu=true --tpu_name=any --output_dir={out}"
)


def _lasertagger(config: str) -> Fetched:
    return Fetched(
        "google-research/lasertagger",
        "0bfa546e755814b28163dad039ab6d9f53f82bb8",
        _LASERTAGGER.replace("CONFIG", config),
    )


FURTHER: dict[str, Fetched] = {
    "bert: run_squad": Fetched(
        "google-research/bert",
        "eedf5716ce1268e56f0a50264a88cafad334ac61",
        "{code}/run_squad.py --train_file={data}/squad.json --predict_file={data}/squad.json "
        "--do_predict=true --predict_batch_size={8n} --max_query_length=8 --doc_stride=8 "
        "--num_train_epochs=4 " + _BERT,
    ),
    "roberta_zh: run_classifier": Fetched(
        "brightmart/roberta_zh",
        "438476f7da1661faf45e5b8da9f55df403e44997",
        "{code}/run_classifier.py --task_name=lcqmc_pair --data_dir={data}/lcqmc "
        "--do_eval=true " + _EVALUATED + _BERT,
    ),
    "BERT-NER": Fetched(
        "kyzhouhzau/BERT-NER",
        "0f77e478872453df51cd3c65d1a39b12d9617f9d",
        # Its evaluation on a TPU ends with an error of its own.
        "{code}/BERT_NER.py --task_name=NER --data_dir={data}/ner --middle_output={data}/ner "
        "--init_checkpoint={data}/first/bert.ckpt " + _EVALUATED + _BERT,
    ),
    "language: steal_bert_classifier": Fetched(
        "google-research/language",
        "865fae65f63ef7e6b2989d4ff8b47f61750415a8",
        "{code}/language/bert_extraction/steal_bert_classifier/models/run_classifier.py "
        "--task_name=MRPC --exp_name=any --data_dir={data}/mrpc --do_eval=true "
        + _EVALUATED
        + _BERT,
    ),
    "electra: run_finetuning": Fetched(
        "google-research/electra",
        "8a46635f32083ada044d7e9ad09604742600ee7b",
        "{code}/run_finetuning.py --data-dir {data}/electra --model-name {out} --hparams "
        '{"model_size":"small","task_names":["mrpc"],"init_checkpoint":'
        '"{data}/first/electra.ckpt","model_hparam_overrides":{"hidden_size":16,'
        '"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":32},'
        '"max_seq_length":32,"embedding_size":8,"vocab_size":97,"train_batch_size":{8n},"eval_batch_size":{8n},'
        '"predict_batch_size":{8n},"num_train_epochs":2.0,"use_tpu":true,"tpu_name":"any",'
        '"num_tpu_cores":{n}}',
    ),
    "lasertagger": _lasertagger("lasertagger"),
    "lasertagger, with a decoder": _lasertagger("lasertagger_decoder"),
    "grover: lm": Fetched(
        "rowanz/grover",
        "f59a206a8722357c351eae9e937b9f7a53bfda61",
        "{code}/lm/train.py --num_tpu_cores={n} " + _GROVER,
    ),
    "tpu: resnet_main, LARS and DropBlock": Fetched(
        "tensorflow/tpu",
        "r1.15",
        "{code}/models/official/resnet/resnet_main.py --use_tpu=true --tpu=any --num_cores={n} "
        "--data_dir={data}/imagenet --resnet_depth=18 --image_size=64 --num_label_classes=10 "
        "--train_steps=4 --steps_per_eval=2 --train_batch_size={8n} --eval_batch_size={8n} "
        "--num_train_images={64n} --num_eval_images={16n} --iterations_per_loop=2 "
        "--enable_lars=true --label_smoothing=0.1 --dropblock_groups=3,4 --dropblock_size=3 "
        "--dropblock_keep_prob=0.9 --precision=float32 --model_dir={out}",
        ("models",),
    ),
    "tpu: squeezenet_main": Fetched(
        "tensorflow/tpu",
        "r1.15",
        "{code}/models/official/squeezenet/squeezenet_main.py --use_tpu=true --tpu=any "
        "--data_dir={data}/imagenet --num_examples_per_epoch={16n} --num_eval_examples={8n} "
        "--num_epochs=2 --num_evals=1 --train_batch_size={8n} --eval_batch_size={4n} "
        "--iterations_per_loop=2 --num_classes=11 --num_cores_per_replica={n} --model_dir={out}",
        ("models", "models/common"),
    ),
    "tpu: unet_main": Fetched(
        "tensorflow/tpu",
        "r1.15",
        "{code}/models/official/unet3d/unet_main.py --use_tpu=true --tpu=any --num_cores={n} "
        "--mode=train_and_eval --training_file_pattern={data}/unet/train-* "
        "--eval_file_pattern={data}/unet/val-* --iterations_per_loop=2 --model_dir={out} "
        '--params_override={"train_batch_size":{2n},"eval_batch_size":{2n},"train_steps":4,'
        '"eval_steps":2,"num_steps_per_eval":2,"input_image_size":[16,16,16],'
        '"num_base_filters":4,"depth":3,"init_learning_rate":0.001,"use_bfloat16":false}',
        ("models", "models/official/efficientnet"),
    ),
    "automl: efficientdet": Fetched(
        "google/automl",
        "6a54c8741e7c3265d4547c4f35f47a0391122dc5",
        "{code}/efficientdet/main.py --strategy=tpu --tpu=any --model_name=efficientdet-d0 "
        "--train_file_pattern={data}/coco/train-* --train_batch_size={2n} "
        "--num_examples_per_epoch={4n} --num_epochs=2 --iterations_per_loop=2 "
        "--save_checkpoints_steps=2 --mode=train --model_dir={out} --hparams=image_size=64,"
        "learning_rate=0.001,lr_warmup_init=0.0001,num_classes=5,fpn_cell_repeats=1,fpn_num_filters=8,box_class_repeats=1,max_level=6",
    ),
}

# The packages of another repository that a program imports, by the name it imports them by.
PACKAGES: Mapping[str, Mapping[str, str]] = {
    name: {"bert": "google-research/bert"}
    for name in (
        "BERT-NER",
        "language: steal_bert_classifier",
        "lasertagger",
        "lasertagger, with a decoder",
    )
}
