"""`rewrite --to eb-model`: takes a plain model_fn apart, and writes it as an `eb.Model`."""
