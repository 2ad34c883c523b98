"""Predictions for files of records, by a SavedModel, on this machine without a TPU.

The command `estimator-bridge predict` and `python predict.py` call `prediction.running.predict`.
What reads no record (`input_files`, `model_folder`, `rows`) needs no TensorFlow, so that wrong
arguments are refused at once.
"""
