"""tf.contrib.session_bundle: the exporter, whose loaders the package of 1.15.5 does not have."""

import os
import tempfile

import tensorflow as tf
from contrib_goldens.cases.inputs import x
from contrib_goldens.observe import Case
from tensorflow.contrib.session_bundle import constants, exporter, gc, manifest_pb2
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2


def text(message):
    return str(message)


def named(shape=(2,), name="named"):
    return tf.placeholder(tf.float32, shape, name=name)


def packed(key, kind):
    messages = []
    for each in tf.get_collection(key):
        message = kind()
        each.Unpack(message)
        messages.append(str(message))
    return messages


def start(**options):
    """An exporter of one variable, after init, and the global step."""
    tf.get_variable("v", initializer=1.5)
    step = tf.train.create_global_step()
    bundle_exporter = exporter.Exporter(tf.train.Saver())
    bundle_exporter.init(**options)
    return bundle_exporter, step


def initialized(**options):
    def build():
        with tf.device("/cpu:0"):
            arguments = {key: make() for key, make in options.items() if callable(make)}
            arguments.update({key: each for key, each in options.items() if not callable(each)})
            start(**arguments)
        return [
            packed(constants.SIGNATURES_KEY, manifest_pb2.Signatures),
            packed(constants.ASSETS_KEY, manifest_pb2.AssetFile),
            [each.name for each in tf.get_collection(constants.INIT_OP_KEY)],
            [
                sorted({node.device for node in graph.node})
                for graph in map(unpacked_graph, tf.get_collection(constants.GRAPH_KEY))
            ],
        ]

    return Case(build, has_gradients=False)


def unpacked_graph(message):
    graph = graph_pb2.GraphDef()
    message.Unpack(graph)
    return graph


def twice():
    bundle_exporter, _ = start()
    bundle_exporter.init()


def exported(steps=(3,), **options):
    def build():
        folder = tempfile.mkdtemp()
        with tf.Graph().as_default(), tf.Session() as session:
            bundle_exporter, step = start(
                default_graph_signature=exporter.regression_signature(named(), named())
            )
            session.run(tf.global_variables_initializer())
            paths = []
            for number in steps:
                session.run(step.assign(number))
                path = bundle_exporter.export(folder + "/", step, session, **options)
                paths.append(os.path.basename(path).decode())
        # estimator_bridge records an export's files in a hidden one.
        files = {
            name: sorted(n for n in os.listdir(os.path.join(folder, name)) if n[0] != ".")
            for name in os.listdir(folder)
        }
        path = os.path.join(folder, paths[-1], constants.META_GRAPH_DEF_FILENAME)
        with open(path, "rb") as file:
            graph = meta_graph_pb2.MetaGraphDef.FromString(file.read())
        return [paths, files, sorted(graph.collection_def), isinstance(path, str)]

    return Case(build, has_gradients=False)


def copied():
    folder = tempfile.mkdtemp()
    source = os.path.join(folder, "source")
    for content in ("first", "second"):
        with open(source, "w") as file:
            file.write(content)
        exporter.gfile_copy_callback({source: b"copy"}, os.path.join(folder, "to"))
    with open(os.path.join(folder, "to", "copy")) as file:
        return file.read()


PATHS = [gc.Path(str(number), number) for number in (0, 7, 3, 10, 1, 4)]


def selected(keep, paths=tuple(PATHS)):
    return lambda: [list(each) for each in keep()(list(paths))]


def listed():
    folder = tempfile.mkdtemp()
    for name in ("2", "10", "x"):
        os.mkdir(os.path.join(folder, name))

    def parser(path):
        name = os.path.basename(path.path.rstrip("/"))
        return path._replace(export_version=int(name)) if name.isdigit() else None

    return [each.export_version for each in gc.get_paths(folder, parser)]


WITHOUT = [gc.Path("a", None), gc.Path("b", 2)]
CASES = {
    "session_bundle.exporter.Exporter": exported(),
    "session_bundle.exporter.Exporter: again": exported(steps=(3, 3)),
    "session_bundle.exporter.Exporter: assets": initialized(
        assets_collection=lambda: [tf.constant("/a/b.txt", name="asset")], assets_callback=None
    ),
    "session_bundle.exporter.Exporter: empty asset": initialized(
        assets_collection=lambda: [tf.constant("")]
    ),
    "session_bundle.exporter.Exporter: graph": initialized(
        graph_def=lambda: tf.get_default_graph().as_graph_def()
    ),
    "session_bundle.exporter.Exporter: init": initialized(
        init_op=lambda: tf.no_op(name="start"),
        clear_devices=True,
        named_graph_signatures=lambda: {"a": exporter.generic_signature({"x": named()})},
    ),
    "session_bundle.exporter.Exporter: keep": exported(
        steps=(1, 2, 3, 12), exports_to_keep=gc.largest_export_versions(2)
    ),
    "session_bundle.exporter.Exporter: no asset": initialized(assets_collection=lambda: ["/a"]),
    "session_bundle.exporter.Exporter: no init": lambda: exporter.Exporter(
        tf.train.Saver([tf.get_variable("v", [])])
    ).export("/none", tf.train.create_global_step()),
    "session_bundle.exporter.Exporter: no operation": initialized(init_op=lambda: named()),
    "session_bundle.exporter.Exporter: numbers": initialized(
        assets_collection=lambda: [tf.constant(["/a", "/b"])]
    ),
    "session_bundle.exporter.Exporter: placeholder": initialized(
        assets_collection=lambda: [tf.placeholder(tf.string, [])]
    ),
    "session_bundle.exporter.Exporter: twice": twice,
    "session_bundle.exporter.classification_signature": lambda: text(
        exporter.classification_signature(named(), named(name="c"), named(name="s"))
    ),
    "session_bundle.exporter.classification_signature: input": lambda: text(
        exporter.classification_signature(named())
    ),
    "session_bundle.exporter.generic_signature": lambda: text(
        exporter.generic_signature({"a": named()})
    ),
    "session_bundle.exporter.gfile_copy_callback": copied,
    "session_bundle.exporter.regression_signature": lambda: text(
        exporter.regression_signature(named(), x(1))
    ),
    "session_bundle.gc.get_paths": listed,
    "session_bundle.gc.largest_export_versions": selected(lambda: gc.largest_export_versions(2)),
    "session_bundle.gc.largest_export_versions: none": selected(
        lambda: gc.largest_export_versions(2), WITHOUT
    ),
    "session_bundle.gc.mod_export_version": selected(lambda: gc.mod_export_version(2)),
    "session_bundle.gc.mod_export_version: none": selected(
        lambda: gc.mod_export_version(2), WITHOUT
    ),
    "session_bundle.gc.negation": selected(lambda: gc.negation(gc.mod_export_version(2))),
    "session_bundle.gc.one_of_every_n_export_versions": selected(
        lambda: gc.one_of_every_n_export_versions(3)
    ),
    "session_bundle.gc.one_of_every_n_export_versions: none": selected(
        lambda: gc.one_of_every_n_export_versions(3), WITHOUT
    ),
    "session_bundle.gc.union": selected(
        lambda: gc.union(gc.mod_export_version(5), gc.largest_export_versions(2))
    ),
}
