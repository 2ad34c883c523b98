"""tf.contrib.training."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array, rows, shares, x
from contrib_goldens.observe import Case, Steps

training = tf.contrib.training
HParams = training.HParams


def hparams():
    return HParams(rate=0.1, layers=[8, 4], name="dense", on=True, count=3)


def parsed(text):
    return lambda: hparams().parse(text).values()


def pairs():
    weight = tf.get_variable("w", initializer=array(3, 4))
    table = tf.get_variable("t", initializer=array(3))
    return [(rows(), weight), (None, tf.get_variable("n", [2])), (x(3), table)]


def gradients(pairs):
    return [each for each, _ in pairs]


def trained(**options):
    weight = tf.get_variable("w", initializer=array(3), use_resource=True)
    other = tf.get_variable("v", initializer=array(2), use_resource=True)
    tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.square(weight)) + tf.reduce_sum(tf.square(other))
    arguments = {"update_ops": options.pop("updates")()} if "updates" in options else {}
    arguments.update(options)
    if arguments.pop("some", False):
        arguments["variables_to_train"] = [weight]
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = training.create_train_op(loss, optimizer, **arguments)
    return Steps([train_op, train_op, weight, other, tf.train.get_global_step()])


def counter():
    count = tf.get_variable("c", initializer=0.0, trainable=False)
    update = tf.assign_add(count, 1.0)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    return [update]


def looped():
    """training.train: the global step and the files of the folder."""
    folder = tempfile.mkdtemp()
    weight = tf.get_variable("w", initializer=array(3), use_resource=True)
    tf.train.get_or_create_global_step()
    tf.summary.scalar("sum", tf.reduce_sum(weight))
    train_op = training.create_train_op(
        tf.reduce_sum(tf.square(weight)), tf.train.GradientDescentOptimizer(0.1)
    )
    loss = training.train(
        train_op, folder, hooks=[tf.train.StopAtStepHook(num_steps=3)], save_summaries_steps=1
    )
    files = sorted({name.split(".tfevents")[0].split(".data")[0] for name in os.listdir(folder)})
    return [loss, files]


def checkpoint(folder):
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        session.run([tf.global_variables_initializer(), step.initializer])
        return tf.train.Saver().save(session, os.path.join(folder, "model.ckpt"), 7)


def evaluated(repeatedly):
    folder = tempfile.mkdtemp()
    path = checkpoint(folder)
    tf.train.get_or_create_global_step()
    total = tf.get_local_variable("total", initializer=0.0, dtype=tf.float32)
    hooks = [training.StopAfterNEvalsHook(4), training.SummaryAtEndHook(os.path.join(folder, "e"))]
    tf.summary.scalar("total", total)
    options = {"eval_ops": tf.assign_add(total, 2.0), "final_ops": {"total": total}, "hooks": hooks}
    if repeatedly:
        values = training.evaluate_repeatedly(folder, max_number_of_evaluations=1, **options)
    else:
        values = training.evaluate_once(path, **options)
    return [values["total"], sorted(os.listdir(os.path.join(folder, "e")))[0].split(".")[1]]


def waited(name):
    folder = tempfile.mkdtemp()
    if name == "iterator":
        checkpoint(folder)
        return [os.path.basename(each) for each in training.checkpoints_iterator(folder, timeout=0)]
    before = training.wait_for_new_checkpoint(folder, seconds_to_sleep=0.1, timeout=0.2)
    checkpoint(folder)
    return [before, os.path.basename(training.wait_for_new_checkpoint(folder, timeout=1))]


def placed(strategy):
    device = tf.train.replica_device_setter(ps_tasks=3, ps_strategy=strategy)
    with tf.Graph().as_default(), tf.device(device):
        variables = [tf.Variable(tf.zeros([size]), name="v%d" % size) for size in (4, 9, 2, 5)]
        return [each.device for each in variables]


def bucketed(**options):
    """One batch of the bucket of the large examples."""

    def build():
        number = tf.train.range_input_producer(8, num_epochs=1, shuffle=False).dequeue()
        tensors = {"n": number} if options.pop("one", False) else [number, tf.fill([number], 1.0)]
        if isinstance(tensors, dict) and options.pop("by_length", False):
            batches = training.bucket_by_sequence_length(number, tensors, 2, [9], **options)
            tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
            return list(batches)
        if isinstance(tensors, dict):
            which, batch = training.bucket(tensors, number // 9, 2, 2, **options)
            tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)  # a race of threads
            return [which, batch]
        lengths, batch = training.bucket_by_sequence_length(
            number, tensors, 2, [9], dynamic_pad=True, capacity=16, **options
        )
        tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
        return [lengths, batch]

    return Case(build, has_gradients=False, queues=True)


def sampled(make):
    """The static part of a sampler, whose draws are random."""

    def build():
        return [each.shape.as_list() for each in make()]

    return build


def resampled(name):
    def build():
        inputs = [tf.constant(np.arange(4.0, dtype=np.float32))]
        if name == "rate":
            samples = [training.resample_at_rate(inputs, tf.constant([0.0, 2.0, 1.0, 3.0]), seed=1)]
        else:
            samples = training.weighted_resample(
                inputs, tf.constant([1.0, 2.0, 1.0, 0.5]), 0.5, seed=1
            )
        return [each.dtype for each in samples[0]]

    return build


CASES = {
    "training.GreedyLoadBalancingStrategy": lambda: placed(
        training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn)
    ),
    "training.byte_size_load_fn": lambda: training.byte_size_load_fn(
        tf.get_variable("v", [3, 2]).op
    ),
    "training.byte_size_load_fn: float64": lambda: training.byte_size_load_fn(
        tf.get_variable("v", [3, 2], tf.float64).op
    ),
    "training.RandomStrategy": lambda: placed(training.RandomStrategy(3, seed=5)),
    "training.HParams": lambda: [
        hparams().values(),
        "rate" in hparams(),
        hparams().get("rate"),
        hparams().get("none", 5),
        str(hparams().to_json(sort_keys=True)),
    ],
    "training.HParams: text": lambda: str(hparams()),
    "training.HParams: representation": lambda: repr(hparams()),
    "training.HParams: parsed": parsed("rate=0.5,layers=[1,2,3],name=sparse,on=false,count=7"),
    "training.HParams: index": parsed("layers[1]=9"),
    "training.HParams: float to int": parsed("count=3.5"),
    "training.HParams: unknown": parsed("none=3"),
    "training.HParams: malformed": parsed("rate==3"),
    "training.HParams: text to float": parsed("rate=x"),
    "training.HParams: list for one": parsed("rate=[1,2]"),
    "training.HParams: one for list": parsed("layers=3"),
    "training.HParams: exponent": parsed("rate=1e-3"),
    "training.HParams: bool of int": parsed("on=1"),
    "training.HParams: json": lambda: hparams().parse_json('{"rate": 1, "layers": [3]}').values(),
    "training.HParams: set": lambda: hparams().set_hparam("count", 2.5),
    "training.HParams: set text": lambda: hparams().set_hparam("name", 3),
    "training.HParams: set bool": lambda: hparams().set_hparam("on", 3),
    "training.HParams: override": lambda: hparams().override_from_dict({"rate": 2}).values(),
    "training.HParams: override unknown": lambda: hparams().override_from_dict({"none": 2}),
    "training.HParams: reserved": lambda: HParams(values=3),
    "training.HParams: twice": lambda: hparams().add_hparam("rate", 3),
    "training.HParams: empty list": lambda: HParams(empty=[]),
    "training.HParams: default type": lambda: hparams().get("rate", "x"),
    "training.HParams: deleted": lambda: [
        params.del_hparam("rate") or params.values() for params in [hparams()]
    ],
    "training.HParams: structure": lambda: HParams(model_structure="s").get_model_structure(),
    "training.HParams: none": lambda: HParams(a=None).values(),
    "training.HParams: proto": lambda: [
        "%02x" % byte
        for byte in bytearray(hparams().to_proto().SerializeToString(deterministic=True))
    ],
    "training.HParams: of proto": lambda: HParams(hparam_def=hparams().to_proto()).values(),
    "training.parse_values": lambda: training.parse_values(
        "a=1,b[0]=2.5,c=[x,y]", {"a": int, "b": float, "c": str}
    ),
    "training.parse_values: twice": lambda: training.parse_values("a=1,a=2", {"a": int}),
    "training.parse_values: ignored": lambda: training.parse_values("a=1,z=2", {"a": int}, True),
    "training.StopAfterNEvalsHook": lambda: evaluated(False),
    "training.SummaryAtEndHook": lambda: evaluated(False),
    "training.evaluate_once": lambda: evaluated(False),
    "training.evaluate_repeatedly": lambda: evaluated(True),
    "training.get_or_create_eval_step": lambda: [
        training.get_or_create_eval_step(),
        training.get_or_create_eval_step(),
    ],
    "training.add_gradients_summaries": lambda: training.add_gradients_summaries(pairs()),
    "training.bucket": bucketed(one=True),
    "training.bucket: sizes": lambda: training.bucket([x(2)], 0, [1], 2),
    "training.bucket: shapes": lambda: training.bucket([tf.placeholder(tf.float32)], 0, 1, 2),
    "training.bucket: none": lambda: training.bucket([], 0, 1, 2),
    "training.bucket_by_sequence_length": bucketed(),
    "training.bucket_by_sequence_length: one key": bucketed(one=True, by_length=True),
    "training.bucket_by_sequence_length: order": lambda: training.bucket_by_sequence_length(
        3, [x(2)], 2, [4, 2]
    ),
    "training.bucket_by_sequence_length: list": lambda: training.bucket_by_sequence_length(
        3, [x(2)], 2, 4
    ),
    "training.checkpoints_iterator": lambda: waited("iterator"),
    "training.wait_for_new_checkpoint": lambda: waited("new"),
    "training.clip_gradient_norms": lambda: gradients(training.clip_gradient_norms(pairs(), 0.5)),
    "training.clip_gradient_norms: sparse": lambda: gradients(
        training.clip_gradient_norms(
            [(tf.IndexedSlices(rows(), tf.constant([0, 1, 2])), tf.get_variable("w", [3, 4]))], 0.5
        )
    ),
    "training.clip_gradient_norms_fn": lambda: gradients(
        training.clip_gradient_norms_fn(0.5)(pairs())
    ),
    "training.create_train_op": trained,
    "training.create_train_op: some": lambda: trained(
        some=True,
        summarize_gradients=True,
        transform_grads_fn=training.clip_gradient_norms_fn(0.1),
        updates=counter,
    ),
    "training.create_train_op: no step": lambda: trained(global_step=None, check_numerics=False),
    "training.multiply_gradients": lambda: gradients(
        training.multiply_gradients(
            [pair for pair in pairs() if pair[0] is not None], {"w": 2.0, "t": 0.5}
        )
    ),
    "training.multiply_gradients: none": lambda: training.multiply_gradients(pairs(), {"n": 2.0}),
    "training.multiply_gradients: empty": lambda: training.multiply_gradients(pairs(), {}),
    "training.rejection_sample": sampled(
        lambda: training.rejection_sample([x(3), x(2)], lambda args: shares(), 4)
    ),
    "training.resample_at_rate": resampled("rate"),
    "training.weighted_resample": resampled("weights"),
    "training.stratified_sample": sampled(
        lambda: training.stratified_sample([x(3)], tf.constant(1), [0.5, 0.5], 4)[0]
    ),
    "training.stratified_sample: sum": lambda: training.stratified_sample(
        [x(3)], tf.constant(1), [0.5, 0.9], 4
    ),
    "training.train": looped,
}
