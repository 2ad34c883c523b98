"""tf.contrib.eager.Network and Sequential, each case in a graph and eagerly; checkpoints."""

import contextlib
import gc
import os
import shutil
import tempfile

import tensorflow as tf
from contrib_goldens.observe import Case
from tensorflow.python.eager import context

tfe = tf.contrib.eager


class Net(tfe.Network):
    """Dense layers."""

    def __init__(self, name=None, sizes=(1,), layer_name=None):
        super().__init__(name=name)
        for size in sizes:
            self.track_layer(dense(size, name=layer_name))

    def call(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class ParentNet(tfe.Network):
    """Whatever it is given."""

    def __init__(self, *parts, **how):
        super().__init__(name=how.get("name"))
        for part in parts:
            self.track_layer(part)

    def call(self, x):
        for layer in reversed(self.layers):
            x = layer(x)
        return x


def dense(size, **how):
    return tf.layers.Dense(size, kernel_initializer=tf.ones_initializer(), **how)


def eagerly(build):
    def built():
        with context.eager_mode():
            return build()

    return Case(built, has_gradients=False)


def both(name, build):
    """The case in a graph, and eagerly."""
    return {name: Case(build, has_gradients=False), name + ", eagerly": eagerly(build)}


def names(*networks):
    return [[each.name for each in network.variables] for network in networks]


def one():
    return tf.constant([[1.0, 2.0]])


def after_call(*networks):
    for network in networks:
        network(one())
    return [network.name for network in networks], names(*networks)


def described():
    network = Net(sizes=(3, 1))
    network(one())
    network(one())
    first = network.get_layer(index=0)
    return [
        network.name,
        network.scope_name,
        [each.name for each in network.layers],
        [each.name for each in network.trainable_weights],
        [each.name for each in network.trainable_variables],
        len(network.non_trainable_variables),
        network.get_layer("dense_1") is network.layers[1],
        first is network.layers[0],
        network.trainable,
        network.built,
        [each.shape.as_list() for each in network.weights],
    ]


def nested():
    return after_call(
        ParentNet(Net(), Net(sizes=(2,)), ParentNet(Net(name="inner"), dense(2))), Net(), Net()
    )


def called_in_another_order():
    first, second, third = Net(), Net(name="named"), Net()
    return after_call(third, second, first)


def beside_layers():
    alone = dense(2)
    alone(one())
    later = dense(2)
    variable_names = after_call(Net(), ParentNet(dense(1), dense(2, name="own"), later))
    dense(1)(one())
    return variable_names, [each.name for each in alone.variables]


def built_before():
    alone = dense(2)
    alone(one())
    network = ParentNet(dense(1), alone)
    return after_call(network), alone.name


def shared():
    """A layer and a network of one network in another, in both orders."""
    layer, inner = dense(2), Net(sizes=(2,))
    first = ParentNet(dense(1), layer, inner)
    second = ParentNet(dense(1), inner, layer)
    return after_call(second, first)


def in_scopes():
    with tf.variable_scope("outer"):
        inside, anonymous = Net(name="given"), ParentNet(Net())
    variable_names = after_call(inside, anonymous)
    with tf.variable_scope("later"):
        variable_names += after_call(Net(), Net(name="called_there"))
    with tf.variable_scope(None, default_name="outer"):
        variable_names += after_call(Net())
    return variable_names


def scope_of_that_name():
    with tf.variable_scope("outer"):
        with tf.variable_scope("taken"):
            tf.get_variable("v", [])
        Net(name="taken")(one())


def scope_at_top_level():
    with tf.variable_scope("net"):
        tf.get_variable("v", [])
    return after_call(Net())


def scope_between():
    inner = Net()
    parent = ParentNet(inner)
    with tf.variable_scope("between"):
        inner(one())
    return names(inner), parent.name


def twice(name):
    Net(name=name)(one())
    Net(name=name)(one())


def one_name_in_a_network():
    ParentNet(dense(1, name="same"), dense(1, name="same"))


def one_layer_twice():
    layer = dense(2)
    network = ParentNet(layer, layer)
    network(one())
    return len(network.layers), len(network.variables)


def one_network_twice():
    inner = Net(sizes=(2,))
    network = ParentNet(inner, inner)
    network(one())
    return len(network.layers), names(network)


def without_a_name():
    return Net().name


def not_initialized():
    class Bad(tfe.Network):
        def __init__(self):
            self.track_layer(dense(1))

    Bad()


def forgotten_parent():
    layer = dense(1)
    parent = ParentNet(layer)
    other = ParentNet(layer)
    del parent
    gc.collect()
    other(one())


def not_trainable():
    Net().trainable = False


def losses():
    network = ParentNet(
        dense(1, kernel_regularizer=lambda w: 0.5 * tf.reduce_sum(w)),
        Net(sizes=(2,)),
        dense(2, bias_regularizer=lambda w: tf.reduce_sum(w) + 3.0),
    )
    network(one())
    return len(network.losses)


def updates():
    """A layer with statistics."""
    network = tfe.Sequential([dense(2), tf.layers.BatchNormalization(), tf.nn.relu], name="s")
    network(one(), training=True)
    return [
        [each.name for each in part]
        for part in (network.trainable_weights, network.non_trainable_weights, network.variables)
    ]


def sequential():
    network = tfe.Sequential([dense(3), tf.square])
    network.add(dense(1))
    result = network(one())
    return tf.identity(result, name="result"), names(network), len(network.layers)


def with_training():
    def part(x, training=False):
        return x * (2.0 if training else 3.0)

    network = tfe.Sequential([part, lambda x: x + 1.0])
    outputs = [network(one()), network(one(), training=True), network(one(), training=False)]
    return [tf.identity(each, name="result") for each in outputs]


def eager_numbers(build):
    return eagerly(lambda: tf.nest.map_structure(as_number, build()))


def as_number(each):
    return each.numpy().tolist() if isinstance(each, tf.Tensor) else each


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def filled(network, start):
    """Gives a called network's variables other values."""
    network(one())
    for i, each in enumerate(network.variables):
        each.assign(tf.fill(each.shape, start + i))
    return network


def values(network):
    return [[each.name, each.numpy().ravel().tolist()] for each in network.variables]


def stored(path):
    return sorted(name for name, _ in tf.train.list_variables(path))


def saved():
    """Restored into a network with variables, and into one without."""
    with folder() as where:
        network = filled(ParentNet(Net(sizes=(2,)), dense(2)), 4.0)
        path = tfe.save_network_checkpoint(network, where)
        in_file, file = stored(path), os.path.basename(path)
        filled(network, 9.0)
        tfe.restore_network_checkpoint(network, where)
        again = ParentNet(Net(sizes=(2,)), dense(2))
        tfe.restore_network_checkpoint(again, path)
        again(one())
        return in_file, file, values(network), values(again)


def saved_in_a_graph():
    """The default session saves, and initializes the variables that were restored."""
    with folder() as where, tf.Session() as session:
        network = ParentNet(Net(sizes=(2,)), dense(2))
        network(one())
        session.run([each.initializer for each in network.variables])
        session.run([each.assign(each + 1.0) for each in network.variables])
        path = tfe.save_network_checkpoint(network, where)
        session.run([each.assign(each + 1.0) for each in network.variables])
        tfe.restore_network_checkpoint(network, path)
        again = ParentNet(Net(sizes=(2,)), dense(2))
        tfe.restore_network_checkpoint(again, path)
        result = again(one())
        outputs = [each.tolist() for each in session.run([result, network(one())])]
        return stored(path), outputs, names(again)


def saved_at_a_step():
    with folder() as where:
        network = filled(Net(name="stepping"), 4.0)
        path = tfe.save_network_checkpoint(network, os.path.join(where, "model"), global_step=7)
        full = tfe.save_network_checkpoint(network, where, map_func=lambda name: "all/" + name)
        return os.path.basename(path), stored(path), os.path.basename(full), stored(full)


def restored_twice():
    """The later restoration has the last word."""
    with folder() as where:
        whole = filled(ParentNet(Net(sizes=(2,)), Net(sizes=(2,))), 4.0)
        whole_path = tfe.save_network_checkpoint(whole, where)
        part_path = tfe.save_network_checkpoint(filled(Net(sizes=(2,)), 20.0), where)
        weights = []
        for is_whole_last in (False, True):
            again = ParentNet(Net(sizes=(2,)), Net(sizes=(2,)))
            steps = [(again, whole_path), (again.layers[0], part_path)]
            for network, path in reversed(steps) if is_whole_last else steps:
                tfe.restore_network_checkpoint(network, path)
            again(one())
            weights.append(values(again))
        return weights


def saved_too_early():
    tfe.save_network_checkpoint(Net(), "nowhere")


def saved_under_one_name():
    network = filled(Net(sizes=(2,)), 1.0)
    tfe.save_network_checkpoint(network, "nowhere", map_func=lambda name: "one")


def restored_under_one_name(is_called):
    def build():
        with folder() as where:
            path = tfe.save_network_checkpoint(filled(Net(), 1.0), where)
            again = Net()
            if is_called:
                again(one())
            tfe.restore_network_checkpoint(again, path, map_func=lambda name: "dense/bias")
            again(one())

    return build


def restored_without_a_value():
    with folder() as where:
        path = tfe.save_network_checkpoint(filled(Net(sizes=(2,)), 1.0), where)
        other = ParentNet(dense(1), dense(2))
        other(one())
        tfe.restore_network_checkpoint(other, path)


def object_checkpoint():
    with folder() as where:
        tf.train.Checkpoint(net=filled(Net(), 1.0)).save(os.path.join(where, "model"))


def on_create(map_func=None, start="v"):
    def build():
        with folder() as where:
            variables = [tfe.Variable([1.0, 2.0], name="v"), tfe.Variable(3.0, name="w")]
            path = tfe.Saver(variables).save(os.path.join(where, "model"))
            with tfe.restore_variables_on_create(path, map_func):
                same_named = [tfe.Variable([0.0, 0.0], name=start) for _ in range(2)]
            same_named.append(tfe.Variable([0.0, 0.0], name="v"))
            return [each.numpy().tolist() for each in same_named]

    return eagerly(build)


def on_create_of_layers():
    with folder() as where:
        first = dense(1, name="kept")
        first(one())
        first.variables[0].assign([[4.0], [5.0]])
        path = tfe.Saver(first.variables).save(os.path.join(where, "model"))
        with tfe.restore_variables_on_create(path, lambda name: name.replace("_1", "")):
            again = dense(1, name="kept")
            return again(one()).numpy().tolist()


def on_create_without_a_path():
    with tfe.restore_variables_on_create(None):
        return tfe.Variable(2.0).numpy().tolist()


CASES = {
    "eager.Network: without a name": eagerly(without_a_name),
    "eager.Network: slash": eagerly(lambda: tfe.Network(name="a/b")),
    "eager.Network: scope": Case(lambda: tfe.Network(name=tf.get_variable_scope())),
    "eager.Network: forgotten parent": eagerly(forgotten_parent),
    "eager.Network: not initialized": eagerly(not_initialized),
    "eager.Network: not trainable": eagerly(not_trainable),
    "eager.Network: no layer": eagerly(lambda: Net().track_layer(tf.nn.relu)),
    "eager.Network: add_variable": eagerly(lambda: Net().add_variable("v", [])),
    "eager.Network: add_loss": eagerly(lambda: Net().add_loss(1.0)),
    "eager.Network: get_layer of both": eagerly(lambda: Net().get_layer("dense", 0)),
    "eager.Network: get_layer of none": eagerly(lambda: Net().get_layer()),
    "eager.Network: get_layer beyond": eagerly(lambda: Net().get_layer(index=3)),
    "eager.Network: get_layer unknown": eagerly(lambda: Net().get_layer("other")),
    "eager.Network: object checkpoint": eagerly(object_checkpoint),
    "eager.Sequential: number": eagerly(lambda: tfe.Sequential([3])),
    "eager.Sequential, eagerly": eager_numbers(sequential),
    "eager.Sequential": Case(sequential),
    "eager.Sequential: training": Case(with_training),
    "eager.Sequential: training, eagerly": eager_numbers(with_training),
    "eager.save_network_checkpoint": eagerly(saved),
    "eager.save_network_checkpoint: graph": Case(saved_in_a_graph),
    "eager.save_network_checkpoint: step": eagerly(saved_at_a_step),
    "eager.save_network_checkpoint: too early": eagerly(saved_too_early),
    "eager.save_network_checkpoint: one name": eagerly(saved_under_one_name),
    "eager.restore_network_checkpoint": eagerly(restored_twice),
    "eager.restore_network_checkpoint: one name": eagerly(restored_under_one_name(True)),
    "eager.restore_network_checkpoint: one name, later": eagerly(restored_under_one_name(False)),
    "eager.restore_network_checkpoint: no value": eagerly(restored_without_a_value),
    "eager.restore_variables_on_create": on_create(),
    "eager.restore_variables_on_create: names": on_create(lambda name: name.replace("z", "v"), "z"),
    "eager.restore_variables_on_create: missing": on_create(start="other"),
    "eager.restore_variables_on_create: no function": on_create("v"),
    "eager.restore_variables_on_create: layer": eagerly(on_create_of_layers),
    "eager.restore_variables_on_create: no path": eagerly(on_create_without_a_path),
    "eager.restore_variables_on_create: graph": Case(on_create_without_a_path),
}
for _name, _build in {
    "": described,
    ": nested": nested,
    ": order": called_in_another_order,
    ": beside layers": beside_layers,
    ": built before": built_before,
    ": shared": shared,
    ": scopes": in_scopes,
    ": scope of that name": scope_of_that_name,
    ": scope at top level": scope_at_top_level,
    ": scope between": scope_between,
    ": twice": lambda: twice("given"),
    ": one name": one_name_in_a_network,
    ": one layer twice": one_layer_twice,
    ": one network twice": one_network_twice,
    ": losses": losses,
    ": updates": updates,
}.items():
    CASES.update(both("eager.Network" + _name, _build))
