import os
import signal
import threading
import time

from estimator_bridge.training.supervision.signal_watch import watching


class Call:
    """A call that notes the signals that the watcher's thread tells it."""

    def __init__(self, may_look=None):
        self.may_look = may_look or threading.Event()
        if may_look is None:
            self.may_look.set()
        self.looks, self.received = threading.Event(), []

    def receive(self, signum):
        self.received.append(signum)

    def secs_left(self):
        self.looks.set()
        assert self.may_look.wait(30)
        return 0.01

    def expired(self):
        time.sleep(0.001)

    def guarded(self, signums):
        return None

    def may_be_killed(self):
        return False


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def kill_within(call, handled):
    with watching({signal.SIGTERM: lambda *_: handled.append(1)}, call, restart=True):
        wake_watcher(call)
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for(lambda: handled)


def wake_watcher(call):
    """Sends a signal for which no call ends, so the thread looks at the call that is running."""
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    assert call.looks.wait(30)


def test_a_call_is_told_of_its_signals():
    call, handled = Call(), []
    with watching({signal.SIGTERM: lambda *_: handled.append(1)}, call, restart=True):
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for(lambda: handled and call.received)
    assert call.received == [signal.SIGTERM]


def test_a_signal_of_a_call_that_has_ended_is_not_one_of_the_next():
    may_look = threading.Event()
    handled = []
    first, second = Call(may_look), Call()
    kill_within(first, handled)  # the thread has no time to read it
    assert handled
    with watching({signal.SIGTERM: lambda *_: None}, second, restart=True):
        may_look.set()
        wake_watcher(second)
        time.sleep(0.05)
    assert second.received == []
    assert first.received == []
