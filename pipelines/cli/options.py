# SPDX-License-Identifier: BSD-3-Clause
"""What options of several commands have in common: how a log is read, numbers within bounds, how much is said."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pipelines.cli.completion import complete_format, complete_log, complete_rules
from pipelines.config import setting, show_progress
from swftools.parameters.choices import ANONYMISE

if TYPE_CHECKING:
    from pipelines.logs.load import LoadedLog

Command = TypeVar("Command", bound=Callable[..., Any])

SEED = click.IntRange(0)
PROCESSORS = click.IntRange(1)


class Number(click.FloatRange):
    """A number within bounds that is finite."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fail if it is none."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return several options as one decorator; help lists them in their order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


LOAD = Number(0, min_open=True)

data_root = click.option(
    "--data-root", default=lambda: setting("data_root"), show_default="./data", help="Directory, or s3://bucket/prefix."
)
data_root_of_task = click.option("--data-root", help="Directory, or s3://bucket/prefix; default ./data.")
report_of_task = click.option("--report", is_flag=True, help="Also write a report, VERSION.html beside the version.")


def _keep(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep an option for whoever needs it behind the command, so that commands need not hand it on."""
    ctx.meta[f"swftools.{parameter.name}"] = value


runs_cells = together(
    click.option("--workers", type=click.IntRange(1), help="Cells to run at a time; default: one per core."),
    click.option("--cluster", help="tcp://HOST:PORT of a Dask scheduler, or slurm:FILE.yaml; default: this machine."),
    click.option(
        "--detach",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="With slurm:FILE.yaml: submit the command itself as a job; swftools status says how far it is.",
    ),
    click.option("--cell-lines", metavar="FILE", help="Append a JSON line for each cell: its seconds or its error."),
)
"""The options of commands that run many cells: how many at a time, and where."""


def flags_of_engine(workers: int | None, cluster: str | None) -> list[str]:
    """Return the flags of a task for where its cells are run."""
    if cluster:
        return ["--cluster", cluster]
    return ["--processes", str(workers)] if workers else []


dry_run = click.option("--dry-run", is_flag=True, help="Only say what would be done.")


_format = partial(
    click.option,
    "--format",
    shell_complete=complete_format,
    help="Format with options, as slurm:time_zone=Europe/Berlin; default: recognised. See swftools formats.",
)
_processors = partial(
    click.option, "--processors", type=PROCESSORS, help="Processors of the machine; default: the log's own."
)
_anonymise = partial(click.option, "--anonymise", type=click.Choice(ANONYMISE, case_sensitive=False))

format_of_task = together(
    _format(), _processors(), _anonymise(help="Names as they are, numbers only, or keyed hashes; default no.")
)
"""The options of tasks that say how a log is read."""

LOG_HELP = "Path of a log, name of a card, or model:parameters"


def _log_meant(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the log, which is given as an argument or by ``--log``."""
    if parameter.param_type_name == "option":
        ctx.meta["swftools.log"] = value
        return value
    other = ctx.meta.get("swftools.log")
    if value is not None and other is not None:
        raise click.UsageError("the log is given twice, as an argument and by --log", ctx)
    if value is None and other is None and not ctx.resilient_parsing and not ctx.meta.get("swftools.lists"):
        raise click.UsageError("name a log: its path, or a card", ctx)
    return value if other is None else other


def _changes_as_json(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> str | None:
    """Return changes of a machine as tasks take them; None where there are none."""
    return json.dumps(given) if given else None


def _with_outages(ctx: click.Context, _: click.Parameter, machine: str | None) -> str | None:
    """Return the machine with the outages that options name, which are read before it; as JSON where there are any."""
    outages, form = (ctx.meta.get(f"swftools.{name}") for name in ("outages", "outages_format"))
    if ctx.resilient_parsing or (outages is None and form is None):
        return machine
    if outages is None:
        raise click.UsageError("--outages-format says how outages are read; give --outages FILE too", ctx)
    from pipelines.logs.machine import CARD, POOL, machine_with_outages

    if machine in (None, POOL):
        raise click.UsageError("--outages says when nodes are away; give --machine FILE too", ctx)
    if machine == CARD:
        raise click.UsageError("--outages needs the nodes in a file; give --machine FILE in place of card", ctx)
    return machine_with_outages(machine, outages, form)


outage_options = together(
    click.option(
        "--outages",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_keep,
        help="When nodes were away: output of sacctmgr show event, samples of sinfo or pbsnodes, CSV.",
    ),
    click.option(
        "--outages-format",
        metavar="TEXT",
        is_eager=True,
        expose_value=False,
        callback=_keep,
        help="Its format with options, as sacctmgr:time_zone=Europe/Berlin; default: recognised.",
    ),
)
"""When nodes of a machine were away; they are kept for whoever reads the machine."""

on_nodes = together(
    click.option(
        "--machine",
        metavar="FILE",
        callback=_with_outages,
        help="Machine of nodes: its description, or card: the log's; see swftools machine.",
    ),
    outage_options,
    click.option(
        "--change",
        "changes",
        multiple=True,
        metavar="TEXT",
        callback=_changes_as_json,
        help="Change of the machine, as nodes.gpu.count+=8; may be repeated.",
    ),
)
"""The machine of nodes on which jobs run."""

takes_a_log = together(
    click.option(
        "--log",
        "_",
        is_eager=True,
        expose_value=False,
        callback=_log_meant,
        help=f"{LOG_HELP}; the same as LOG.",
        shell_complete=complete_log,
    ),
    click.argument("log", required=False, callback=_log_meant, shell_complete=complete_log),
)
"""The log of a command: its argument LOG, or the option ``--log``, which is read first."""

log_of_task = click.option(
    "--log", shell_complete=complete_log, help=f"{LOG_HELP}; also as the first word; default: the shipped log."
)


def log_first(words: list[str], log: str | None) -> tuple[str | None, list[str]]:
    """Return the log and the flags of a task's command: it may be given by ``--log``, or before all unknown flags."""
    if not words or words[0].startswith("-"):
        return log, words
    if log is not None:
        raise click.UsageError("the log is given twice, as an argument and by --log")
    return words[0], words[1:]


reads_a_log = together(
    click.option(
        "--clean/--raw", "cleaned", default=True, show_default=True, help="Clean the log, or take it as it is."
    ),
    click.option(
        "--rules",
        default="",
        shell_complete=complete_rules,
        help="Cleaning rules, as default,cancelled:action=quarantine; default: the card's.",
    ),
    _format(expose_value=False, callback=_keep),
    _processors(expose_value=False, callback=_keep),
    _anonymise(
        default="no",
        show_default=True,
        expose_value=False,
        callback=_keep,
        help="Names in accounting logs: as they are, numbers only, or keyed hashes.",
    ),
)
"""The options that say how a log is read, whether it is cleaned, and by which rules."""

reads_as = _format(expose_value=False, callback=_keep)
"""The option that says in which format a log is that a command reads besides."""


def load(
    log: str, cleaned: bool, rules: str, *, strict: bool = False, says_odd: bool = True, anonymise: str | None = None
) -> LoadedLog:
    """Load a log as the options of ``reads_a_log`` say; what is odd in it is said, unless the command shows it.

    ``anonymise`` is in the place of that option.
    """
    if rules and not cleaned:
        raise click.UsageError("give --rules or --raw, not both")
    from pipelines.logs.how_read import HowRead
    from pipelines.logs.load import load_log

    meta = click.get_current_context().meta
    how = HowRead(meta.get("swftools.format") or "", anonymise or meta.get("swftools.anonymise") or "no").checked()
    processors = meta.get("swftools.processors")
    chosen = rules_from(rules)
    return load_log(log, clean=cleaned, rules=chosen, processors=processors, strict=strict, how=how, says_odd=says_odd)


def rules_from(text: str) -> list[Any] | None:
    """Return the cleaning rules that an option names; None if it names none."""
    if not text.strip():
        return None
    from pipelines.tasks.parameters import RulesParameter

    rules: list[Any] = json.loads(RulesParameter().normalize(text))
    return rules


def _say(level: int) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return what an option does that sets how much is said."""

    def apply(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
        if is_given and not ctx.resilient_parsing:
            show_progress(level)

    return apply


says_its_progress = together(
    *(
        click.option(*names, is_flag=True, expose_value=False, callback=_say(level), help=text)
        for level, names, text in (
            (logging.DEBUG, ("-v", "--verbose"), "Say every step, in plain lines."),
            (logging.WARNING, ("-q", "--quiet"), "Say nothing on the way."),
        )
    )
)
"""The options that say how much is said on the way; answers and errors are always said."""
