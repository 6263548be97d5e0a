# SPDX-License-Identifier: BSD-3-Clause
"""The command that says when to submit a job so that it runs at a time: reserve."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.durations import Duration
from pipelines.cli.moments import at_command, moment_of, shown_moment, zone_of
from pipelines.cli.options import PROCESSORS
from pipelines.cli.output import check_picture, draws, json_option, print_json
from pipelines.cli.predict import asks_a_state, state_and_group
from pipelines.exit_statuses import CANNOT_SAY
from swftools.output.amounts import counted, duration
from swftools.output.shown_text import WIDTH, shown
from swftools.parameters.durations import clock

if TYPE_CHECKING:
    from swftools.reservations.plans import ReservationPlan

COMMAND = "sbatch --ntasks={processors} --time={time} job.sh"
"""What is run at the time, if nobody says otherwise."""

OLD = 86_400.0
"""Seconds behind which a state is said to be old."""


@click.command(short_help="Plan when to submit a job so that it runs at a time.", name="reserve")
@asks_a_state
@click.option("--group", help="Group of the job, as in tables of predictions: 3, or 3/17 by queue and user.")
@click.option("--processors", type=PROCESSORS, default=1, show_default=True, help="Processors of the job.")
@click.option("--requested-time", type=Duration(), required=True, help="How long it needs to run: 30m, 4h, 04:00:00.")
@click.option("--start", required=True, help='When it must run: "tomorrow 09:00", 2027-03-01T09:00, +6h.')
@click.option(
    "--probability",
    type=float,
    default=0.95,
    show_default=True,
    help="Probability that it runs then: above 0, up to .99.",
)
@click.option("--longest", type=Duration(), help="Longest request that the queue accepts, such as 24h.")
@click.option(
    "--step",
    type=Duration(),
    default="30",
    show_default=True,
    help="Step between the times of submission that are tried.",
)
@click.option("--zone", help="Time zone, such as Europe/Berlin; default: this machine's.")
@click.option("--now", help="Plan as of this moment, in the form of --start; default: now.")
@click.option(
    "--command", default=COMMAND, show_default=True, help="Command to print; {time} is the request in Slurm's form."
)
@draws("the probability by time of submission")
@json_option
def reserve(  # noqa: PLR0913, PLR0917 (options by name)
    state: str | None,
    history: str | None,
    method: str | None,
    data_root: str | None,
    probability: float,
    start: str,
    zone: str | None,
    now: str | None,
    command: str,
    picture: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Plan when to submit a job, and what to request, so that it runs at a given time with a given probability.

    The request includes the time from submission to that start: a job that starts earlier holds its processors until
    then. Exits with 1 if no time of submission is good enough, and says the best that can be had.

    \b
    Examples: swftools reserve --history site --queue normal --processors 64 \\
                  --requested-time 4h --start "tomorrow 09:00" --probability .95
              swftools reserve --state blue.state --queue 3 --requested-time 1h \\
                  --start +6h --probability .5 --picture trajectory.svg
    """
    if picture:
        check_picture(picture, [])
    given_zone = zone_of(zone)
    clock_now = datetime.now(UTC).replace(microsecond=0)
    begin = moment_of(now, clock_now, given_zone) if now else clock_now
    end = moment_of(start, begin, given_zone)
    if end <= begin:
        raise click.UsageError(
            f"--start {start}: {shown_moment(end, given_zone)} is in the past; now is {shown_moment(begin, given_zone)}"
        )
    asked = state_and_group(state, history, method, data_root, options)
    from swftools.reservations.known_starts import KnownStarts
    from swftools.reservations.plans import ReservedJob, plan_reservation

    job = ReservedJob(options["requested_time"], options["processors"], asked.group)
    saved = KnownStarts(asked.saved, asked.group)
    first = saved.until if math.isfinite(saved.until) else 0.0
    ahead = (end - begin).total_seconds()
    plan = plan_reservation(
        saved.saved, job, first + ahead, probability, now=first, step=options["step"], longest=options["longest"]
    )
    told = _Told(plan, begin, end, given_zone, command, asked.called(plan.group))
    if picture:
        _draw(plan, picture)
    if as_json:
        print_json({**told.mapping(), "picture": picture})
    else:
        click.echo(asked.understood(options["processors"], options["requested_time"]))
        click.echo("\n".join(told.lines()))
        if picture:
            click.echo(f"picture: {shown(picture)}")
    sys.exit(0 if plan.is_accepted else CANNOT_SAY)


