"""Predictions for files of records, by a SavedModel, on this machine without a TPU.

The command `estimator-bridge predict` and `python predict.py` call `prediction.running.predict`.
What reads no record (`input_files`, `model_folder`, `rows`) needs no TensorFlow, so that wrong
arguments are refused at once.

This package predicts with a SavedModel, because its signature says which inputs it takes.
``input_files``, ``model_folder`` and ``text_rows`` need no TensorFlow, so wrong arguments are
refused at once. ``accepted_kinds`` tells by the signature which kinds of files a model takes,
``values`` turns a record into the signature's inputs or says why it cannot, and ``running``
computes batches of records of equal shapes. If a batch fails, its records are computed one by one,
to name the bad one. ``predict.py`` exports a checkpoint of ``models/`` into a temporary folder
first (``models/serving.py``).
"""
