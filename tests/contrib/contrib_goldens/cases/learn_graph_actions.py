"""tf.contrib.learn's loops over graphs: train, evaluate, infer, run_n and run_feeds."""

import os
import tempfile

import tensorflow as tf
from contrib_goldens.observe import Case

learn = tf.contrib.learn


def model(rate=0.5):
    """A graph that learns the number 3, its operations by name, and its global step."""
    graph = tf.Graph()
    with graph.as_default():
        step = tf.train.create_global_step()
        x = tf.placeholder_with_default(3.0, [], name="x")
        v = tf.get_variable("v", initializer=0.0)
        loss = tf.square(v - x, name="loss")
        tf.summary.scalar("loss", loss)
        train = tf.train.GradientDescentOptimizer(rate / 2).minimize(loss, step)
    return graph, {"x": x, "v": v, "loss": loss, "train": train, "step": step}


def events(folder):
    """The tags and values of a folder's summaries, by step."""
    learn.graph_actions.get_summary_writer(folder).flush()
    scalars = []
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                for value in event.summary.value:
                    if not value.tag.startswith("global_step/sec"):  # a matter of time
                        scalars.append([event.step, value.tag, "%.4g" % value.simple_value])
    learn.graph_actions.clear_summary_writers()
    return sorted(scalars)


def trained(*runs):
    """Trains once for each set of options, in one folder."""

    def build():
        folder = tempfile.mkdtemp()
        losses = []
        for options in runs:
            graph, ops = model()
            losses.append(learn.train(graph, folder, ops["train"], ops["loss"], **options))
        saved = {
            name: tf.train.load_variable(folder, name)
            for name, _ in tf.train.list_variables(folder)
        }
        indices = sorted(name for name in os.listdir(folder) if name.endswith(".index"))
        # The supervisor's thread writes the first one, before or after the first steps.
        return [losses, saved, indices[-1], events(folder)]

    return Case(build, has_gradients=False)


def feeds(*values):
    iterator = iter(values)
    return lambda: {"x:0": next(iterator)}


class Recorded(learn.monitors.BaseMonitor):
    """Asks for v at each step, and ends the training when it is above 2."""

    seen = []  # noqa: RUF012 - the test reads it after the training

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self.seen[:] = [("begin", max_steps)]

    def step_begin(self, step):
        super().step_begin(step)
        self.seen.append(("step", step))
        return ["v:0"]

    def step_end(self, step, output):
        super().step_end(step, output)
        self.seen.append(("end", step, float(output["v:0"])))
        return output["v:0"] > 2

    def end(self, session=None):
        super().end(session)
        self.seen.append(("finish",))


def monitored():
    folder = tempfile.mkdtemp()
    graph, ops = model()
    loss = learn.train(graph, folder, ops["train"], ops["loss"], steps=9, monitors=[Recorded()])
    return [loss, [list(each) for each in Recorded.seen if each[0] != "end"]]


def missing(**changed):
    def build():
        graph, ops = model()
        arguments = {"output_dir": "/none", "train_op": ops["train"], "loss_op": ops["loss"]}
        arguments.update(changed)
        return learn.train(graph, **arguments)

    return build


def evaluated(checkpoint=True, **options):
    def build():
        folder, results = tempfile.mkdtemp(), tempfile.mkdtemp()
        graph, ops = model()
        learn.train(graph, folder, ops["train"], ops["loss"], steps=3)
        learn.graph_actions.clear_summary_writers()
        graph, ops = model()
        arguments = dict(options)
        with graph.as_default():
            total = tf.Variable(0.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="total")
            if arguments.pop("adds", False):
                arguments["update_op"] = tf.assign_add(total, ops["loss"])
        fetches = {"loss": ops["loss"], "total": total, "step": ops["step"]}
        path = folder if checkpoint else None
        return [list(learn.evaluate(graph, results, path, fetches, **arguments)), events(results)]

    return Case(build, has_gradients=False)


def run(function, *args, **options):
    def build():
        graph, ops = model()
        with graph.as_default():
            doubled = ops["x"] * 2 + ops["v"]
        keywords = dict(options)
        fetches = keywords.pop("fetches", {"doubled": doubled, "v": ops["v"]})
        arguments = [None, fetches] if function == "infer" else [fetches]
        return getattr(learn, function)(*arguments, *args, **keywords)

    return Case(build, has_gradients=False)


CASES = {
    "learn.evaluate": evaluated(max_steps=2),
    "learn.evaluate: exhausted": evaluated(feed_fn=feeds(1.0, 2.0)),
    "learn.evaluate: folder": lambda: learn.evaluate(tf.Graph(), "", None, {}),
    "learn.evaluate: initial": evaluated(checkpoint=False, max_steps=1),
    "learn.evaluate: step": lambda: learn.evaluate(tf.Graph(), "/none", None, {}),
    "learn.evaluate: updates": evaluated(max_steps=3, adds=True, log_every_steps=2),
    "learn.infer": run("infer"),
    "learn.infer: fed": run("infer", {"x:0": 5.0}),
    "learn.infer: nothing": run("infer", fetches={}),
    "learn.run_feeds": run("run_feeds", [{"x:0": 1.0}, None]),
    "learn.run_feeds: nothing": run("run_feeds", []),
    "learn.run_n": run("run_n", n=2),
    "learn.run_n: fed": run("run_n", feed_dict={"x:0": 4.0}),
    "learn.train": trained({"steps": 4}),
    "learn.train: again": trained({"steps": 2}, {"steps": 2}, {"max_steps": 5}, {"max_steps": 3}),
    "learn.train: both": missing(steps=1, max_steps=1),
    "learn.train: fed": trained(
        {"feed_fn": feeds(1.0, 2.0, 3.0), "supervisor_save_summaries_steps": 1}
    ),
    "learn.train: folder": missing(output_dir=""),
    "learn.train: monitor": monitored,
    "learn.train: nan": trained({"steps": 2, "feed_fn": feeds(float("nan"), 1.0)}),
    "learn.train: nan is none": trained(
        {"steps": 2, "feed_fn": feeds(float("nan"), 1.0), "fail_on_nan_loss": False}
    ),
    "learn.train: no loss": missing(loss_op=None),
    "learn.train: no train_op": missing(train_op=None),
    "learn.train: worker": missing(global_step_tensor="none"),
}
