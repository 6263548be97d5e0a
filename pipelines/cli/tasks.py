# SPDX-License-Identifier: BSD-3-Clause
"""Commands that run tasks: augment, publish, run; and what compare shares with them."""

from __future__ import annotations

import json
import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

import pipelines
from pipelines.cli.options import (
    SEED,
    data_root_of_task,
    dry_run,
    format_of_task,
    log_first,
    log_of_task,
    report_of_task,
    says_its_progress,
    together,
)
from pipelines.cli.output import json_option, print_json
from pipelines.exit_statuses import MISSING_INPUT

if TYPE_CHECKING:
    import luigi

_HELP = ("--help", "-h")


def settings_of(settings: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return parameters by augmentation from words like ``utility.globmax=2``; values are read as YAML."""
    from swftools.errors import ParameterError
    from swftools.parameters.strict_yaml import read_value

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


def flags_of(options: Mapping[str, Any]) -> list[str]:
    """Return the flags of a task for the options that were given; one that is on or off stands for itself."""
    return [
        part
        for name, value in options.items()
        if value is not None and value is not False
        for part in (f"--{name.replace('_', '-')}", *([] if value is True else [str(value)]))
    ]


def _publishes(short_help: str, *options: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], click.Command]:
    """Return what makes a command of a function that publishes a log; its own options stand among the common ones."""
    every = together(
        log_of_task,
        format_of_task,
        *options,
        click.option("--rules", help="Cleaning rules, as default,cancelled:action=quarantine; default: the card's."),
        click.option("--by-month", is_flag=True, help="A file a month of submission (UTC), for long logs."),
        click.option("--data-set", help="Name to publish under; default: the log's name."),
        data_root_of_task,
        report_of_task,
        dry_run,
        json_option,
        says_its_progress,
        click.pass_context,
    )

    def command_of(function: Callable[..., Any]) -> click.Command:
        return click.command(
            short_help=short_help,
            options_metavar="[LOG] [OPTIONS]",
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )(every(function))

    return command_of


@_publishes(
    "Publish a log as a versioned data set.",
    click.option("--augment", "augmentations", help="Augmentations, separated by commas."),
    click.option("--seed", type=SEED, help="Seed of every random draw; default 0."),
    click.option("--parameters", help="Parameters by augmentation: JSON, or path of a JSON or YAML file."),
    click.option(
        "--set", "settings", multiple=True, metavar="AUGMENTATION.NAME=VALUE", help="One parameter; may be repeated."
    ),
)
def augment(
    ctx: click.Context,
    /,
    augmentations: str | None,
    settings: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Publish a log as a cleaned, augmented, versioned data set: the task BuildAugmentedTrace.

    What augmentations add is generated, not logged; `swftools publish LOG` adds nothing.

    \b
    Example: swftools augment --log KTH-SP2-1996-2.1-cln.swf.gz --seed 7 \\
                 --set utility.deadline_basis=wait
    """
    if settings:
        if options["parameters"]:
            raise click.UsageError("give --parameters or --set, not both")
        options["parameters"] = json.dumps(settings_of(settings))
    options["augment"] = augmentations
    options["log"], words = log_first(ctx.args, options["log"])
    _publish(options, words, dry_run, as_json)


@_publishes("Publish a log as it was logged, cleaned, and nothing else.")
def publish(ctx: click.Context, /, dry_run: bool, as_json: bool, **options: Any) -> None:
    """Publish what was logged as a cleaned, versioned data set, without augmentations: augment --augment none.

    \b
    Example: swftools publish --log KTH-SP2-1996-2.1-cln.swf.gz --by-month
    """
    options["augment"] = "none"
    options["log"], words = log_first(ctx.args, options["log"])
    _publish(options, words, dry_run, as_json)


def _publish(options: Mapping[str, Any], words: Sequence[str], dry_run: bool, as_json: bool) -> None:
    """Run BuildAugmentedTrace, and say which columns it adds that were not logged."""
    run_task("BuildAugmentedTrace", [*flags_of(options), *words], dry_run, as_json=as_json, tells=_told_of_added)


def _told_of_added(task: Any) -> str:
    """Return which augmentations a task adds, in a line."""
    if not task.augmentations:
        return ""
    from swftools.fields.definition import GENERATED
    from swftools.fields.dictionary import AUGMENTATION_COLUMNS
    from swftools.output.amounts import counted

    names = [each.name for each in task.augmentations]
    count = sum(column.is_generated for name in names for column in AUGMENTATION_COLUMNS.get(name, ()))
    columns = counted(count, "column")
    return f"added, {GENERATED}: {', '.join(names)} ({columns}); without them: swftools publish"


@click.command(
    short_help="Run any task with its own flags.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
    epilog=f"Tasks: {', '.join(dir(pipelines))}. swftools run TASK --help shows a task's parameters.",
)
@click.argument("task", metavar="TASK")
@dry_run
@says_its_progress
@click.pass_context
def run(ctx: click.Context, /, task: str, dry_run: bool) -> None:
    """Run any task with its own flags, as luigi does; print where its output is.

    \b
    Example: swftools run CleanTrace --log my.swf --rules duplicates
    """
    if task in _HELP:
        click.echo(ctx.get_help())
    elif task not in dir(pipelines):
        raise click.UsageError(f"no task {task!r}; there are: {', '.join(dir(pipelines))}")
    elif set(_HELP) & set(ctx.args):
        click.echo(_help_of(task))
    else:
        run_task(task, ctx.args, dry_run, shows_path=True)


def _help_of(name: str) -> str:
    """Return what a task does, and its parameters with their defaults and descriptions."""
    task = getattr(pipelines, name)
    formatter = click.HelpFormatter(width=min(click.HelpFormatter().width, 100))
    formatter.write_usage("swftools run", f"{name} [OPTIONS]")
    text = re.sub(r"\s*\n\s*(?=\S)", lambda gap: "\n\n" if gap[0].count("\n") > 1 else " ", task.__doc__.strip())
    with formatter.indentation():
        formatter.write_paragraph()
        formatter.write_text(text.replace("``", ""))
    with formatter.section("Options"):
        formatter.write_dl([_option_of(task, *item) for item in task.get_params()])
    return formatter.getvalue().rstrip("\n")


def _option_of(task: type[luigi.Task], name: str, parameter: Any) -> tuple[str, str]:
    """Return a parameter as an option, and its description with the default."""
    family, shown = task.get_task_family(), "  [required]"
    if parameter.has_task_value(family, name):
        default = parameter.task_value(family, name)
        shown = f"  [default: {default}]" if default not in ("", "{}") else ""
    return f"--{name.replace('_', '-')}", f"{parameter.description}{shown}"


def run_task(
    name: str,
    flags: list[str],
    dry_run: bool,
    *,
    shows_path: bool = False,
    as_json: bool = False,
    tells: Callable[[Any], str] = lambda _: "",
    ends: Callable[[Any], None] = lambda _: None,
) -> None:
    """Run a task as luigi's command line does, or show what it would do, and end the program with the true status.

    With ``as_json`` what tasks say goes to standard error, and the published version to standard output. ``tells``
    gives a line to say before it; ``ends`` is called with the task when it is done.
    """
    with task_of(name, flags) as task:
        if dry_run:
            sys.exit(_show_plan(task))
        if getattr(task, "cluster", ""):
            task.check_cluster()
        meta = click.get_current_context().meta
        if meta.get("swftools.detach"):
            _detach(task, meta["swftools.words"])
        if told := tells(task):
            logging.getLogger("pipelines").info("%s", told)
        from pipelines.tasks.luigi_settings import run_to_end

        with redirect_stdout(sys.stderr) if as_json else nullcontext():
            status = run_to_end(task)
        if not status:
            ends(task)
        if not status and as_json:
            print_json(_published_by(task))
        elif not status and shows_path:
            _show_path(task)
        sys.exit(status)


@contextmanager
def task_of(name: str, flags: Iterable[str]) -> Iterator[Any]:
    """Give the task of a name that flags mean; within, they hold for luigi too."""
    for other in dir(pipelines):
        getattr(pipelines, other)  # luigi knows the flags of those tasks alone that are defined
    from pipelines.tasks.luigi_settings import command_line

    # luigi's own parser takes --log for an abbreviation of its --log-level; the long form is exact.
    flags = [re.sub(r"^--log(?==|$)", f"--{name}-log", flag) for flag in flags]
    with command_line(["--module", "pipelines", name, *flags]) as task:
        yield task


def _detach(task: Any, words: list[str]) -> None:
    """Submit a command as a job of its batch system, say how to watch it, and end the program."""
    if task.complete():
        click.echo(f"{task.subject}: already complete; nothing was submitted")
        sys.exit(0)
    run = task.detach([word for word in words if word != "--detach"])
    click.echo(f"job {run.job['number']}: {run.job['command']}")
    click.echo(f"  its log: {run.job['log']}")
    root = ["--data-root", str(task.data_root)] if "--data-root" in words else []
    click.echo(f"  how far it is: {shlex.join(['swftools', 'status', task.data_set_name, *root])}")
    sys.exit(0)


def _published_by(task: Any) -> dict[str, Any]:
    """Return the version that a task published, or found published, with its main table where that is a small one."""
    from pipelines.store.data_root import DataRoot

    root, name, version = DataRoot.open(task.data_root), task.data_set_name, task.version
    manifest = root.manifest(name, version)
    found = {
        "data_set": name,
        "version": version,
        "path": root.path(name, version),
        "tables": {table: told["rows"] for table, told in manifest["tables"].items()},
    }
    if task.main_table != "jobs":
        read = root.read_described(manifest, task.main_table)
        found["rows"] = read.to_pylist()
    return found


def _show_path(task: luigi.Task) -> None:
    """Print where a task's output is, unless the task says so itself."""
    from pipelines.tasks.targets import DirectoryTarget

    output = task.output()
    if isinstance(output, DirectoryTarget):
        click.echo(output.path.resolve())


def _show_plan(task: luigi.Task) -> int:
    """Print what would be done, and return the exit status."""
    from pipelines.tasks.acquire import LogFile

    missing = False
    for depth, step in _plan(task, 0, set()):
        complete = step.complete()
        missing |= isinstance(step, LogFile) and not complete
        state = "done" if complete else "missing" if isinstance(step, LogFile) else "to do"
        click.echo(f"{'  ' * depth}{step.get_task_family()}: {state}")
    return MISSING_INPUT if missing else 0


def _plan(task: luigi.Task, depth: int, seen: set[luigi.Task]) -> Iterator[tuple[int, luigi.Task]]:
    """Yield a task and what it requires, each once, with its depth; below a complete task nothing is needed."""
    if task in seen:
        return
    seen.add(task)
    yield depth, task
    if not task.complete():
        from luigi.task import flatten

        for required in flatten(task.requires()):
            yield from _plan(required, depth + 1, seen)
