"""The commands together: what `planish` is, and what becomes of errors and signals.

A command is a module with a `command`, imported when it is called. Every failure is one
sentence on standard error and an exit code (`faults`); a traceback is shown only where the
environment has PLANISH_TRACEBACK.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from typing import Any

import click

from . import screen
from .faults import FAILED, INTERRUPTED, OK, TERMINATED, USAGE, Failure, Terminated, did_you_mean

#: Command -> what it does, in the order of the help. Each is a module of this package.
COMMANDS = {
    "embed": "Embed the rows of a table: CSV in, coordinates out.",
    "transform": "Place new rows with a saved model, in batches.",
    "compare": "Run several methods on a table, side by side.",
    "dimension": "Estimate how many coordinates the data has.",
    "neighbors": "Suggest the number of neighbours, or write the neighbours.",
    "page": "Make one HTML file to explore a map in, offline.",
    "methods": "List the methods: what each is for, its cost, its parameters.",
    "info": "Tell what is in a model file.",
    "demo": "Make a data set and its picture, to see how it goes.",
}
_HELP = """Manifold learning on tables: from a file to a map of its rows.

Tables are CSV, TSV, Parquet, Arrow (Feather), NPY or NPZ, known by their ending; "-" is
standard input or output. Rows are counted from 0, as everywhere in planish. The same command
on the same data gives the same numbers, to the last bit.
"""
_EXAMPLES = """Examples:
  # from CSV to an embedding
  planish embed data.csv -o map.csv
  # choose the method, scale the columns, keep an identifier, draw a picture
  planish embed flowers.csv -o map.csv --method tsne --scale standard --id name,species
  # what does a method take?
  planish embed --method isomap --help
  # fit once, then place new rows, more than fit into memory
  planish embed train.csv -o train.parquet --method pca --save-model pca.planish
  planish transform pca.planish new.parquet -o placed.parquet
"""


class Commands(click.Group):
    """The commands, each imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"{__package__}.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name one like it."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = did_you_mean(name, COMMANDS) or ";"
            raise click.UsageError(
                f"there is no command {name!r}{near} the commands are {', '.join(COMMANDS)}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, without importing it."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        formatter.write_paragraph()
        formatter.write(_EXAMPLES)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help in colours."""
        return screen.coloured(super().get_help(ctx))


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import planish

        click.echo(f"planish {planish.__version__}")
        ctx.exit()


def _group() -> Commands:
    version = click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version,
        help="Show the version.",
    )  # fmt: skip
    return Commands(
        "planish",
        help=_HELP,
        params=[version],
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def run_process(arguments: list[str]) -> int:
    """Run the command line of this process; its signals and its settings are ours."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _terminate)
    code = run(arguments)
    if code in (INTERRUPTED, TERMINATED):
        # At once: nothing is left to be put in order, and no thread is waited for.
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)
    return code


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    code = FAILED
    try:
        code = _guarded(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough, as `head`
        _leave_standard_output()
        code = OK
    except OSError as error:
        _leave_standard_output()
        screen.fail("planish", f"standard output: cannot be written: {error.strerror}")
    except KeyboardInterrupt:
        code = _interrupted()
    except Terminated:
        code = TERMINATED
    return code


def _guarded(arguments: list[str]) -> int:  # noqa: PLR0911 (one a kind of end)
    """Run a command; turn every failure into a sentence."""
    if os.environ.get("PLANISH_TRACEBACK"):
        return called(arguments)
    name = "planish"
    if arguments and arguments[0] in COMMANDS:
        name = f"planish {arguments[0]}"
    try:
        return called(arguments)
    except click.UsageError as error:
        screen.fail(name, _usage(error))
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except Terminated:
        return TERMINATED
    except Failure as failure:
        screen.fail(name, str(failure))
        return failure.code
    except click.ClickException as error:
        screen.fail(name, error.format_message())
        return FAILED
    except BrokenPipeError:
        raise
    except Exception as error:
        return _of_the_library(name, error)


def called(arguments: list[str]) -> int:
    """Call one command line and return its exit code; failures are raised."""
    result: Any = _group().main(arguments, prog_name="planish", standalone_mode=False)
    return result if isinstance(result, int) else OK


def _usage(error: click.UsageError) -> str:
    """Return the one sentence of a wrong use."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return "say what to do; the help is above"
    command = error.ctx.command if error.ctx else None
    if isinstance(error, click.NoSuchOption) and isinstance(command, screen.Command) and error.ctx:
        return command.unknown_option(error.ctx, error)
    text = error.format_message().strip().rstrip(".")
    if isinstance(error, click.MissingParameter) and error.ctx:
        text += f"; {error.ctx.command_path} --help shows examples"
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        text = text.removeprefix("Invalid value for ").replace("'", "", 2)
    return text[0].lower() + text[1:]


def _of_the_library(name: str, error: Exception) -> int:
    """Say what the library refused; anything unforeseen is a defect, and is called one."""
    from planish import exceptions

    if isinstance(error, exceptions.InternalError) or not isinstance(
        error, (exceptions.PlanishError, OSError, MemoryError, ImportError)
    ):
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        screen.fail(
            name,
            f"this is a defect of planish, please report it: {text} (with PLANISH_TRACEBACK=1 in "
            "the environment there is a traceback)",
        )
        return FAILED
    if isinstance(error, OSError) and not isinstance(error, exceptions.PlanishError):
        where = f"{error.filename}: " if error.filename else ""
        screen.fail(name, f"{where}{error.strerror or error}")
        return FAILED
    screen.fail(name, str(error) or "there is not enough memory")
    return USAGE if isinstance(error, exceptions.ParameterError) else FAILED


def _interrupted() -> int:
    click.echo("\n" * screen.on_terminal() + "planish: interrupted", err=True)
    return INTERRUPTED


def _terminate(*_: object) -> None:
    raise Terminated


def _leave_standard_output() -> None:
    """Give up what could not be written, so that nothing is said of it at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
