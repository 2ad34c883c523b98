"""tf.contrib.learn: constants, preprocessing, specs, and monitors stepped by hand."""

import tensorflow as tf
from contrib_goldens.cases.inputs import array

__all__ = ["CASES"]

learn = tf.contrib.learn


def constants(kind):
    return {name: getattr(kind, name) for name in dir(kind) if name.isupper()}


def vocabulary():
    words = learn.preprocessing.CategoricalVocabulary(support_reverse=True)
    for word in ["b", "a", "b", "c", "b", "a"]:
        words.add(word)
    seen = [words.get(word) for word in ("a", "b", "c", "d")]
    words.trim(1, 3)
    words.freeze()
    return seen + [words.get("a"), words.get("z"), len(words), words.reverse(0)]


def frozen():
    words = learn.preprocessing.CategoricalVocabulary()
    words.get("a")
    words.freeze()
    return words.reverse(1)


def serving(default):
    def build():
        if default:
            features = {"a": tf.placeholder(tf.float32, [None, 2], name="a")}
            receiver = learn.utils.build_default_serving_input_fn(features)()
        else:
            spec = {"a": tf.FixedLenFeature([2], tf.float32)}
            receiver = learn.utils.build_parsing_serving_input_fn(spec)()
        return [
            sorted(receiver.features),
            [each.shape.as_list() for each in receiver.features.values()],
            receiver.labels,
            [(name, each.dtype.name) for name, each in sorted(receiver.default_inputs.items())],
        ]

    return build


def model_ops(**options):
    def build():
        arguments = {name: make() for name, make in options.items()}
        mode = arguments.pop("mode", learn.ModeKeys.TRAIN)
        spec = learn.ModelFnOps(mode, tf.constant(array(2, 1)), **arguments)
        return [sorted(spec._fields), spec.loss, sorted(spec.eval_metric_ops)]

    return build


def stepped(monitor, steps=range(1, 9)):
    """The steps in which a monitor asks for a stop, or None."""
    monitor.begin(max_steps=20)
    stops = []
    for step in steps:
        monitor.step_begin(step)
        stops.append(bool(monitor.step_end(step, {})))
        monitor.post_step(step, None)
    monitor.end()
    return stops


def every():
    calls = []

    class Own(learn.monitors.EveryN):
        def every_n_step_begin(self, step):
            calls.append("begin %d" % step)
            return []

        def every_n_step_end(self, step, outputs):
            calls.append("end %d" % step)
            return step > 6

    stops = stepped(Own(every_n_steps=3, first_n_steps=2))
    return calls + stops


def twice():
    monitor = learn.monitors.BaseMonitor()
    monitor.begin()
    monitor.begin()


def kinds(values):
    return [type(each).__name__ for each in values]


CASES = {
    "learn.PredictionKey": lambda: constants(learn.PredictionKey),
    "learn.ProblemType": lambda: constants(learn.ProblemType),
    "learn.NotFittedError": lambda: [each.__name__ for each in learn.NotFittedError.__mro__],
    "learn.preprocessing.tokenizer": lambda: [
        " ".join(row) for row in learn.preprocessing.tokenizer(["a b-c", "Don't, 3.5 x_y!"])
    ],
    "learn.preprocessing.CategoricalVocabulary": vocabulary,
    "learn.preprocessing.CategoricalVocabulary: no reverse": frozen,
    "learn.utils.build_default_serving_input_fn": serving(True),
    "learn.utils.build_parsing_serving_input_fn": serving(False),
    "learn.utils.InputFnOps": lambda: list(learn.utils.InputFnOps(1, 2, 3)._fields),
    "learn.ModelFnOps": model_ops(loss=lambda: tf.constant(1.0), train_op=tf.no_op),
    "learn.ModelFnOps: infer": model_ops(mode=lambda: learn.ModeKeys.INFER),
    "learn.ModelFnOps: no loss": model_ops(),
    "learn.monitors.BaseMonitor": lambda: stepped(learn.monitors.BaseMonitor()),
    "learn.monitors.BaseMonitor: twice": twice,
    "learn.monitors.EveryN": every,
    "learn.monitors.StopAtStep": lambda: stepped(learn.monitors.StopAtStep(last_step=5)),
    "learn.monitors.StopAtStep: count": lambda: stepped(learn.monitors.StopAtStep(num_steps=3)),
    "learn.monitors.StopAtStep: neither": lambda: learn.monitors.StopAtStep(),
    "learn.monitors.get_default_monitors": lambda: kinds(
        learn.monitors.get_default_monitors(save_summary_steps=5, output_dir="nowhere")
    ),
    "learn.monitors.replace_monitors_with_hooks": lambda: kinds(
        learn.monitors.replace_monitors_with_hooks(
            [learn.monitors.StopAtStep(last_step=5), tf.train.StopAtStepHook(3)],
            learn.Estimator(lambda features, labels, mode: None),
        )
    ),
}
