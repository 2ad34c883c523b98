"""tf.contrib.graph_editor: what is found in a small graph, and what becomes of it."""

import tensorflow as tf
from contrib_goldens.observe import Case

ge = tf.contrib.graph_editor


class Net:
    """a + b = c; c + d = e and f; c + a = g; f + g = h, which waits for c."""

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.a = tf.constant([1.0, 1.0], name="a")
        with tf.name_scope("foo"):
            self.b = tf.constant([2.0, 2.0], name="b")
            self.c = tf.add(self.a, self.b, name="c")
            self.d = tf.constant([3.0, 3.0], name="d")
            with tf.name_scope("bar"):
                self.e = tf.add(self.c, self.d, name="e")
                self.f = tf.add(self.c, self.d, name="f")
                self.g = tf.add(self.c, self.a, name="g")
                with tf.control_dependencies([self.c.op]):
                    self.h = tf.add(self.f, self.g, name="h")
        tf.add_to_collection("mine", self.f)
        self.control = ge.ControlOutputs(self.graph)


def names(elements):
    return sorted(each.name for each in elements)


def edges(graph):
    """Each operation's name, with those of what it reads and waits for."""
    rows = []
    for op in graph.get_operations():
        reads = [tensor.name for tensor in op.inputs] + [
            "^" + each.name for each in op.control_inputs
        ]
        rows.append("%s: %s" % (op.name, " ".join(reads)))
    return sorted(rows)


def names_from(function):
    """The names of what a function of the net returns."""
    return Case(lambda: names(function(Net())), has_gradients=False)


def result_of(function):
    """What a function of the net returns."""
    return Case(lambda: function(Net()), has_gradients=False)


def changed(function):
    """The net's edges after a function."""

    def build():
        net = Net()
        function(net)
        return edges(net.graph)

    return Case(build, has_gradients=False)


def valued(function):
    """The net's edges after a function, and the value of what the function returns."""

    def build():
        net = Net()
        result = function(net)
        return result, edges(net.graph)

    return Case(build, has_gradients=False)


def ends(view):
    return [names(view.ops), [t.name for t in view.inputs], [t.name for t in view.outputs],
            [t.name for t in view.passthroughs]]  # fmt: skip


def others():
    """Two tensors and their sum, beside the net."""
    x = tf.constant([5.0, 5.0], name="x")
    y = tf.constant([7.0, 7.0], name="y")
    return x, y, tf.add(x, y, name="z")


def handled(handler):
    """A copy with another function for its inputs."""

    def build(net):
        transformer = ge.Transformer()
        transformer.transform_external_input_handler = handler
        view, info = transformer(ge.sgv(net.f.op, net.h.op), net.graph, "new")
        copied = info.transformed(net.h).name, info.original(info.transformed(net.h)).name
        return ends(view), copied, names(tf.get_collection("mine")), edges(net.graph)

    return result_of(build)


def renamed(info, op, inputs):
    def change(node):
        node.name = node.name + "_again"
        return node

    return ge.copy_op_handler(info, op, inputs, copy_shape=True, nodedef_fn=change)


def copied_otherwise(net):
    transformer = ge.Transformer()
    transformer.transform_op_handler = renamed
    transformer.transform_control_input_handler = ge.transform_op_if_inside_handler
    transformer.assign_collections_handler = ge.assign_renamed_collections_handler
    transformer.transform_external_hidden_input_handler = ge.keep_t_if_possible_handler
    view, _ = transformer(net.graph, net.graph, "new", reuse_dst_scope=True)
    return ends(view)


def into_another(net):
    with tf.Graph().as_default() as other:
        view, info = ge.copy(ge.sgv(net.f.op, net.g.op), other, "there")
        return ends(view), edges(other), str(info).count("=>")


def replaced(net):
    x, y, _ = others()
    result = ge.graph_replace([net.h, {"e": net.e}], {net.c: x, net.d: y}, dst_scope="new")
    return result


def looped(net):
    """A loop, run with another start."""
    end = tf.while_loop(lambda i: i < 9.0, lambda i: i + 2.0, [net.a[0]], name="loop")
    return ge.graph_replace(end, {net.a: tf.constant([4.0, 0.0])}, dst_scope="new")


def bypassed(net):
    view, placeholders = ge.bypass(ge.sgv(net.f.op).remap_inputs([0]))
    return ends(view), [each.name for each in placeholders], edges(net.graph)


