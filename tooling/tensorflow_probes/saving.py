"""Probes of checkpoints, datasets, variables and optimizers."""

from __future__ import annotations

import os
import tempfile
import time

import tensorflow as tf

from estimator_bridge.tensorflow_private.datasets import (
    drawn_by,
    end_iterator,
    iterator_resource,
    iterator_state,
    watch_ends,
)
from estimator_bridge.tensorflow_private.generators import (
    generator_calls,
    register_function,
)
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.tensorflow_private.optimizers import adam_tensors, shard_reduction
from estimator_bridge.tensorflow_private.saving import (
    BundleEntryProto,
    BundleHeaderProto,
    SaveableObject,
    SaveSpec,
    last_meta_graph,
    next_to_delete,
    read_profile,
    variables_are_written,
    whole_files_written_by,
)
from estimator_bridge.tensorflow_private.variables import (
    replace_tensor_conversion,
    restore_variable_v1,
    saved_slice,
    tensor_conversion,
)
from tooling.tensorflow_probes.registry import check, new_graph, probe

v1 = tf.compat.v1
_train = v1.train


@probe("next_to_delete")
def _next_to_delete() -> None:
    with new_graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        v1.get_variable("w", [], initializer=tf.zeros_initializer())
        session.run(v1.global_variables_initializer())
        saver = _train.Saver(max_to_keep=1)
        prefix = saver.save(session, f"{folder}/c", 1)
        check(next_to_delete(saver, f"{folder}/c-2") == prefix, "the first of two stays")


@probe("BundleEntryProto", "BundleHeaderProto")
def _index_entries() -> None:
    entry = BundleEntryProto(dtype=1, shard_id=0, offset=4, size=8)
    entry.shape.dim.add().size = 2
    entry.slices.add().extent.add().length = 1
    same = BundleEntryProto.FromString(entry.SerializeToString())
    check((same.offset, same.size, same.shape.dim[0].size) == (4, 8, 2), "another entry")
    check(BundleHeaderProto(num_shards=2).num_shards == 2, "another header")


@probe("SaveSpec", "SaveableObject")
def _saveable() -> None:
    class Doubled(SaveableObject):
        def restore(self, restored_tensors, restored_shapes):
            return v1.assign(self.value, restored_tensors[0] / 2)

    with new_graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        value = v1.get_variable("w", [], initializer=tf.ones_initializer())
        doubled = Doubled(tf.identity(value), [SaveSpec(value * 2, "", "double")], "d")
        doubled.value = value
        v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, doubled)
        saver = _train.Saver([doubled])
        session.run(v1.global_variables_initializer())
        prefix = saver.save(session, f"{folder}/c")
        session.run(value.assign(5.0))
        saver.restore(session, prefix)
        check(session.run(value) == 1, "it is not restored")
        check(tf.train.load_variable(prefix, "double") == 2, "its own value is not saved")


@probe("last_meta_graph")
def _meta_graph() -> None:
    with new_graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        builder = v1.saved_model.Builder(f"{folder}/export")
        builder.add_meta_graph_and_variables(session, ["serve"])
        tags = list(last_meta_graph(builder).meta_info_def.tags)
        check(tags == ["serve"], f"tags {tags}")


@probe("variables_are_written")
def _graph_only() -> None:
    with new_graph(), tempfile.TemporaryDirectory() as folder:
        builder = v1.saved_model.Builder(f"{folder}/export")
        variables_are_written(builder)
        builder.add_meta_graph(["serve"], saver=_train.Saver([], allow_empty=True))
        check(builder.save().endswith(b".pb"), "the builder wants variables")


