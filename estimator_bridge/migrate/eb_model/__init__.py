"""`rewrite --to eb-model`: splits a plain model_fn into parts and writes it as an `eb.Model`."""
