"""The runtime in which JAX runs the steps. Only its functions import JAX, when they are called.

``JaxLoop`` uses the engine's step: ``ReplicaStep`` lifts it, ``StepLowering`` lowers one replica's
part to HLO as for ``--compile-for``, with the updated variables as further results.
``lowered_module`` makes it a JAX primitive whose lowering inlines it, and ``program`` calls that in
a ``lax.while_loop`` under ``shard_map``, over a mesh with a device for each replica, with donated
state. Replica numbers and sums over replicas become those of the mesh. TensorFlow reads the batches
of a block of up to 256 steps or 64 MB (``block_reader``) while JAX runs the block before it; the
thread that started that block reads, so that no other one has to wake for each batch. If
nobody can notice that an input is read early, and no hook saves its position, the first block of
the next call is read and placed on the devices while the last steps of a call run
(``graph/elements_ahead.py``). Blocks are padded to a few sizes, so that JAX compiles few programs.
The host's part, such as metrics, follows a block, step by step (``host_steps``). On CPUs a step
with convolutions is a block of its own, without a loop, in which XLA computes them ten times as
slowly.

Each device keeps its own copy of a variable, so batch normalization's averages differ between
replicas, and a checkpoint has the first replica's, as on a TPU, or the mean where the program
declares it. Random numbers are those of emulated cores: XLA draws the same bits, and the step makes
floats of them as TensorFlow's kernels do (``graph/kernel_draws.py``). What is missing is refused
while the model is traced (``refusals``), and what cannot be lowered when the loop is made.

Several processes are hosts of one mesh (``processes``, ``workers``). ``place`` reads TF_CONFIG.
``front`` and ``relay`` are the ends of their connections, by which ``peers`` learns who is lost;
docs/decisions/jax_hosts.md says why JAX's own do not suffice. Each process reads its own part of a
batch. Before each block all agree on the number of batches, before each chunk of steps on what the
hooks of any of them need, and before each call on what is read ahead and that their steps are alike
(``shared_step``): the steps of all are one program.

JAX is imported by these functions alone, when one is called. Two private names of JAX are used, the
conversion of HLO to StableHLO and the client of its coordinator, so a range of releases is pinned
(``devices``).
"""
