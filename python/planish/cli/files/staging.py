"""Files that are there as a whole or not at all.

Everything a command writes goes to files beside their targets, which take the targets'
places together when all is done. What is not a file (standard output, a device) is written
to directly. Whether a target can be written is asked before anything is computed.

A process that is killed leaves its file beside the target behind. While a process lives it
holds a lock on it, so that the next command for the same target knows what to remove.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import stat
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ..faults import Failure, Misuse

if sys.platform != "win32":
    import fcntl


class Outputs:
    """The files of one command; a context that leaves nothing behind on failure."""

    def __init__(self) -> None:
        self._staged: list[tuple[Path, Path, str]] = []
        self._locks: list[int] = []

    def __enter__(self) -> Outputs:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove what was not put in place."""
        for staged, _, _ in self._staged:
            with contextlib.suppress(OSError):
                staged.unlink()
        self._unlock()
        if not isinstance(error, OSError) or isinstance(error, BrokenPipeError):
            return
        if error.errno:
            shown = self._shown(error.filename)
            if shown is not None:
                raise Failure(f"{shown}: cannot be written: {os.strerror(error.errno)}") from None
        for staged, _, shown in self._staged:
            if str(staged) in str(error):  # what the library says of a model file
                raise Failure(str(error).replace(str(staged), shown)) from None

    def _shown(self, filename: Any) -> str | None:
        """Return the name of a target by the name of the file beside it."""
        for staged, _, shown in self._staged:
            if filename is not None and str(filename) == str(staged):
                return shown
        return self._staged[-1][2] if filename is None and self._staged else None

    def stage(self, target: str) -> Path:
        """Return the file to write in place of `target`, which is checked."""
        path = check_target(target)
        _remove_left_behind(path)
        staged = path.parent / f"{_beginning(path)}{secrets.token_hex(4)}.part{path.suffix}"
        if sys.platform != "win32":  # where no file is moved that is open
            try:
                lock = os.open(staged, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            except OSError as error:
                raise Failure(f"{target}: cannot be written: {error.strerror}") from None
            self._locks.append(lock)
            with contextlib.suppress(OSError):  # not every file system knows locks
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._staged.append((staged, path, target))
        return staged

    def commit(self) -> None:
        """Put all files in their places."""
        for staged, path, shown in self._staged:
            _put(staged, path, shown)
        self._staged.clear()
        self._unlock()

    def _unlock(self) -> None:
        for lock in self._locks:
            os.close(lock)
        self._locks.clear()


def check_target(target: str, source: str | None = None) -> Path:
    """Return the file that is meant; refuse what cannot be written, and the table that is read."""
    path = Path(os.path.realpath(target))
    folder = path.parent
    if not folder.is_dir():
        raise Failure(f"{target}: there is no folder {str(Path(target).parent)!r}; make it first")
    if path.is_dir():
        raise Failure(f"{target}: this is a folder; name a file")
    if path.exists() and not path.is_file():
        raise Failure(f"{target}: this is a device or the like; name a file")
    if source is not None and source != "-" and os.path.realpath(source) == str(path):
        raise Misuse(f"{target}: this is the table that is read; name another file for the output")
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise Failure(f"{target}: cannot be written: Permission denied")
    return path


def _beginning(path: Path) -> str:
    return f".{path.name[:200]}."


def _remove_left_behind(path: Path) -> None:
    """Remove what killed processes left of this target: files beside it that nobody locks."""
    if sys.platform == "win32":
        return
    ours = re.compile(rf"{re.escape(_beginning(path))}[0-9a-f]{{8}}\.part{re.escape(path.suffix)}")
    for name in glob.glob(f"{glob.escape(_beginning(path))}*", root_dir=path.parent):
        if ours.fullmatch(name):
            # Where there are no locks, opening or locking fails, and the file stays.
            with contextlib.suppress(OSError), open(path.parent / name, "rb") as left:
                fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (path.parent / name).unlink()


def _put(staged: Path, path: Path, shown: str) -> None:
    try:
        if path.exists():
            staged.chmod(stat.S_IMODE(path.stat().st_mode))
        with open(staged, "rb") as written:
            os.fsync(written.fileno())
        os.replace(staged, path)
    except OSError as error:
        raise Failure(f"{shown}: cannot be written: {error.strerror}") from None


def called(target: str) -> str:
    """Return what a target is called in a note."""
    return "standard output" if target == "-" else target


def is_stream(target: str) -> bool:
    """Whether a target is standard output or a device, which have no place to be put in."""
    if target == "-":
        return True
    try:
        return not stat.S_ISREG(os.stat(target).st_mode) and not os.path.isdir(target)
    except OSError:
        return False


def open_stream(target: str) -> IO[bytes]:
    """Open standard output or a device."""
    if target == "-":
        if sys.stdout is None:
            raise Failure("standard output is closed")
        return sys.stdout.buffer
    try:
        return open(target, "wb")
    except OSError as error:
        raise Failure(f"{target}: cannot be written: {error.strerror}") from None
