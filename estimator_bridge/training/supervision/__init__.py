"""Watches over a run: signals and their grace period, stalls, and a lost model_dir.

- ``termination`` handles SIGTERM and Ctrl-C: it holds the stage of a call and what a signal does in
  it. ``signal_watch`` is the thread that reads signals through ``signal.set_wakeup_fd`` and ends
  the process if the loop does not stop in time; ``signal_guard`` starts ``guard_process``, a
  process that ends this one if C code keeps Python's lock from all threads. ``grace_period`` is
  the time that they allow.
- ``watchdog`` is the thread that reports a call in which nothing goes on, with what
  ``stall_diagnosis`` reads from the stacks of Python's threads.
- ``exit_message`` names the checkpoint from which training resumes, when a process ends at once.
- ``rescue_checkpoint`` saves the last state of a training that has lost its model_dir.

The loop knows three things of it: ``Termination.requested`` and ``Termination.stage``, and
``note_progress()``, which it calls whenever a chunk has ended.
"""
