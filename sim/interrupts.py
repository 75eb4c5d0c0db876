"""Ctrl-C and SIGTERM end a run within two seconds, whatever it is doing: what is finished is stored already."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

GRACE_SECONDS = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """A signal asks the program to end; `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def end_on_signals() -> Iterator[None]:
    """Inside, SIGINT and SIGTERM raise Interrupted in the main thread, and end the process if it has not ended GRACE_SECONDS later.

    A thread waits for the signal, since a compiler or a policy that never returns may hold the main thread or keep the others from ending.
    """
    if threading.current_thread() is not threading.main_thread():  # signals can be caught nowhere else
        yield
        return

    def interrupt(number: int, _: FrameType | None) -> None:
        raise Interrupted(number)

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = {number: signal.signal(number, interrupt) for number in SIGNALS}
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end_in_time, args=(reader,), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(writer)


def _end_in_time(reader: int) -> None:
    caught = [number for number in os.read(reader, 1) if number in SIGNALS]
    if caught:
        time.sleep(GRACE_SECONDS)
        end_now(caught[0])
    os.close(reader)


def end_now(number: int) -> NoReturn:
    """End the process with a signal's exit code, without waiting for threads that play."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(128 + number)
