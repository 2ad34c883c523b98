"""tf.contrib's names for estimators, strategies and TPUs, as far as they run on a CPU of 1.15.5."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case, Steps
from tensorflow.core.protobuf import saved_model_pb2

contrib = tf.contrib.estimator
distribute = tf.contrib.distribute
predictor = tf.contrib.predictor
tpu = tf.contrib.tpu
ModeKeys = tf.estimator.ModeKeys
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def plain(build):
    return Case(build, has_gradients=False)


def batches():
    features = {"x": X, "key": np.array([7, 5, 3], np.int64)}
    return tf.data.Dataset.from_tensors((features, np.ones([3, 1], np.float32))).repeat()


def model_fn(features, labels, mode, params):
    weights = tf.get_variable("weights", initializer=tf.constant([[1.0], [10.0]]))
    outputs = tf.matmul(features["x"], weights)
    loss = train_op = None
    if mode != ModeKeys.PREDICT:
        loss = tf.reduce_mean(tf.square(outputs - labels))
        optimizer = params["wrap"](tf.train.GradientDescentOptimizer(0.01))
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode,
        predictions={"y": outputs},
        loss=loss,
        train_op=train_op,
        eval_metric_ops={"mean": tf.metrics.mean(outputs)},
        export_outputs={
            "serving_default": tf.estimator.export.PredictOutput({"y": outputs}),
            "negative": tf.estimator.export.PredictOutput({"minus": -outputs}),
        },
    )


def estimator(fn=model_fn, wrap=lambda optimizer: optimizer):
    trained = tf.estimator.Estimator(
        fn, config=tf.estimator.RunConfig(tempfile.mkdtemp()), params={"wrap": wrap}
    )
    return trained.train(lambda: batches().take(9), steps=2)


def contrib_predictor(has_heads=False, **options):
    """A predictor of a trained estimator of tf.contrib.learn."""
    learn = tf.contrib.learn

    def learn_model_fn(features, labels, mode):
        weights = tf.get_variable("weights", initializer=tf.constant([[1.0], [10.0]]))
        outputs = tf.matmul(features["x"], weights)
        loss = train_op = heads = None
        if mode != learn.ModeKeys.INFER:
            loss = tf.reduce_mean(tf.square(outputs - labels))
            step = tf.train.get_global_step()
            train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)
        if has_heads:
            kind = "LinearRegression"
            heads = {"plain": (kind, {"y": outputs}), "negative": (kind, {"minus": -outputs})}
        predictions = {"y": outputs, "twice": 2 * outputs}
        return tf.contrib.learn.ModelFnOps(
            mode, predictions, loss, train_op, output_alternatives=heads
        )

    def inputs():
        placeholder = tf.placeholder(tf.float32, [None, 2], name="x")
        return learn.InputFnOps({"x": placeholder}, None, {"x": placeholder})

    def input_fn():
        return {"x": tf.constant(X)}, tf.ones([3, 1])

    trained = learn.Estimator(learn_model_fn, model_dir=tempfile.mkdtemp())
    trained.fit(input_fn=input_fn, steps=2)
    return predictor.from_contrib_estimator(trained, inputs, **options)


def receivers():
    features = {"x": tf.placeholder(tf.float32, [None, 2], name="x")}
    return tf.estimator.export.ServingInputReceiver(features, features)


def supervised():
    return contrib.build_raw_supervised_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2])}, tf.placeholder(tf.float32, [None, 1])
    )


def exported(path):
    """A SavedModel's files, and the signatures of each of its graphs."""
    path = tf.compat.as_str(path)
    files = sorted(
        os.path.relpath(os.path.join(folder, name), path)
        for folder, _, names in os.walk(path)
        for name in names
    )
    graphs = {}
    for tag in ("serve", "train", "eval"):
        with tf.Graph().as_default(), tf.Session() as session:
            try:
                model = tf.saved_model.loader.load(session, [tag], path)
            except RuntimeError:
                continue
            graphs[tag] = {
                name: sorted(signature.inputs) + sorted(signature.outputs)
                for name, signature in model.signature_def.items()
            }
    return files, graphs


def all_modes():
    maps = {ModeKeys.PREDICT: receivers, ModeKeys.TRAIN: supervised(), ModeKeys.EVAL: supervised()}
    return exported(contrib.export_all_saved_models(estimator(), tempfile.mkdtemp(), maps))


def one_mode():
    return exported(
        contrib.export_saved_model_for_mode(
            estimator(), tempfile.mkdtemp(), supervised(), mode=ModeKeys.EVAL
        )
    )


def saved():
    folder = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": x * 2.0})
    return folder


def clipped():
    weight = tf.get_variable("w", initializer=array(3))
    optimizer = contrib.clip_gradients_by_norm(tf.train.MomentumOptimizer(1.0, 0.9), 0.5)
    return Steps([optimizer.minimize(tf.reduce_sum(tf.square(weight))), weight])


def forwarded(keys):
    def predictions():
        forwarding = contrib.forward_features(estimator(), keys)
        return list(forwarding.predict(lambda: batches().take(1)))

    return plain(predictions)


def replicated():
    fn = contrib.replicate_model_fn(model_fn, devices=["/cpu:0"] * 3)
    trained = estimator(fn, wrap=contrib.TowerOptimizer)
    return trained.get_variable_value("weights"), trained.evaluate(batches, steps=1)


def tower():
    weight = tf.get_variable("w", initializer=array(3))
    optimizer = contrib.TowerOptimizer(tf.train.GradientDescentOptimizer(0.1))
    return Steps([optimizer.minimize(tf.reduce_sum(tf.square(weight))), weight])


