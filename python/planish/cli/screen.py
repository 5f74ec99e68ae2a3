"""What is shown: help, tables, notes, warnings and progress.

Results go to standard output, everything else to standard error. Colours and bars are for
terminals; a pipe gets plain text and silence.
"""

from __future__ import annotations

import contextlib
import re
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import click

from .faults import Failure, as_options

#: The headings that come first and last in the help of a command.
FIRST, LAST = "Method", "Running"
_WIDEST = 100
#: Columns of a terminal from which on tables of many columns fit; a first column that stays whole.
_WIDE, _NAME = 130, 28
#: Seconds after which a bar of rows is shown: what is over sooner needs none.
_DELAY = 0.3
_HEADING = re.compile(r"^(\S.*:)$", re.MULTILINE)
_OPTION = re.compile(r"^(  )((?:-\w, )?--[^\n]*?)(?=  +\S|$)", re.MULTILINE)
_EXAMPLE = re.compile(r"^(  )(planish .*)$", re.MULTILINE)
_COMMENT = re.compile(r"^(  # .*)$", re.MULTILINE)
_NO_NEWS = (DeprecationWarning, FutureWarning, PendingDeprecationWarning, ResourceWarning)


class Option(click.Option):
    """An option under a heading of the help."""

    def __init__(self, *arguments: Any, title: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.title = title


class Command(click.Command):
    """A command with examples, and options under headings; some of them made when called."""

    def __init__(self, *arguments: Any, examples: Sequence[tuple[str, str]] = (), **settings: Any):
        settings.setdefault("no_args_is_help", True)
        settings.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*arguments, **settings)
        self.examples = examples

    def made_options(self, ctx: click.Context) -> list[Option]:
        """Return the options that depend on what was typed."""
        return []

    def unknown_option(self, ctx: click.Context, error: click.NoSuchOption) -> str:
        """Return what is said of an option that there is not."""
        near = error.possibilities or []
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        return f"there is no option {error.option_name}{hint}"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Make the options that depend on the arguments, and parse."""
        ctx.meta["planish.typed"] = list(args)
        if args or not self.no_args_is_help:
            ctx.meta["planish.made"] = self.made_options(ctx)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all options, `--help` last."""
        found = super().get_params(ctx)
        made: list[Option] = ctx.meta.get("planish.made", [])
        return [*found[:-1], *made, *found[-1:]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, and the examples."""
        groups: dict[str, list[tuple[str, str]]] = {}
        made = ctx.meta.get("planish.made", [])
        shown = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        # What the call is about comes first, what every command has comes last.
        for one in sorted(shown, key=lambda one: (_place(one), one not in made)):
            record = one.get_help_record(ctx)
            if record is not None:
                groups.setdefault(_title(one), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records, col_max=32)
        if self.examples:
            formatter.write_paragraph()
            formatter.write("Examples:\n")
            for line, comment in self.examples:
                formatter.write(f"  # {comment}\n  {line}\n")

    def get_help(self, ctx: click.Context) -> str:
        """Return the help, coloured (where it is not a terminal, click takes colours out)."""
        return coloured(super().get_help(ctx))

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        """Use the width of the terminal, within reason."""
        settings.setdefault("max_content_width", _WIDEST)
        return super().make_context(*arguments, **settings)


def _title(option: click.Option) -> str:
    return option.title if isinstance(option, Option) else LAST


def _place(option: click.Option) -> int:
    return {FIRST: -1, LAST: 1}.get(_title(option), 0)


def coloured(text: str) -> str:
    """Return help with headings, options and examples in colour."""
    text = _HEADING.sub(lambda found: click.style(found[1], bold=True), text)
    text = _OPTION.sub(lambda found: found[1] + click.style(found[2], fg="cyan"), text)
    text = _COMMENT.sub(lambda found: click.style(found[1], dim=True), text)
    return _EXAMPLE.sub(lambda found: found[1] + click.style(found[2], fg="green"), text)


def console(*, stderr: bool = False) -> Any:
    """Return a rich console; in a pipe it is as wide as what is shown."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    if stream is None:
        raise Failure(f"standard {'error' if stderr else 'output'} is closed")
    width = None if stream.isatty() else 1000
    return Console(stderr=stderr, width=width, highlight=False, soft_wrap=False)


def narrow() -> bool:
    """Whether there is a terminal on which a wide table would break."""
    return on_terminal(sys.stdout) and console().width < _WIDE


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()
) -> Any:
    """Return a table for `show`; the columns `numbers` stand to the right and stay whole."""
    from rich import box
    from rich.table import Table

    lines = [list(row) for row in rows]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", collapse_padding=True)
    right = set(numbers)
    for at, head in enumerate(heads):
        whole = [part for line in lines for part in line[at].split("\n")] + head.split("\n")
        widest = max(map(len, whole))
        made.add_column(
            head,
            justify="right" if at in right else "left",
            overflow="fold",
            min_width=widest if at in right or (at == 0 and widest <= _NAME) else None,
        )
    for line in lines:
        made.add_row(*map(_escaped, line))
    return made


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def show(*things: Any, stderr: bool = False) -> None:
    """Print tables and texts; texts are wrapped on a terminal."""
    out = console(stderr=stderr)
    for thing in things:
        if isinstance(thing, str):
            out.print(thing, markup=False)
        else:
            with out.capture() as kept:
                out.print(thing)
            lines = [line.rstrip() for line in kept.get().splitlines()]
            if not any(line[:1].strip() for line in lines):
                lines = [line[1:] for line in lines]
            out.file.write("\n".join(lines).strip("\n") + "\n")


