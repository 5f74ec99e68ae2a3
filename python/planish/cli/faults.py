"""What ends a command, and the exit code it ends with.

0 is success, 1 a failure (of the data, the files, the computation), 2 a wrong use of the
command, 130 Ctrl-C, 143 a request to terminate.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

OK, FAILED, USAGE, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class Failure(Exception):  # noqa: N818 (an answer to the user, not a defect)
    """Something in the world is not as it must be; the text is the whole message."""

    code = FAILED


class Misuse(Failure):
    """The command was called in a way it does not take."""

    code = USAGE


class Terminated(BaseException):
    """The process was asked to end (SIGTERM, SIGHUP)."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean …?" when a known word is near, else nothing."""
    near = difflib.get_close_matches(word, list(known), n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def as_options(message: str) -> str:
    """Say the parameters that a message of the library names as options."""
    message = re.sub(
        r"\bparameter `(\w+)`", lambda found: "--" + found[1].replace("_", "-"), message
    )
    return " ".join(message.split())


def listed(words: Iterable[str], most: int = 12) -> str:
    """Join words by commas, the first few of many."""
    found = list(words)
    if len(found) <= most:
        return ", ".join(found)
    return f"{', '.join(found[:most])}, … ({len(found)} in all)"
