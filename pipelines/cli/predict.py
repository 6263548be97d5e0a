# SPDX-License-Identifier: BSD-3-Clause
"""The command that says what a job submitted now would be told of its wait: predict."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pipelines.cli.durations import Duration
from pipelines.cli.options import PROCESSORS, data_root_of_task, together
from pipelines.cli.output import json_option, print_json
from pipelines.exit_statuses import CANNOT_SAY
from swftools.named import named_groups
from swftools.output.amounts import amount, counted, duration
from swftools.output.shown_text import WIDTH, shown
from swftools.parameters.durations import clock, in_words

if TYPE_CHECKING:
    from swftools.qbets.live_methods import ToldBound, ToldDeadline
    from swftools.qbets.prediction import WaitAnswer
    from swftools.qbets.saved_state import SavedState

GROUPED_BY = ("queue", "user", "partition")
"""What a state may be grouped by that has an option of its own."""


asks_a_state = together(
    click.option("--state", type=click.Path(), help="File with the state of a wait predictor."),
    click.option(
        "--history", help="Name of a history: asks its newest state, by names of queues; default: the only one."
    ),
    click.option("--method", help="Method, of those that the history follows; default: its first."),
    data_root_of_task,
    *(
        click.option(f"--{name}", help=f"{name.capitalize()} of the job, if the state is by {name}.")
        for name in GROUPED_BY
    ),
)
"""The options that say which state is asked, and of which group: those that ``state_and_group`` takes."""


@click.command(short_help="Predict the wait of a job submitted now.", name="predict")
@asks_a_state
@click.option(
    "--group", help="Group of the job, as in tables of predictions: 3, or 3/17 by queue and user; or by names."
)
@click.option("--processors", type=PROCESSORS, help="Processors that the job requests.")
@click.option("--requested-time", type=Duration(), help="Of the job: 90 (seconds), 30m, 4h, 04:00:00, 1-12:00:00.")
@click.option(
    "--quantile", "quantiles", type=float, multiple=True, help="Share of jobs; default: .5 .75 .9 .95 and the state's."
)
@click.option("--deadline", type=Duration(), help="Also say which share of such jobs starts within this time.")
@click.option("--server", help="Address of a service to ask instead of a state; with --script: SWFTOOLS_SERVER.")
@click.option("--script", type=click.Path(), help="Job script of which the service is asked, as sbatch reads it.")
@click.option("--system", type=click.Choice(["slurm", "pbs"]), help="Batch system of the script; default: slurm.")
@click.option("--cluster", help="Cluster of the service, where it has several.")
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF SBATCH]")
def predict(
    state: str | None,
    history: str | None,
    method: str | None,
    data_root: str | None,
    group: str | None,
    processors: int | None,
    quantiles: tuple[float, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Predict how long a job would wait that is submitted now, after everything that the state knows.

    Exits with 1 if there is no prediction: too few waits are known, or the machine seems to be down.

    \b
    Examples: swftools predict --queue normal --requested-time 4h
              swftools predict --state blue.state --queue 3 \\
                  --requested-time 4h --deadline 2h
              swftools predict --history site --partition gpu --requested-time 4h
              swftools predict --server https://waits.example.org \\
                  --script job.sh -- --ntasks=64
    """
    if any(options[name] for name in ("server", "script", "system", "cluster", "arguments")):
        from pipelines.cli.predict_script import predict_from_service

        states = {"state": state, "history": history, "method": method, "data-root": data_root, "group": group}
        about = {**options, **states, "processors": processors}
        sys.exit(predict_from_service(about, quantiles, as_json=as_json))
    asked = state_and_group(state, history, method, data_root, {**options, "group": group})
    from swftools.qbets.prediction import predict_wait

    answer = predict_wait(
        asked.saved,
        group=asked.group,
        processors=processors,
        requested_time=options["requested_time"],
        quantiles=quantiles,
        deadline=options["deadline"],
    )
    if as_json:
        print_json(answer.to_mapping())
    else:
        if understood := asked.understood(processors, options["requested_time"]):
            click.echo(understood)
        click.echo("\n".join(_lines(answer, asked)))
    sys.exit(0 if answer.is_answered else CANNOT_SAY)


class Asked(NamedTuple):
    """The state that is asked, the group of the job, and the history whose state it is."""

    saved: SavedState
    group: str | dict[str, str] | None
    history: str | None

    def called(self, group: str) -> str:
        """Return a group by the names that the log has: numbers where it has none, or one for several."""
        return named_groups({*self.saved.labels, group}, self.saved.about["by"], self.saved.names)[group]

    def understood(self, processors: int | None, requested_time: float | None) -> str:
        """Say what was understood of the job, and which history is asked."""
        told = [f"history {self.history}"] if self.history else []
        told += [counted(processors, "processor")] if processors is not None else []
        told += [f"requested {in_words(requested_time)}"] if requested_time is not None else []
        return shown(f"understood: {', '.join(told)}") if told else ""


