# SPDX-License-Identifier: BSD-3-Clause
"""The group of all commands: help by families, and one line for whatever goes wrong."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from pipelines.exit_statuses import FAILED, INTERRUPTED, status_of
from swftools.errors import KernelWarning, SwfToolsError
from swftools.output.shown_text import shown_lines
from swftools.output.standard_output import lose_the_rest
from swftools.parameters.spelling import as_known, did_you_mean, folded

_OTHER_WORDS = {
    **dict.fromkeys(("info", "show", "summary", "summarize", "stats", "head"), "describe LOG"),
    "wait": "waits LOG, and swftools plot --picture waits LOG",
    **dict.fromkeys(("policy",), "policies"),
    **dict.fromkeys(("picture", "draw"), "pictures, and swftools plot LOG --picture NAME"),
    **dict.fromkeys(("clean", "read"), "convert LOG OUTPUT"),
    **dict.fromkeys(("ls", "list"), "versions"),
}
"""What people type who look for a command, and the command that does it."""

_LOGS = (".swf", ".parquet", ".csv", ".gz", ".bz2", ".xz", ".zst", ".zip")
"""Ends of the names of logs."""


class Commands(click.Group):
    """A group whose commands stand in families, and whose errors are one line with what to do.

    Parameters
    ----------
    **settings
        As of ``click.Group``.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.families: dict[str, list[str]] = {}

    def add_family(self, title: str, *commands: click.Command) -> None:
        """Add commands under a heading of their own."""
        self.families[title] = [str(command.name) for command in commands]
        for command in commands:
            self.add_command(command)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (as click calls it)
        """Return the commands in the order of help."""
        return [name for names in self.families.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, family by family."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.families.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), self.commands[name].get_short_help_str(60)) for name in names], col_max=width
                )

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Find the command that is meant; where there is none, name the nearest."""
        if args and not args[0].startswith("-"):
            args = [as_known(args[0], self.commands), *args[1:]]
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}; {self._meant(args[0])}", ctx)
        ctx.meta["swftools.words"] = list(args)
        return super().resolve_command(ctx, args)

    def _meant(self, word: str) -> str:
        """Return what may be meant by a word that is no command: another one, or a log."""
        if meant := _OTHER_WORDS.get(folded(word)):
            return f"see swftools {meant}"
        if word.lower().endswith(_LOGS) or Path(word).expanduser().exists():
            return f"it is a log: swftools describe {word}"
        return did_you_mean([word], self.commands).removeprefix("; ") or "swftools --help lists them"

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command, and end the program with its status; whatever goes wrong is one line on standard error."""
        with closed_pipes_are_silent(), _warnings_in_a_line():
            try:
                status = super().main(*args, **{**settings, "standalone_mode": False})
            except click.exceptions.NoArgsIsHelpError as error:
                error.show()
                status = error.exit_code
            except click.ClickException as error:
                click.echo(f"error: {_line_of(error)}", err=True)
                status = error.exit_code
            except SwfToolsError as error:
                click.echo(f"error: {shown_lines(error)}", err=True)
                status = status_of(error)
            except (click.Abort, KeyboardInterrupt):
                click.echo("error: interrupted", err=True)
                status = INTERRUPTED
            except OSError as error:  # a full disk, a folder that may not be read
                click.echo(f"error: {shown_lines(error)}", err=True)
                status = FAILED
        sys.exit(status if isinstance(status, int) else 0)


@contextlib.contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Show a warning about numba as errors are shown, and not with the line of code that gives it."""
    shows = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, KernelWarning):
            click.echo(f"warning: {shown_lines(message)}", err=True)
        else:
            shows(message, category, *where, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shows


def _line_of(error: click.ClickException) -> str:
    """Return what is wrong with a command line, and where to look."""
    said = shown_lines(" ".join(error.format_message().split())).rstrip(".")
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    ends = said.endswith("?") or "--help" in said or not path
    return said if ends else f"{said}; see {path} --help"


class _Silent:
    """A stream whose reader may go away: what is written then is lost, and the work goes on.

    Parameters
    ----------
    stream : text stream
        Standard output or error.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or lose it."""
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            lose_the_rest(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush, or lose it."""
        try:
            self._stream.flush()
        except BrokenPipeError:
            lose_the_rest(self._stream)


class closed_pipes_are_silent:  # noqa: N801 (a context, as those of contextlib)
    """Let a command go on when nobody reads what it says any more, as behind ``| head -1``."""

    def __enter__(self) -> None:
        self._kept = sys.stdout, sys.stderr
        # A stream that was closed before the program began is None, which print and click take.
        sys.stdout, sys.stderr = (stream and _Silent(stream) for stream in self._kept)

    def __exit__(self, *_: object) -> None:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        sys.stdout, sys.stderr = self._kept
