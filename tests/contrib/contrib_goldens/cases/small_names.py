"""Single names of several namespaces: Keras models as SavedModels, and others."""

import os
import tempfile

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case
from tensorflow.core.protobuf import saved_model_pb2

saved_model = tf.contrib.saved_model
keras = tf.keras


def layers(compiled=False):
    inputs = keras.Input((3,), name="x")
    hidden = keras.layers.Dense(4, "relu", name="hidden")(inputs)
    hidden = keras.layers.BatchNormalization(name="norm")(hidden)
    model = keras.Model(inputs, keras.layers.Dense(2, name="y")(hidden), name="named")
    model.set_weights([array(*each.shape) ** 2 for each in model.get_weights()])
    if compiled:
        model.compile(compiled, "mse", metrics=["mae"])
    return model


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, inputs):
        return self.dense(inputs)


def infos(tensors):
    """The shapes and types of a signature's tensors, by key; operations have none."""
    return {
        key: "%s %s" % (each.dtype, [size.size for size in each.tensor_shape.dim])
        for key, each in tensors.items()
    }


def written(folder):
    """What a folder holds, without the names of the shards."""
    weights = tf.train.list_variables(folder + "/variables/variables")
    contents = {"/checkpoint": [name for name, _ in weights]}
    with open(folder + "/saved_model.pb", "rb") as file:
        model = saved_model_pb2.SavedModel.FromString(file.read())
    for graph in model.meta_graphs:
        tags = "/".join(graph.meta_info_def.tags)
        for key, signature in graph.signature_def.items():
            place = tags + "/" + key
            contents[place + "/method"] = signature.method_name
            contents[place + "/inputs"] = infos(signature.inputs)
            contents[place + "/outputs"] = infos(signature.outputs)
        contents[tags + "/collections"] = {
            key: len(each.node_list.value) + len(each.bytes_list.value)
            for key, each in graph.collection_def.items()
        }
    contents["/assets"] = sorted(os.listdir(folder + "/assets"))
    return contents


def saved(make, **options):
    def build():
        with tf.Graph().as_default(), tf.Session().as_default():
            folder = os.path.join(tempfile.mkdtemp(), "model")
            saved_model.save_keras_model(make(), folder, **options)
            return written(folder)

    return Case(build, has_gradients=False)


def not_empty():
    folder = tempfile.mkdtemp()
    open(os.path.join(folder, "file"), "w").close()
    with tf.Graph().as_default():
        saved_model.save_keras_model(layers(), folder)


def loaded(compiled=False, **options):
    def build():
        with tf.Graph().as_default(), tf.Session().as_default():
            folder = os.path.join(tempfile.mkdtemp(), "model")
            saved_model.save_keras_model(layers(compiled), folder, **options)
        with tf.Graph().as_default(), tf.Session().as_default():
            model = saved_model.load_keras_model(folder)
            return [model.predict(array(4, 3)), [each.name for each in model.layers], model.name]

    return Case(build, has_gradients=False)


CASES = {
    "saved_model.load_keras_model": loaded(),
    "saved_model.load_keras_model: compiled": loaded("adam"),
    "saved_model.load_keras_model: missing": lambda: saved_model.load_keras_model("/none"),
    "saved_model.load_keras_model: text": loaded(as_text=True),
    "saved_model.save_keras_model": saved(layers),
    "saved_model.save_keras_model: adam": saved(lambda: layers("adam")),
    "saved_model.save_keras_model: not built": saved(
        lambda: keras.Sequential([keras.layers.Dense(2)])
    ),
    "saved_model.save_keras_model: not empty": not_empty,
    "saved_model.save_keras_model: own": saved(Own),
    "saved_model.save_keras_model: sequential": saved(
        lambda: keras.Sequential([keras.layers.Dense(2, input_shape=(3,), name="only")], "one")
    ),
    "saved_model.save_keras_model: signature": saved(
        layers, input_signature=[tf.TensorSpec([7, 3], tf.float32, "given")]
    ),
    "saved_model.save_keras_model: v1 optimizer": saved(
        lambda: layers(tf.train.MomentumOptimizer(0.1, 0.9))
    ),
}