def state_and_group(
    state: str | None, history: str | None, method: str | None, data_root: str | None, options: Mapping[str, Any]
) -> Asked:
    """Return what is asked, and of which group, as the options name them; of the only history if none is named.

    Raises
    ------
    UsageError
        They do not go together.
    """
    group: str | None = options["group"]
    given = {name: options[name] for name in GROUPED_BY if options[name] is not None}
    if group is not None and given:
        raise click.UsageError(f"give --group or --{next(iter(given))}, not both")
    if state is not None and history is not None:
        raise click.UsageError("give --state or --history, not both")
    from swftools.qbets.saved_state import read_state

    if state is not None:
        if method is not None:
            raise click.UsageError("--method goes with --history; a state has one method only")
        return Asked(read_state(state), group if group is not None else given or None, None)
    from pipelines.config import setting
    from pipelines.history.known_state import find_state, only_history

    root = data_root or setting("data_root")
    history = history or only_history(root)
    path, names = find_state(root, history, method)
    saved = read_state(path)
    saved.names = names  # those of a history are in its manifest
    return Asked(saved, group if group is not None else given or None, history)


def _lines(answer: WaitAnswer, asked: Asked) -> Iterator[str]:
    """Yield what is printed of an answer."""
    name = f"{'/'.join(answer.by)} {asked.called(answer.group)}" if answer.by else "the machine"
    yield from _wrapped(_jobs(answer, name))
    yield from _wrapped(_waits(answer))
    if answer.no_prediction:
        yield ""
        yield from _wrapped(_reason(answer, name))
    yield ""
    yield "of such jobs   wait no longer than             with confidence"
    for told in answer.bounds:
        yield _line(told, answer)
    if answer.deadline:
        yield ""
        yield from _wrapped(_deadline(answer.deadline, answer))


def _wrapped(text: str) -> Iterator[str]:
    """Yield the lines of a sentence."""
    yield from click.wrap_text(shown(text), WIDTH, subsequent_indent="  ").splitlines()


def _jobs(answer: WaitAnswer, name: str) -> str:
    """Say which jobs are alike."""
    if answer.clusters == 1:
        return f"jobs of {name}"
    units = {"requested_time": "s", "requested_processors": "processors", "requested_work": "processor-seconds"}
    unit = units[answer.explanatory]
    ends = [f"more than {amount(answer.above, unit)}"] if answer.above is not None else []
    ends += [f"up to {amount(answer.up_to, unit)}"] if answer.up_to is not None else []
    return f"jobs of {name} that request {' and '.join(ends)}"


def _waits(answer: WaitAnswer) -> str:
    """Say what bounds are made of."""
    text = f"{answer.method}, of {counted(answer.waits, 'wait')}"
    if answer.waits < answer.known_waits:
        text += f", the newest of {answer.known_waits:,}"
    if answer.since is None:
        return text
    if answer.since_utc:
        return f"{text}; from {answer.since_utc} to {answer.until_utc}"
    return f"{text}; from second {answer.since:,.0f} of the log to {answer.until:,.0f}"


def _reason(answer: WaitAnswer, name: str) -> str:
    """Say why nothing is told."""
    if answer.no_prediction == "training":
        known = f"{answer.group_waits:,} waits of {name} are known, and {answer.training:,} are needed"
        return f"No prediction yet: {known}. It would have been:"
    if answer.no_prediction == "too-few-waits":
        return f"No prediction: {answer.waits:,} known waits are too few."
    why = "jobs arrived, but none has started for longer than usual"
    return f"No prediction, because {name} seems to be unavailable: {why}. It would have been:"


def _line(told: ToldBound, answer: WaitAnswer) -> str:
    """Return the line of a bound."""
    share = f"{_percent(told.quantile):>12}   "
    if told.seconds is None:
        needs = f"; it needs {told.needs:,}" if told.needs else ""
        return f"{share}no bound from {counted(answer.waits, 'wait')}{needs}"
    return f"{share}{clock(told.seconds):>12} {duration(told.seconds):>16}   {_confidence(told.confidence)}"


def _deadline(told: ToldDeadline, answer: WaitAnswer) -> str:
    """Say which share of jobs starts in time."""
    time = clock(told.seconds)
    within = "" if told.within is None else f" ({told.within:,} of the {counted(answer.waits, 'wait')} were no longer)"
    if told.share == 0.0:
        return f"No share of jobs can be promised to start within {time}{within}."
    share = _percent(int(told.share * 10_000) / 10_000)  # never more than is so
    if told.confidence is None:
        return f"About {share} of such jobs start within {time}; the method has no confidence."
    return f"At least {share} of such jobs start within {time}, with confidence {_fraction(told.confidence)}{within}."


def _percent(share: float) -> str:
    """Return a share of jobs in words."""
    return f"{100 * share:.10g} %"


def _confidence(confidence: float | None) -> str:
    """Return a confidence in words."""
    return "none" if confidence is None else _fraction(confidence)


def _fraction(number: float) -> str:
    """Return a number below 1 without the 0 in front."""
    return f"{number:.10g}".removeprefix("0")
