"""What the commands of the console script share: reading a log by name, and running a task as luigi does."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import click
import luigi
from luigi.cmdline_parser import CmdlineParser
from luigi.retcodes import run_with_retcodes
from luigi.task_register import TaskClassException

from pipelines.catalog.strict_yaml import read_value
from pipelines.logs.find import find_log
from pipelines.logs.generated import generate_log
from pipelines.tasks.acquire import LogFile
from swftools.errors import ParameterError, UnreadableLogError
from swftools.formats.parquet import read_parquet
from swftools.formats.swf.reader import read_swf
from swftools.trace import Trace

MISSING_DATA = 20


def read_log(log: str, *, strict: bool = False) -> Trace:
    """Read a log by path or by the name of a card that is at hand locally."""
    if log.lower().endswith(".parquet"):
        return read_parquet(log)
    found = find_log(log)
    if found.model:
        return generate_log(found.model)
    if found.problem or found.damage:
        raise UnreadableLogError(found.problem or found.damage)
    if found.path is None:
        raise UnreadableLogError(f"log {log} is not on this machine; fetch it by: swftools run AcquireLog --log {log}")
    trace = read_swf(found.path, strict=strict)
    return Trace(
        trace.header,
        trace.jobs,
        trace.quarantine,
        found.card.machine.processors if found.card else None,
        trace.source,
        {**trace.provenance, "name": found.name},
    )


def settings_of(settings: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return parameters by augmentation from words like ``utility.globmax=2``; values are read as YAML."""
    chosen: dict[str, dict[str, Any]] = {}
    for word in settings:
        path, equals, text = word.partition("=")
        augmentation, dot, name = path.partition(".")
        if not (equals and dot and name):
            raise click.UsageError(f"--set {word!r}: write AUGMENTATION.NAME=VALUE, such as utility.globmax=2")
        try:
            chosen.setdefault(augmentation, {})[name] = read_value(text)
        except ParameterError as error:
            raise click.UsageError(f"--set {word!r}: {error}") from error
    return chosen


def run_task(name: str, flags: list[str], dry_run: bool) -> None:
    """Run a task as luigi's command line does, or show what it would do."""
    # luigi's own parser takes --log for an abbreviation of its --log-level; the long form is exact.
    flags = [re.sub(r"^--log(?==|$)", f"--{name}-log", flag) for flag in flags]
    arguments = ["--module", "pipelines", name, *flags]
    if not dry_run:
        run_with_retcodes(arguments)
        return
    try:
        with CmdlineParser.global_instance(arguments) as parser:
            task = parser.get_task_obj()
    except (TaskClassException, luigi.parameter.ParameterException) as error:
        raise click.UsageError(str(error)) from error
    missing = False
    for depth, step in _plan(task, 0, set()):
        complete = step.complete()
        missing |= isinstance(step, LogFile) and not complete
        state = "done" if complete else "missing" if isinstance(step, LogFile) else "to do"
        click.echo(f"{'  ' * depth}{step.get_task_family()}: {state}")
    sys.exit(MISSING_DATA if missing else 0)


def _plan(task: luigi.Task, depth: int, seen: set[luigi.Task]) -> Iterator[tuple[int, luigi.Task]]:
    """Yield a task and what it requires, each once, with its depth; below a complete task nothing is needed."""
    if task in seen:
        return
    seen.add(task)
    yield depth, task
    if not task.complete():
        for required in luigi.task.flatten(task.requires()):
            yield from _plan(required, depth + 1, seen)
