"""The command line: ``planish`` and ``python -m planish``.

`app` is the entry: commands, exit codes, errors and signals. `parameters` makes options of
the signatures and docstrings of the library, `files/` reads and writes tables, and each
other module is one command. Nothing heavy is imported before a command needs it, so that
``planish --help`` answers at once.

It needs ``pip install planish[cli]`` (click, rich and pyarrow).
"""

from __future__ import annotations

import sys

_NEEDED = ("click", "rich", "pyarrow")


def main() -> int:
    """Run the command of ``sys.argv`` and return its exit code."""
    try:
        from .app import run_process
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        return _lacks_extra()
    except KeyboardInterrupt:
        return 130
    return run_process(sys.argv[1:])


def _lacks_extra() -> int:
    print(
        "planish: the command line needs a few more packages: pip install 'planish[cli]'",
        file=sys.stderr,
    )
    return 1