@probe("whole_files_written_by")
def _whole_files() -> None:
    names = []

    def write(path: str, content: bytes) -> bool:
        names.append(os.path.basename(path))
        return not content  # so that TensorFlow writes it after all

    with new_graph(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
        v1.get_variable("w", [], initializer=tf.zeros_initializer())
        session.run(v1.global_variables_initializer())
        with whole_files_written_by(write):
            prefix = _train.Saver().save(session, f"{folder}/c", 1)
        check(names == ["checkpoint", "c-1.meta"], f"written as a whole: {names}")
        check(_train.latest_checkpoint(folder) == prefix, "TensorFlow does not write it")


@probe("read_profile")
def _profile() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.pb"
        with open(path, "wb") as file:
            file.write(b"")
        check(len(read_profile(path).planes) == 0, "an empty XSpace has planes")


@probe("iterator_state", "iterator_resource")
def _iterators() -> None:
    with eager_mode():
        iterator = iter(tf.data.Dataset.range(3))
        check(iterator_resource(iterator).dtype == tf.resource, "it is no resource")
        check(iterator_state(iterator).dtype == tf.variant, "its state is no variant")


@probe("drawn_by")
def _draws() -> None:
    with eager_mode():
        draw = drawn_by(iter(tf.data.Dataset.range(1).map(lambda x: (x + 1, x))))
    with tf.Graph().as_default():
        check([int(part) for part in draw()] == [1, 0], "other components")
        try:
            draw()
        except StopIteration:
            return
        check(False, "the end of the input is not seen")


@probe("GeneratorCalls", "generator_calls", "register_function")
def _generators() -> None:
    def examples():
        yield 1, (2.0,)

    with tf.Graph().as_default() as graph:
        kinds = tf.int32, (tf.float32,)
        variant = tf.data.experimental.to_variant(tf.data.Dataset.from_generator(examples, kinds))
    library = variant.graph.as_graph_def().library.function
    calls = [node for function in library for node in function.node_def if node.op == "PyFunc"]
    tokens = {len(node.attr["Tin"].list.type): node.attr["token"].s for node in calls}
    draws = [n for n in calls if len(n.attr["Tout"].list.type) == 2]
    generator = generator_calls(tokens[0], draws[0].attr["token"].s)
    assert generator is not None, "the generator is not seen"
    check(generator.structure == kinds, "another structure")
    number = generator.begin()
    element = next(generator.iterator(number))
    arrays = generator.convert(number, element)
    check([int(a) for a in arrays] == [1, 2] and arrays[1].dtype == "float32", "other arrays")
    check(next(generator.iterator(number), None) is None, "the example came twice")
    generator.end(number)
    check(bool(register_function(graph, lambda: 1)), "no token")


@probe("end_iterator", "watch_ends")
def _end_of_an_iterator() -> None:
    with eager_mode():
        iterator = iter(tf.data.Dataset.range(3).repeat())
        watch_ends()
        end_iterator(iterator)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and next(iterator, None) is not None:
            time.sleep(0.01)
        check(next(iterator, None) is None, "it has more elements")


@probe("restore_variable_v1")
def _variable_v1() -> None:
    restore_variable_v1()


@probe("saved_slice", "tensor_conversion", "replace_tensor_conversion")
def _variables() -> None:
    with new_graph():
        partitions = v1.get_variable("p", [4], partitioner=v1.fixed_size_partitioner(2))
        part = saved_slice(next(iter(partitions)))
        check((part.full_name, part.var_offset) == ("p", [0]), "the part of a variable")
        variable = v1.get_variable("w", [], use_resource=True)
        check(saved_slice(variable) is None, "a whole variable is a part")
        check(callable(tensor_conversion(variable)), "the conversion")
        replace_tensor_conversion(
            variable, lambda dtype=None, name=None, as_ref=False: tf.constant(7.0)
        )
        check(
            tf.get_static_value(tf.convert_to_tensor(variable)) == 7, "another conversion is used"
        )


@probe("AdamTensors", "adam_tensors")
def _adam() -> None:
    with new_graph(), v1.Session() as session:
        optimizer = _train.AdamOptimizer(0.5, beta1=0.25)
        w = v1.get_variable("w", [], use_resource=True, initializer=tf.zeros_initializer())
        optimizer.minimize(w * 2.0)
        session.run(v1.global_variables_initializer())
        values = session.run(list(adam_tensors(optimizer)))
        check(values[:2] == [0.5, 0.25] and values[4] == 0.25, f"other tensors: {values}")


@probe("shard_reduction")
def _shards() -> None:
    optimizer = v1.tpu.CrossShardOptimizer(_train.GradientDescentOptimizer(1.0))
    check(shard_reduction(optimizer) == v1.losses.Reduction.MEAN, "the reduction")
