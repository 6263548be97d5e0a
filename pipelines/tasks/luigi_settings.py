# SPDX-License-Identifier: BSD-3-Clause
"""luigi as this package wants it: its settings, what it shows of an error, and what it takes for a wrong command line.

``apply_defaults`` is for every program that uses tasks; the rest is for luigi's own command and the console script.
"""

from __future__ import annotations

import io
import logging
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr
from typing import Any

import luigi
import luigi.worker
from luigi.cmdline_parser import CmdlineParser
from luigi.configuration import get_config
from luigi.execution_summary import LuigiStatusCode
from luigi.interface import PidLockAlreadyTakenExit, core
from luigi.parameter import ParameterException
from luigi.retcodes import retcode
from luigi.rpc import RPCError
from luigi.task_register import Register, TaskClassNotFoundException

from pipelines.config import shipped_settings
from pipelines.exit_statuses import WRONG_COMMAND, WRONG_VALUES
from swftools.errors import ParameterError, SwfToolsError
from swftools.output.shown_text import shown_lines
from swftools.parameters.spelling import did_you_mean


def apply_defaults() -> None:
    """Give luigi the shipped settings wherever no configuration sets them, and let our errors be one line."""
    shipped, config = shipped_settings(), get_config()
    for section in shipped.sections():
        for option, value in shipped.items(section):
            if not config.has_option(section, option):
                config.set(section, option, value)
    if sys.platform == "linux":
        _fork_workers()
    luigi_log = logging.getLogger("luigi-interface")
    if not any(isinstance(item, _PlainErrors) for item in luigi_log.filters):
        luigi_log.addFilter(_PlainErrors())


def _fork_workers() -> None:
    """Let luigi fork its workers on Linux, as Python did by default until 3.14, whatever the default is now.

    A forked worker has all modules loaded and the progress of the others in its memory. A worker from a fork server
    would load numba and pandas again for each task.
    """
    context = multiprocessing.get_context("fork")
    luigi.worker.multiprocessing = context  # type: ignore[assignment, attr-defined]
    luigi.worker.TaskProcess._Popen = staticmethod(context.Process._Popen)  # type: ignore[assignment, method-assign]


@contextmanager
def command_line(arguments: Sequence[str]) -> Iterator[luigi.Task]:
    """Give the task that a command line of luigi means; within, its flags hold for luigi and for all tasks.

    Parameters
    ----------
    arguments : sequence of str
        As behind the word ``luigi``.

    Raises
    ------
    ParameterError, UnknownRuleError, UnsafeNameError
        There is no such task or flag, or a value is outside its parameter's domain.
    SystemExit
        Help was asked for, and shown.
    """
    said = io.StringIO()
    with ExitStack() as stack:
        try:
            with redirect_stderr(said):
                parser = stack.enter_context(CmdlineParser.global_instance(list(arguments)))
        except TaskClassNotFoundException as error:
            name = str(error).removeprefix("No task ").partition(". ")[0]
            near = did_you_mean([name], Register.task_names())
            raise ParameterError(f"no task {name!r}{near}; swftools run --help lists them") from error
        except SystemExit as end:
            if not end.code:
                raise
            # argparse shows all flags of all tasks before it says what is wrong.
            words = said.getvalue().rpartition("error: ")[2].strip()
            raise ParameterError(words or str(end.code)) from end
        chosen = Register.get_task_cls(parser.known_args.root_task)
        for name, parameter in chosen.get_params():
            for place in (name, f"{chosen.get_task_family()}_{name}"):
                _check(name, parameter, getattr(parser.known_args, place, None))
        try:
            task: luigi.Task = parser.get_task_obj()
        except ParameterException as error:
            raise ParameterError(str(error).rpartition("]: ")[2]) from error
        yield task


