"""tf.contrib.optimizer_v2.OptimizerV2: optimizers that a program derives from it."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case, Steps

optimizer_v2 = tf.contrib.optimizer_v2


class Momentum(optimizer_v2.OptimizerV2):
    """Momentum whose rate decays by a variable of its own, written as programs write it."""

    def __init__(self, rate, decay=0.5, name="Own"):
        super().__init__(False, name)
        self._set_hyper("rate", rate)
        self._set_hyper("decay", decay)

    def _create_vars(self, var_list, state):
        for var in var_list:
            state.zeros_slot(var, "momentum")
            state.create_slot(var, tf.ones(var.shape.as_list()), "ones", "Other")
            state.create_slot_with_initializer(
                var, tf.constant_initializer(2.0), var.shape, tf.float32, "twos"
            )
        state.create_non_slot(1.0, "power", var_list[0])

    def _step(self, grad, var, state):
        rate = state.get_hyper("rate", var.dtype.base_dtype) * state.get_non_slot("power")
        slot = state.get_slot(var, "momentum")
        moved = slot * 0.9 + grad + state.get_slot(var, "ones") * 0.1
        return tf.group(tf.assign_sub(var, rate * moved), tf.assign(slot, moved))

    def _apply_dense(self, grad, var, state):
        return self._step(grad, var, state)

    def _resource_apply_dense(self, grad, var, state):
        return self._step(grad, var, state)

    def _apply_sparse(self, grad, var, state):
        return tf.scatter_sub(var, grad.indices, grad.values * state.get_hyper("rate"))

    def _resource_apply_sparse(self, grad, var, indices, state):
        rows = grad * state.get_hyper("rate")
        return tf.scatter_sub(var, indices, rows)

    def _finish(self, state):
        power = state.get_non_slot("power")
        return tf.assign(power, power * state.get_hyper("decay"))


class Plain(optimizer_v2.OptimizerV2):
    def _apply_dense(self, grad, var, state):
        return tf.assign_sub(var, grad)


class Slots(Plain):
    def _create_slots(self, var_list):
        raise AssertionError(var_list)


def trained(rate=0.1, resource=False, sparse=False, name=None, scale=False):
    def build():
        v = tf.get_variable("v", initializer=array(3, 2), use_resource=resource)
        w = tf.get_variable("w", initializer=array(2), use_resource=resource)
        read = tf.gather(v, [0, 2, 0]) if sparse else v
        loss = tf.reduce_sum(tf.square(read * 2 - w))
        step = tf.train.create_global_step()
        optimizer = Momentum(rate() if rate is tensor else rate)
        pairs = optimizer.compute_gradients(loss, scale_loss_by_num_replicas=scale)
        train = optimizer.apply_gradients(pairs, step, name=name)
        slots = [[name, optimizer.get_slot(v, name).op.name] for name in optimizer.get_slot_names()]
        tf.add_to_collection("slots", tf.constant(str(slots)))
        names = sorted(each.op.name for each in optimizer.variables())
        return Steps([train, train, [v, w, step], [train.name, names, str(slots)]])

    return Case(build, has_gradients=False)


def tensor():
    return tf.constant(0.2, name="given")


def minimized(**options):
    def build():
        v = tf.get_variable("v", initializer=array(3))
        inner = v * 2
        arguments = {key: [inner] if each == "inner" else each for key, each in options.items()}
        train = Momentum(0.1).minimize(tf.reduce_sum(inner * v), **arguments)
        return Steps([train, v])

    return Case(build, has_gradients=False)


def without_gradient(method):
    def build():
        v = tf.get_variable("v", initializer=array(3))
        optimizer = Momentum(0.1)
        if method == "minimize":
            return optimizer.minimize(tf.constant(1.0))
        return optimizer.apply_gradients([(None, v)] if method == "none" else [])

    return build


def missing(sparse=False, resource=True):
    def build():
        v = tf.get_variable("v", initializer=array(3, 2), use_resource=resource)
        loss = tf.reduce_sum(tf.gather(v, [1]) if sparse else v)
        return Plain(False, "Plain").minimize(loss)

    return build


CASES = {
    "optimizer_v2.OptimizerV2": trained(),
    "optimizer_v2.OptimizerV2: function": trained(rate=lambda: tf.constant(0.3)),
    "optimizer_v2.OptimizerV2: gate": minimized(gate_gradients=7),
    "optimizer_v2.OptimizerV2: graph": minimized(gate_gradients=2),
    "optimizer_v2.OptimizerV2: missing dense": missing(),
    "optimizer_v2.OptimizerV2: missing rows": missing(sparse=True),
    "optimizer_v2.OptimizerV2: missing rows of a reference": missing(True, False),
    "optimizer_v2.OptimizerV2: named": trained(name="own", resource=True),
    "optimizer_v2.OptimizerV2: no gradient": without_gradient("none"),
    "optimizer_v2.OptimizerV2: no loss": without_gradient("minimize"),
    "optimizer_v2.OptimizerV2: no name": lambda: Plain(False, ""),
    "optimizer_v2.OptimizerV2: nothing": without_gradient("nothing"),
    "optimizer_v2.OptimizerV2: plain": Case(
        lambda: Steps(
            [Plain(True, "P").minimize(tf.get_variable("v", initializer=2.0, use_resource=False))]
        ),
        has_gradients=False,
    ),
    "optimizer_v2.OptimizerV2: resource": trained(resource=True),
    "optimizer_v2.OptimizerV2: rows": trained(sparse=True),
    "optimizer_v2.OptimizerV2: rows of a resource": trained(sparse=True, resource=True),
    "optimizer_v2.OptimizerV2: scaled": trained(scale=True),
    "optimizer_v2.OptimizerV2: slots": lambda: Slots(False, "Slots"),
    "optimizer_v2.OptimizerV2: stopped": minimized(stop_gradients="inner"),
    "optimizer_v2.OptimizerV2: tensor": trained(rate=tensor),
}
