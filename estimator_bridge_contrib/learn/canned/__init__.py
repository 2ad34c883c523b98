"""The canned estimators of tf.contrib.learn."""
