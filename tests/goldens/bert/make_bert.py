"""Records the numbers of google-research/bert under TensorFlow 1.15.5.

In tests/, with a checkout of that repository:

    PYTHONPATH=.:CHECKOUT PYTHON115 -m goldens.bert.make_bert
"""

import json
import os

import tensorflow as tf
from goldens.bert import bert_cases as cases


def main():
    import modeling
    import optimization
    import run_classifier
    import tokenization

    for name in list(tf.flags.FLAGS):  # both programs define the same flags
        delattr(tf.flags.FLAGS, name)
    import run_pretraining

    config = modeling.BertConfig.from_dict(cases.CONFIG)
    golden = {"texts": split(tokenization), "pretraining": {}}
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {name: tf.constant(value) for name, value in cases.inputs().items()}
        # As on a TPU. Read by gather, repeated pieces would count wrongly in the gradients' norm.
        model = modeling.BertModel(
            config, True, inputs["input_ids"], inputs["input_mask"], inputs["segment_ids"], True
        )
        masked, _, _ = run_pretraining.get_masked_lm_output(
            config, model.get_sequence_output(), model.get_embedding_table(),
            inputs["masked_lm_positions"], inputs["masked_lm_ids"], inputs["masked_lm_weights"],
        )  # fmt: skip
        follows, _, _ = run_pretraining.get_next_sentence_output(
            config, model.get_pooled_output(), inputs["next_sentence_labels"]
        )
        variables = tf.trainable_variables()
        train = optimization.create_optimizer(
            masked + follows, cases.RATE, cases.ALL_STEPS, cases.WARMUP, False
        )
        session.run(tf.global_variables_initializer())
        for variable in variables:
            variable.load(cases.weight(variable.op.name, variable.shape.as_list()), session)
        outputs = session.run([model.get_sequence_output(), model.get_pooled_output()])
        losses = []
        for _ in range(cases.STEPS):
            losses.append([float(loss) for loss in session.run([masked, follows])])
            session.run(train)
        after = session.run(variables[0])
        golden["pretraining"] = {
            "variables": {v.op.name: v.shape.as_list() for v in variables},
            "all_variables": sorted(v.op.name for v in tf.global_variables()),
            "sequence": outputs[0].tolist(),
            "pooled": outputs[1].tolist(),
            "losses": losses,
            "word_embeddings_afterwards": after.tolist(),
        }
    with tf.Graph().as_default():
        ids = [tf.constant(cases.inputs()[name])
               for name in ("input_ids", "input_mask", "segment_ids")]  # fmt: skip
        labels = tf.zeros([cases.BATCH], tf.int32)
        run_classifier.create_model(config, False, *ids, labels, cases.CLASSES, False)
        golden["classifier"] = {v.op.name: v.shape.as_list() for v in tf.trainable_variables()}
    path = os.path.join(os.path.dirname(__file__), "bert.json")
    with open(path, "w") as file:
        json.dump(golden, file, indent=1, sort_keys=True)
        file.write("\n")


def split(tokenization):
    """Splits the texts by a vocabulary that is written for the call."""
    path = os.path.join(tf.compat.v1.test.get_temp_dir(), "vocab.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(cases.VOCABULARY) + "\n")
    return {
        kind: [tokenization.FullTokenizer(path, kind == "lower").tokenize(text)
               for text in cases.TEXTS]
        for kind in ("lower", "cased")
    }  # fmt: skip


if __name__ == "__main__":
    main()
