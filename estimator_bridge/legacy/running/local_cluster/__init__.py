"""`estimator-bridge run --cluster` and `--workers`: the processes of a cluster on this machine.

``options`` reads the two options, and ``roles`` turns them into tasks and their TF_CONFIGs.
``launcher`` starts a process for each task (``processes``, on the ports of ``ports``), copies their
output (``output``), and asks ``supervisor`` when each has to end. The launcher itself needs no
TensorFlow.
"""
