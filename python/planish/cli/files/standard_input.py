"""Standard input that Ctrl-C interrupts also while there is nothing to read.

A signal that comes between two reads of Python's own buffer is noticed only after the second
of them, which may wait for ever. Here the waiting is done in short turns.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any

#: Seconds of one turn.
_TURN = 0.2


def standard_input() -> Any:
    """Return standard input as a buffered stream of bytes."""
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):  # what tests put in its place
        return sys.stdin.buffer
    if sys.platform == "win32":  # where only sockets can be waited for
        return sys.stdin.buffer
    return io.BufferedReader(_Waiting(number), 1 << 16)


class _Waiting(io.RawIOBase):
    """Reads a file descriptor when there is something in it."""

    def __init__(self, number: int) -> None:
        self._number, self._ended = number, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # On a terminal every Ctrl-D is one end, and one is enough.
        if self._ended:
            return 0
        while not select.select([self._number], [], [], _TURN)[0]:
            pass
        data = os.read(self._number, len(buffer))
        self._ended = not data
        buffer[: len(data)] = data
        return len(data)