def sentences(text: str, *, indent: str = "") -> str:
    """Return a text wrapped for a terminal."""
    width = min(_WIDEST, console().width)
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def on_terminal(stream: IO[str] | None = None) -> bool:
    """Whether somebody is looking: standard error is a terminal."""
    try:
        return bool((stream or sys.stderr).isatty())
    except (AttributeError, ValueError):
        return False


def verbosity(quiet: bool) -> int:
    """Return `verbose` for the library: bars on a terminal, nothing elsewhere."""
    return 1 if on_terminal() and not quiet else 0


def note(text: str, *, quiet: bool = False) -> None:
    """Say something that is no result, to whoever is looking."""
    if on_terminal() and not quiet:
        click.secho(text, err=True, fg="green")


def warn(text: str) -> None:
    """Say on standard error what is not as one may think."""
    click.echo(f"{click.style('planish: warning:', fg='yellow')} {as_options(text)}", err=True)


def fail(command: str, text: str) -> None:
    """Say on standard error why nothing came of it."""
    click.echo(f"{click.style(f'{command}:', fg='red', bold=True)} {as_options(text)}", err=True)


@contextlib.contextmanager
def told(said: set[str] | None = None) -> Iterator[None]:
    """Show the warnings of the library as one line each, each once."""
    known = set() if said is None else said
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for one in caught:
                text = str(one.message)
                if not issubclass(one.category, _NO_NEWS) and text not in known:
                    known.add(text)
                    warn(text)


class Bar:
    """Rows that are done, on a terminal and where it takes a while; nothing elsewhere."""

    def __init__(self, title: str, total: int | None, quiet: bool) -> None:
        self._bar: Any = None
        if verbosity(quiet):
            from tqdm.std import tqdm

            from .._progress import quiet as silenced

            self._bar = silenced(tqdm)(
                desc=title, total=total, unit=" rows", unit_scale=True, file=sys.stderr,
                leave=False, delay=_DELAY,
            )  # fmt: skip

    def __enter__(self) -> Bar:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()

    def advance(self, rows: int) -> None:
        """Count more rows as done."""
        if self._bar is not None:
            self._bar.update(rows)