def mirrored():
    strategy = distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        doubled = strategy.extended.call_for_each_replica(lambda: tf.constant(2.0) * 2.0)
    return strategy.num_replicas_in_sync, doubled


def contexts():
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        inside = distribute.get_cross_replica_context() is tf.distribute.get_strategy()
    return inside


def assigned(computation_shape, count):
    topology = tpu.Topology(
        mesh_shape=[2, 2, 2],
        device_coordinates=[[[x, y, core] for x in (0, 1) for y in (0, 1) for core in (0, 1)]],
    )
    assignment = tpu.device_assignment(topology, computation_shape, num_replicas=count)
    return assignment.num_cores_per_replica, assignment.num_replicas


def _model_of_cores(features, labels, mode, params):
    del labels, params
    weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    outputs = features["x"] * weight
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode, {"y": outputs})
    loss = tf.reduce_mean(tf.square(outputs - 1.0))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tpu.TPUEstimatorSpec(mode, {"y": outputs}, loss, train_op)


def _rows_of_cores(params):
    rows = {"x": np.zeros([16, 1], np.float32)}
    return (
        tf.data.Dataset.from_tensor_slices((rows, rows["x"]))
        .repeat()
        .batch(params["batch_size"], drop_remainder=True)
    )


def _exported_for_cores():
    estimator = tpu.TPUEstimator(
        _model_of_cores,
        config=tpu.RunConfig(model_dir=tempfile.mkdtemp()),
        train_batch_size=8,
        use_tpu=False,
    )
    estimator.train(_rows_of_cores, steps=1)

    def receiver_fn():
        inputs = {"x": tf.placeholder(tf.float32, [None, 1])}
        return tf.estimator.export.ServingInputReceiver(inputs, inputs)

    path = tpu.export_estimator_savedmodel(estimator, tempfile.mkdtemp(), receiver_fn)
    with open(os.path.join(tf.compat.as_str(path), "saved_model.pb"), "rb") as file:
        model = saved_model_pb2.SavedModel.FromString(file.read())
    graphs = sorted(model.meta_graphs, key=lambda each: sorted(each.meta_info_def.tags))
    return [[sorted(each.meta_info_def.tags), sorted(each.signature_def)] for each in graphs]


CASES = {
    "cluster_resolver.TPUClusterResolver": plain(
        lambda: tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470").master()
    ),
    "distribute.AllReduceCrossDeviceOps": plain(
        lambda: isinstance(
            distribute.AllReduceCrossDeviceOps("nccl", num_packs=2), tf.distribute.CrossDeviceOps
        )
    ),
    "distribute.CollectiveAllReduceStrategy": plain(
        lambda: distribute.CollectiveAllReduceStrategy().num_replicas_in_sync
    ),
    "distribute.DistributeConfig": plain(lambda: distribute.DistributeConfig(eval_distribute=1)),
    "distribute.MirroredStrategy": plain(mirrored),
    "distribute.get_cross_replica_context": plain(contexts),
    "estimator.TowerOptimizer": plain(tower),
    "estimator.clip_gradients_by_norm": plain(clipped),
    "estimator.export_all_saved_models": plain(all_modes),
    "estimator.export_saved_model_for_mode": plain(one_mode),
    "estimator.forward_features": forwarded(None),
    "estimator.forward_features: key": forwarded("key"),
    "estimator.replicate_model_fn": plain(replicated),
    "learn.ModeKeys": plain(
        lambda: [getattr(tf.contrib.learn.ModeKeys, name) for name in ("TRAIN", "EVAL", "INFER")]
    ),
    "learn.TaskType": plain(
        lambda: [getattr(tf.contrib.learn.TaskType, name) for name in ("MASTER", "PS", "WORKER")]
    ),
    "predictor.from_contrib_estimator": plain(lambda: contrib_predictor()({"x": X})),
    "predictor.from_contrib_estimator: core": plain(
        lambda: predictor.from_contrib_estimator(estimator(), receivers)
    ),
    "predictor.from_contrib_estimator: head": plain(
        lambda: contrib_predictor(True, output_alternative_key="negative")({"x": X})
    ),
    "predictor.from_contrib_estimator: inputs": plain(
        lambda: contrib_predictor(input_alternative_key="features")
    ),
    "predictor.from_contrib_estimator: no such head": plain(
        lambda: contrib_predictor(True, output_alternative_key="other")
    ),
    "predictor.from_contrib_estimator: not of a head": plain(
        lambda: contrib_predictor(output_alternative_key="other")
    ),
    "predictor.from_contrib_estimator: two heads": plain(lambda: contrib_predictor(True)),
    "predictor.from_contrib_estimator: unexpected": plain(lambda: contrib_predictor()({"z": X})),
    "predictor.from_estimator": plain(
        lambda: predictor.from_estimator(estimator(), receivers)({"x": X})
    ),
    "predictor.from_estimator: output": plain(
        lambda: predictor.from_estimator(estimator(), receivers, output_key="negative")({"x": X})
    ),
    "predictor.from_saved_model": plain(lambda: predictor.from_saved_model(saved())({"x": X})),
    "predictor.from_saved_model: unknown": plain(
        lambda: predictor.from_saved_model(saved())({"z": X})
    ),
    "tpu.export_estimator_savedmodel": plain(_exported_for_cores),
    "tpu.device_assignment": plain(lambda: assigned(None, 8)),
}
