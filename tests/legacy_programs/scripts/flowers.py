"""The first program of the tutorials of 2018: DNNClassifier on rows of numbers."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", required=True)
parser.add_argument("--batch_size", default=10, type=int)
parser.add_argument("--train_steps", default=30, type=int)

KINDS = ["Setosa", "Versicolor", "Virginica"]


def load_data(count, first):
    """Three kinds of flowers in turns, each with sizes of its own."""
    numbers = np.arange(first, first + count)
    kinds = numbers % 3
    wobble = (numbers[:, None] * np.array([3, 5]) % 7) / 20.0
    sizes = np.array([[1.5, 0.2], [4.3, 1.3], [5.6, 2.1]])[kinds] + wobble
    return {"length": sizes[:, 0], "width": sizes[:, 1]}, kinds


def main(argv):
    args = parser.parse_args(argv[1:])
    train_x, train_y = load_data(60, 0)
    test_x, test_y = load_data(21, 60)
    columns = [tf.feature_column.numeric_column(key=key) for key in sorted(train_x)]
    classifier = tf.estimator.DNNClassifier(
        feature_columns=columns, hidden_units=[10, 10], n_classes=3, model_dir=args.model_dir
    )
    classifier.train(
        input_fn=tf.estimator.inputs.numpy_input_fn(
            x=train_x, y=train_y, batch_size=args.batch_size, num_epochs=None, shuffle=True
        ),
        steps=args.train_steps,
    )
    result = classifier.evaluate(
        input_fn=tf.estimator.inputs.numpy_input_fn(
            x=test_x, y=test_y, batch_size=args.batch_size, num_epochs=1, shuffle=False
        )
    )
    print("Test set: accuracy {accuracy:0.3f} step {global_step}".format(**result))
    print("losses %.5f %.5f" % (result["average_loss"], result["loss"]))
    predictions = classifier.predict(
        input_fn=tf.estimator.inputs.numpy_input_fn(x=test_x, num_epochs=1, shuffle=False)
    )
    for prediction in predictions:
        class_id = prediction["class_ids"][0]
        print("Prediction", KINDS[class_id], *["%.5f" % p for p in prediction["probabilities"]])
    print("Variables", " ".join(classifier.get_variable_names()))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main)