def corresponding():
    net = Net()
    with tf.Graph().as_default() as other:
        Net()
        with tf.name_scope("sub"):
            tf.constant(1.0, name="a")
    corresponding_ops = ge.util.find_corresponding({"one": [net.c, net.h.op], "two": net.f}, other)
    moved = ge.util.find_corresponding([net.a], other, dst_scope="sub")
    return [each.name for each in corresponding_ops["one"]] + [
        corresponding_ops["two"].name,
        moved[0].name,
    ]


CASES = {
    "graph_editor.util.find_corresponding": Case(corresponding, has_gradients=False),
    "graph_editor.util.find_corresponding: not there": Case(
        lambda: ge.util.find_corresponding([Net().a], tf.Graph()), has_gradients=False
    ),
    "graph_editor.util.get_predefined_collection_names": Case(
        lambda: [
            name in ge.util.get_predefined_collection_names()
            for name in ("variables", "update_ops", "GraphKeys")
        ],
        has_gradients=False,
    ),
    "graph_editor.can_be_regex": result_of(lambda n: [ge.can_be_regex("a"), ge.can_be_regex(n.a)]),
    "graph_editor.make_regex": result_of(lambda n: ge.make_regex("a.").pattern),
    "graph_editor.make_regex: type": result_of(lambda n: ge.make_regex(3)),
    "graph_editor.filter_ts": names_from(lambda n: ge.filter_ts(n.graph, True)),
    "graph_editor.filter_ts_from_regex": names_from(
        lambda n: ge.filter_ts_from_regex(n.graph, "/[fgh]:")
    ),
    "graph_editor.filter_ops": names_from(lambda n: ge.filter_ops(n.graph, lambda op: op.inputs)),
    "graph_editor.filter_ops_from_regex": names_from(
        lambda n: ge.filter_ops_from_regex(n.graph, r"\b[abc]$")
    ),
    "graph_editor.get_name_scope_ops": names_from(
        lambda n: ge.get_name_scope_ops(n.graph, "foo/bar/")
    ),
    "graph_editor.check_cios": result_of(lambda n: ge.check_cios(control_ios=n.control)[0]),
    "graph_editor.check_cios: both": result_of(
        lambda n: ge.check_cios(False, n.control, n.control)
    ),
    "graph_editor.check_cios: type": result_of(lambda n: ge.check_cios(False, 3)),
    "graph_editor.get_ops_ios": names_from(lambda n: ge.get_ops_ios(n.c.op)),
    "graph_editor.get_ops_ios: control": names_from(
        lambda n: ge.get_ops_ios(n.c.op, control_ios=n.control)
    ),
    "graph_editor.compute_boundary_ts": result_of(
        lambda n: [names(each) for each in ge.compute_boundary_ts([n.c.op, n.f.op])]
    ),
    "graph_editor.get_within_boundary_ops": names_from(
        lambda n: ge.get_within_boundary_ops(n.graph, n.f.op, [n.c.op])
    ),
    "graph_editor.get_within_boundary_ops: exclusive": names_from(
        lambda n: ge.get_within_boundary_ops(n.graph, n.f.op, [n.c.op], inclusive=False)
    ),
    "graph_editor.get_within_boundary_ops: seed": names_from(
        lambda n: ge.get_within_boundary_ops(n.graph, n.f.op, [n.f.op])
    ),
    "graph_editor.get_forward_walk_ops": names_from(lambda n: ge.get_forward_walk_ops(n.c.op)),
    "graph_editor.get_forward_walk_ops: tensors": names_from(
        lambda n: ge.get_forward_walk_ops([n.a, n.d], inclusive=False, stop_at_ts=[n.c])
    ),
    "graph_editor.get_backward_walk_ops": names_from(
        lambda n: ge.get_backward_walk_ops(n.h.op, control_inputs=True, stop_at_ts=[n.f])
    ),
    "graph_editor.get_backward_walk_ops: within": names_from(
        lambda n: ge.get_backward_walk_ops(n.h, within_ops=[n.h.op, n.f.op, n.c.op])
    ),
    "graph_editor.get_walks_intersection_ops": names_from(
        lambda n: ge.get_walks_intersection_ops([n.c.op], [n.g.op])
    ),
    "graph_editor.get_walks_union_ops": names_from(
        lambda n: ge.get_walks_union_ops([n.f.op], [n.g.op], backward_inclusive=False)
    ),
    "graph_editor.select_ops": names_from(
        lambda n: ge.select_ops("^foo/bar", n.a.op, graph=n.graph)
    ),
    "graph_editor.select_ops: no graph": names_from(lambda n: ge.select_ops("^foo/bar")),
    "graph_editor.select_ops: keyword": names_from(lambda n: ge.select_ops(n.a.op, size=3)),
    "graph_editor.select_ts": names_from(
        lambda n: ge.select_ts("(?#ts)/[ef]:", "(?#ops)a", n.a, graph=n.graph)
    ),
    "graph_editor.select_ops_and_ts": result_of(
        lambda n: [
            names(each) for each in ge.select_ops_and_ts("/[ef]$", "(?#ts)/g:", n.a, graph=n.graph)
        ]
    ),
    "graph_editor.get_tensors": names_from(lambda n: ge.get_tensors(n.graph)),
    "graph_editor.get_tensors: type": names_from(lambda n: ge.get_tensors(n.a)),
    "graph_editor.make_list_of_op": names_from(lambda n: ge.make_list_of_op(n.a.op)),
    "graph_editor.make_list_of_op: tensor": names_from(lambda n: ge.make_list_of_op(n.a)),
    "graph_editor.make_list_of_op: graph": names_from(
        lambda n: ge.make_list_of_op(n.graph, allow_graph=False)
    ),
    "graph_editor.make_list_of_t": names_from(lambda n: ge.make_list_of_t([n.a, n.b])),
    "graph_editor.make_list_of_t: graphs": names_from(
        lambda n: ge.make_list_of_t([n.a, tf.Graph().create_op("NoOp", [], []), n.b])
    ),
    "graph_editor.get_generating_ops": names_from(lambda n: ge.get_generating_ops([n.a, n.h])),
    "graph_editor.get_consuming_ops": names_from(lambda n: ge.get_consuming_ops([n.a, n.c])),
    "graph_editor.ControlOutputs": result_of(lambda n: names(n.control.get(n.c.op))),
    "graph_editor.placeholder_name": result_of(
        lambda n: [ge.placeholder_name(n.f), ge.placeholder_name(n.f, "x"), ge.placeholder_name()]
    ),
    "graph_editor.placeholder_name: type": result_of(lambda n: ge.placeholder_name(n.f.op)),
    "graph_editor.make_placeholder_from_tensor": changed(
        lambda n: ge.make_placeholder_from_tensor(n.f, scope="x")
    ),
    "graph_editor.make_placeholder_from_dtype_and_shape": changed(
        lambda n: ge.make_placeholder_from_dtype_and_shape(tf.float32, [2], "x")
    ),
    "graph_editor.SubGraphView": result_of(
        lambda n: ends(ge.SubGraphView([n.c.op, n.f.op], [n.e]))
    ),
    "graph_editor.SubGraphView: remapped": result_of(
        lambda n: ends(ge.SubGraphView([n.c.op, n.f.op, n.g.op]).remap([1], [2, 0, 0]))
    ),
    "graph_editor.SubGraphView: range": result_of(
        lambda n: ge.SubGraphView(n.c.op).remap_inputs([2])
    ),
    "graph_editor.SubGraphView: readers": result_of(
        lambda n: ends(ge.SubGraphView([n.c.op]).remap_outputs_to_consumers())
    ),
    "graph_editor.SubGraphView: unused": result_of(
        lambda n: ends(ge.SubGraphView([n.c.op, n.f.op]).remap([], [1]).remove_unused_ops())
    ),
    "graph_editor.make_view": result_of(lambda n: ends(ge.make_view("/[fg]$", graph=n.graph))),
    "graph_editor.make_view: graph": result_of(lambda n: ge.make_view(n.f.op, graph=tf.Graph())),
    "graph_editor.make_view_from_scope": result_of(
        lambda n: ends(ge.make_view_from_scope("foo/bar", n.graph))
    ),
    "graph_editor.swap_ts": changed(lambda n: ge.swap_ts([n.f], [n.g])),
    "graph_editor.reroute_ts": changed(lambda n: ge.reroute_ts([n.d], [n.c], can_modify=n.f.op)),
    "graph_editor.reroute_ts: cannot": changed(
        lambda n: ge.reroute_ts([n.d], [n.a], cannot_modify=[n.c.op])
    ),
    "graph_editor.reroute_ts: sizes": changed(lambda n: ge.reroute_ts([n.d], [n.c, n.a])),
    "graph_editor.reroute_ts: types": changed(lambda n: ge.reroute_ts(tf.constant([1, 2]), n.c)),
    "graph_editor.reroute_ts: shapes": changed(lambda n: ge.reroute_ts(tf.constant([1.0]), n.c)),
    "graph_editor.swap_inputs": changed(
        lambda n: ge.swap_inputs(ge.sgv(n.e.op), list(others()[:2]))
    ),
    "graph_editor.reroute_inputs": changed(
        lambda n: ge.reroute_inputs(ge.sgv(others()[2].op), ge.sgv(n.e.op))
    ),
    "graph_editor.swap_outputs": changed(lambda n: ge.swap_outputs(ge.sgv(n.f.op), ge.sgv(n.g.op))),
    "graph_editor.reroute_outputs": changed(
        lambda n: ge.reroute_outputs(ge.sgv(others()[2].op), ge.sgv(n.f.op))
    ),
    "graph_editor.swap_ios": changed(lambda n: ge.swap_ios(ge.sgv(n.c.op), ge.sgv(others()[2].op))),
    "graph_editor.reroute_ios": changed(
        lambda n: ge.reroute_ios(ge.sgv(others()[2].op), ge.sgv(n.f.op))
    ),
    "graph_editor.remove_control_inputs": changed(
        lambda n: ge.remove_control_inputs(n.h.op, n.c.op)
    ),
    "graph_editor.remove_control_inputs: none": changed(
        lambda n: ge.remove_control_inputs(n.h.op, n.a.op)
    ),
    "graph_editor.add_control_inputs": changed(lambda n: ge.add_control_inputs(n.h.op, n.e.op)),
    "graph_editor.add_control_inputs: twice": changed(
        lambda n: ge.add_control_inputs(n.h.op, n.c.op)
    ),
    "graph_editor.detach": changed(
        lambda n: ge.detach(ge.sgv(n.c.op, n.a.op), control_ios=n.control)
    ),
    "graph_editor.detach_inputs": changed(lambda n: ge.detach_inputs(n.h.op, True)),
    "graph_editor.detach_outputs": changed(lambda n: ge.detach_outputs(n.c.op, n.control)),
    "graph_editor.detach_control_inputs": changed(lambda n: ge.detach_control_inputs(n.h.op)),
    "graph_editor.detach_control_outputs": changed(
        lambda n: ge.detach_control_outputs(n.c.op, n.control)
    ),
    "graph_editor.connect": changed(
        lambda n: ge.connect(ge.sgv(*[t.op for t in others()]), ge.sgv(n.e.op).remap_inputs([0]))
    ),
    "graph_editor.bypass": result_of(bypassed),
    "graph_editor.Transformer": handled(ge.keep_t_if_possible_handler),
    "graph_editor.replace_t_with_placeholder_handler": handled(
        ge.replace_t_with_placeholder_handler
    ),
    "graph_editor.keep_t_if_possible_handler": handled(ge.keep_t_if_possible_handler),
    "graph_editor.copy_op_handler": result_of(copied_otherwise),
    "graph_editor.transform_op_if_inside_handler": result_of(copied_otherwise),
    "graph_editor.assign_renamed_collections_handler": result_of(copied_otherwise),
    "graph_editor.copy": result_of(into_another),
    "graph_editor.copy: here": result_of(lambda n: ends(ge.copy(n.f.op, dst_scope="foo")[0])),
    "graph_editor.copy: source": result_of(
        lambda n: ge.copy(n.a.op, src_scope="foo", dst_scope="x")
    ),
    "graph_editor.copy_with_input_replacements": valued(
        lambda n: ge.copy_with_input_replacements(n.h.op, {n.f: others()[2]}, dst_scope="new")[
            1
        ].transformed(n.h)
    ),
    "graph_editor.graph_replace": valued(replaced),
    "graph_editor.graph_replace: loop": result_of(looped),
    "graph_editor.graph_replace: apart": valued(lambda n: ge.graph_replace(n.a, {n.h: n.b})),
}