def run_to_end(task: luigi.Task) -> int:
    """Run a task and what it needs, and return the exit status that luigi's configuration has for how that ended.

    The flags of a command line hold where it is called within ``command_line``.
    """
    settings, statuses = core(), retcode()
    try:
        result = luigi.build([task], detailed_summary=True, no_lock=settings.no_lock)
    except PidLockAlreadyTakenExit:
        return int(statuses.already_running)
    except Exception:
        logging.getLogger("luigi-interface").exception("Uncaught exception in luigi")
        return int(statuses.unhandled_exception)
    ends = {
        LuigiStatusCode.FAILED: statuses.task_failed,
        LuigiStatusCode.FAILED_AND_SCHEDULING_FAILED: max(statuses.task_failed, statuses.scheduling_error),
        LuigiStatusCode.SCHEDULING_FAILED: statuses.scheduling_error,
        LuigiStatusCode.MISSING_EXT: statuses.missing_data,
        LuigiStatusCode.NOT_RUN: statuses.not_run,
    }
    if result.status in ends:
        return int(ends[result.status])
    # Of a task that another program runs luigid gives nothing to do, which luigi takes for a success.
    return 0 if settings.local_scheduler or task.complete() else int(statuses.already_running)


def _check(name: str, parameter: Any, words: Any) -> None:
    """Raise ParameterError if words on the command line are no value of a parameter."""
    if not words:
        return
    try:
        parameter.normalize(parameter.parse(words))
    except SwfToolsError:
        raise
    except (ValueError, LookupError, ParameterException) as error:
        kinds = {luigi.IntParameter: "is not a whole number", luigi.FloatParameter: "is not a number"}
        why = kinds.get(type(parameter), f"is not valid ({error})")
        raise ParameterError(f"--{name.replace('_', '-')} {words!r} {why}") from error


def check_luigis_command() -> None:
    """End the program if luigi's own command was given a wrong command line for a task of ours.

    luigi has no status for that: it ends in a traceback for an unknown task, and for a parameter's value as for a
    failure of its own. It imports this package while it reads the command line, so that is where to look first.
    """
    arguments = sys.argv[1:]
    known, _ = CmdlineParser._build_parser().parse_known_args(arguments)
    if known.core_module != "pipelines":
        return
    _warn_of_luigid(known)
    try:
        with command_line(arguments):
            pass
    except WRONG_VALUES as error:
        sys.stderr.write(f"error: {shown_lines(error)}\n")
        sys.exit(WRONG_COMMAND)
    except SwfToolsError:
        # luigi meets it again, and takes it for what it is: a failure.
        return


def _warn_of_luigid(known: Any) -> None:
    """Say so where a command line names a luigid that is not asked, since a configuration has luigi's own scheduler."""
    named = [name for name in ("host", "port", "url") if getattr(known, f"core_scheduler_{name}", None)]
    if named and get_config().getboolean("core", "local_scheduler", True):
        sys.stderr.write(
            f"warning: --scheduler-{named[0]} counts for nothing: luigid is not asked where local_scheduler = true. To "
            "ask it, put local_scheduler = false into [core] of luigi.cfg. To share an experiment out, take --cluster\n"
        )


class _PlainErrors(logging.Filter):
    """Replaces the traceback of an error that a user can mend by its message.

    luigi logs a failed task with the exception, but a task that cannot be scheduled with a formatted traceback
    in the text. What it says of a log that is missing is dropped: LogFile has said more. So is an error that it says
    twice, once while it schedules a task and once at its end.
    """

    _last: BaseException | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if record.getMessage().startswith("Data for LogFile("):
            return False
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and error is self._last:
            return False
        self._last = error
        message = str(error) if isinstance(error, SwfToolsError | ParameterException) else None
        if record.getMessage().startswith("Failed connecting to remote scheduler"):
            message = f"{record.getMessage()}; it is tried again"
        if isinstance(error, RPCError):
            message = f"{error}; is luigid running there? Without one, put local_scheduler = true into [core]"
        _, found, text = record.getMessage().rpartition(f"\n{SwfToolsError.__module__}.")
        if found:
            message = text.partition(": ")[2].strip()
        if message:
            record.exc_info = record.exc_text = None
            # luigi writes the level's name before the message.
            record.levelname, record.msg, record.args = "error", "%s", (shown_lines(message),)
        elif not record.getMessage().replace("\n", "").isprintable():
            record.msg, record.args = "%s", (shown_lines(record.getMessage()),)
        return True