class _Told:
    """A plan in words: its seconds are those of the state, its moments those of the clock."""

    def __init__(
        self, plan: ReservationPlan, begin: datetime, end: datetime, zone: tzinfo | None, command: str, group: str
    ) -> None:
        self.plan, self.begin, self.end, self.zone = plan, begin, end, zone
        self._command, self._group = command, group

    def _moment(self, seconds: float) -> datetime:
        """Return the clock's moment for one of the plan."""
        return self.end - timedelta(seconds=self.plan.start - seconds)

    @property
    def command(self) -> str | None:
        """What is to be run at the submission."""
        if self.plan.requested_time is None:
            return None
        try:
            return self._command.format(time=clock(self.plan.requested_time), processors=self.plan.processors)
        except (KeyError, IndexError, ValueError):
            raise click.UsageError(f"--command {self._command!r}: it may have {{time}} and {{processors}}") from None

    @property
    def at(self) -> str | None:
        """The line that has it run."""
        if self.command is None or self.plan.submit_time is None:
            return None
        return at_command(self._moment(self.plan.submit_time), self.command)

    @property
    def waiting(self) -> str:
        """What the job begins with, to wait until the start."""
        return f"while [ $(date +%s) -lt {math.floor(self.end.timestamp())} ]; do sleep 1; done"

    def mapping(self) -> dict[str, Any]:
        """Return all of it for programs; moments are of the clock, in UTC."""
        plan = self.plan
        found = {name: value for name, value in plan.to_mapping().items() if not name.endswith("_utc")}
        for name in ("submit", "best_submit"):
            seconds = getattr(plan, f"{name}_time")
            found[f"{name}_utc"] = None if seconds is None else _utc(self._moment(seconds))
        told = {"now_utc": _utc(self.begin), "start_utc": _utc(self.end), "known_until_utc": plan.until_utc}
        return {**found, **told, "command": self.command, "at": self.at, "job_begins_with": self.waiting}

    def lines(self) -> Iterator[str]:
        """Yield what is printed."""
        plan = self.plan
        processors = counted(plan.processors or 1, "processor")
        own = clock((plan.needed or 0.0) / (plan.processors or 1))
        yield from _wrapped(
            f"a job of {own} on {processors}, to run at {shown_moment(self.end, self.zone)}, "
            f"{clock(plan.start - plan.now)} from now on, with probability {plan.target:g}"
        )
        yield from _wrapped(
            f"by {plan.method}, of {counted(plan.group_waits, 'wait')} of group {self._group}{self._age()}"
        )
        yield ""
        if plan.is_accepted:
            yield from self._accepted()
        else:
            yield from _wrapped(self._denied())

    def _accepted(self) -> Iterator[str]:
        """Yield what to do, and what it costs."""
        plan = self.plan
        if plan.submit_time is None or plan.requested_time is None or plan.probability is None:
            return
        yield f"submit         {shown_moment(self._moment(plan.submit_time), self.zone)}, in {clock(plan.wait or 0.0)}"
        yield f"request        {clock(plan.requested_time)} ({duration(plan.requested_time)})"
        yield f"probability    {plan.probability:.2f} that it runs by then"
        most, expected, needed = (
            (value or 0.0) / 3600 for value in (plan.most_surplus, plan.expected_surplus, plan.needed)
        )
        yield f"it costs       {needed:,.1f} processor-hours, and up to {most:,.1f} beyond; about {expected:,.1f}"
        yield ""
        yield self.at or ""
        yield ""
        yield "and the job begins with"
        yield f"  {self.waiting}"

    def _denied(self) -> str:
        """Say why there is no submission, and what can be had."""
        plan = self.plan
        if plan.why_denied == "training":
            known = f"{plan.group_waits:,} waits of group {self._group} are known, and {plan.training:,} are needed"
            return f"Denied: too early to predict: {known}."
        if plan.why_denied == "too-few-waits":
            return f"Denied: {plan.group_waits:,} waits are too few to say anything."
        if plan.why_denied == "unavailable":
            return "Denied: the queue seems to be down: jobs came, but none has started for longer than usual."
        if plan.best_probability is None or plan.best_submit_time is None or plan.best_requested_time is None:
            return "Denied: nothing can be promised, whenever the job is submitted. Take a later start."
        return (
            f"Denied: no submission meets it. The best that can be had is {plan.best_probability:.2f}, by a submission "
            f"at {shown_moment(self._moment(plan.best_submit_time), self.zone)} with a request of "
            f"{clock(plan.best_requested_time)}. Take a later start, or a lower probability."
        )

    def _age(self) -> str:
        """Say where the state ends long before now."""
        if not self.plan.until_utc:
            return ""
        until = datetime.fromisoformat(self.plan.until_utc)
        age = (self.begin - until).total_seconds()
        if age > OLD:
            return f"; it knows nothing after {shown_moment(until, self.zone)}, {age / OLD:,.0f} days ago"
        return ""


def _utc(moment: datetime) -> str:
    """Return a moment for programs."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _wrapped(text: str) -> Iterator[str]:
    """Yield the lines of a sentence."""
    yield from click.wrap_text(shown(text), WIDTH, subsequent_indent="  ").splitlines()


def _draw(plan: ReservationPlan, path: str) -> None:
    """Draw the trajectory of a plan."""
    from swftools import plots
    from swftools.output.whole_files import create_file

    with plots.style("screen"):
        axes = plots.plot(plan.trajectory.table(), "trajectory", probability=plan.target)
        figure: Any = axes.figure
        with create_file(path) as file:
            figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=200)
