# SPDX-License-Identifier: BSD-3-Clause
"""What ``predict`` does with a job script and a service: the script is read, the service asked, the answer printed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from pipelines.cli.asked_service import QUANTILES, UNAVAILABLE, AskedCluster, Shape, Told, difference, lower_bounds
from pipelines.cli.output import print_json
from pipelines.exit_statuses import CANNOT_SAY
from swftools.client import Client
from swftools.errors import RefusedQuestionError
from swftools.job_scripts import JobRequest, read_job_script
from swftools.output.amounts import counted, duration, percent
from swftools.output.shown_text import WIDTH, shown
from swftools.parameters.durations import in_words

MOST_LINES = 5
"""So many other shapes are printed."""


def predict_from_service(options: Mapping[str, Any], quantiles: Sequence[float], *, as_json: bool) -> int:
    """Print what a service tells of a job; return the exit status.

    Parameters
    ----------
    options : mapping
        Of the command, by name.
    quantiles : sequence of float
        Shares of jobs; none for the usual ones.
    as_json : bool
        Whether JSON is printed.
    """
    server = _server_of(options)
    script = options["script"]
    client = Client(server)
    request = None
    shape = Shape(options["queue"] or options["partition"], options["processors"], options["requested_time"])
    if script is not None:
        request = read_job_script(script, arguments=options["arguments"], system=options["system"] or "slurm")
        shape = Shape(request.partition, request.processors, request.time_limit)
    quantiles = sorted(set(quantiles or QUANTILES))
    try:
        asked = AskedCluster(client, options["cluster"])
        in_queues = asked.ask_each(asked.shape_of(*shape), quantiles, options["deadline"])
    except RefusedQuestionError as refused:
        if refused.status != UNAVAILABLE:
            raise
        if as_json:
            print_json({"request": None if request is None else request.to_mapping(), "no_prediction": str(refused)})
        else:
            click.echo("\n".join(_wrapped(f"No prediction: {refused}.")))
        return CANNOT_SAY
    told = min(in_queues, key=lambda each: each.bound(quantiles[-1]))
    may_move = request is not None and request.gpus == 0 and len(request.components) == 1
    tried, why_not_all = asked.ask_others(told.shape, quantiles, other_queues=may_move)
    notes = ["the queue is known to take only smaller or shorter jobs"] if asked.too_much(told.shape) else []
    notes += [] if request is None else _notes(request)
    notes += _notes_on_queues(asked, shape.queue, in_queues)
    notes += [] if why_not_all is None else [f"not all other shapes were asked about: {why_not_all}"]
    notes += [] if request is None else request.unread
    if as_json:
        print_json(_as_mapping(request, told, tried, quantiles[-1], notes))
    else:
        understood = f"understood: {_understood(asked, script, request, told.shape)}"
        click.echo("\n".join([*_wrapped(understood), "", *_answer(told), *_shapes(told, tried, quantiles[-1])]))
        click.echo("".join(f"{line}\n" for note in notes for line in _wrapped(f"note: {note}")), nl=False)
    return 0 if told.answer.get("no_prediction") is None else CANNOT_SAY


def _server_of(options: Mapping[str, Any]) -> str:
    """Return the address of the service; refuse options that do not go with one another."""
    if options["script"] is None:
        for name, title in (("arguments", "options of sbatch go"), ("system", "--system goes")):
            if options[name]:
                raise click.UsageError(f"{title} with --script FILE, as in: --script job.sh -- --ntasks=4")
    server: str | None = options["server"] or (os.environ.get("SWFTOOLS_SERVER") if options["script"] else None)
    if not server:
        raise click.UsageError("name the service with --server, as in --server http://127.0.0.1:8017")
    wrong = [name for name in ("state", "history", "method", "data-root", "group", "user") if options.get(name)]
    wrong += [
        name for name in ("queue", "partition", "processors", "requested_time") if options["script"] and options[name]
    ]
    if wrong:
        name = wrong[0].replace("_", "-")
        instead = "the script says it, or options of sbatch behind --" if options["script"] else "a service has its own"
        raise click.UsageError(f"--{name} does not go with --{'script' if options['script'] else 'server'}: {instead}")
    return server


def _as_mapping(
    request: JobRequest | None, told: Told, tried: Sequence[Told], quantile: float, notes: Sequence[str]
) -> dict[str, Any]:
    """Return what is printed as JSON."""
    return {
        "request": None if request is None else request.to_mapping(),
        "asked": told.shape._asdict(),
        "answer": told.answer,
        "tried": len(tried),
        "sooner": [
            {**each.shape._asdict(), "quantile": quantile, "seconds": each.bound(quantile), "answer": each.answer}
            for each in lower_bounds(told, tried, quantile)
        ],
        "notes": list(notes),
    }


def _notes(request: JobRequest) -> Iterator[str]:
    """Yield what the answer leaves open."""
    if request.array_size > 1:
        yield f"it is an array of {counted(request.array_size, 'job')}: the answer is for each as if it came alone"
    if len(request.components) > 1:
        yield f"its {len(request.components)} components start together, so it may wait longer than a job of that size"


def _notes_on_queues(asked: AskedCluster, named: str | None, told: Sequence[Told]) -> Iterator[str]:
    """Yield what the answer is of, where a job names several queues."""
    queues = [each.shape.queue for each in told]
    left = [each for each in (named or "").split(",") if each and each not in queues]
    if left and asked.has_queues and named not in queues:
        yield (
            f"of the queues that it names, {', '.join(left)} counted for nothing: nothing is known of it, it does not "
            "take the job, or the service refuses the question"
        )
    if len(told) > 1:
        yield "it names several queues: the answer is that of the queue with the lowest bound"


def _answer(told: Told) -> Iterator[str]:
    """Yield the answer in words."""
    yield from _wrapped(str(told.answer.get("in_words") or told.answer.get("no_prediction") or "It is answered."))


def _shapes(told: Told, tried: Sequence[Told], quantile: float) -> Iterator[str]:
    """Yield the shapes whose bound is lower."""
    sooner = lower_bounds(told, tried, quantile)
    bound = told.bound(quantile)
    if not tried or (not sooner and math.isinf(bound)):
        return
    yield ""
    if not sooner:
        yield from _wrapped(
            f"None of {counted(len(tried), 'other shape')} has a lower bound (less time, other queues)."
        )
        return
    what = "there is a bound" if math.isinf(bound) else f"the bound is lower than {duration(bound)}"
    yield from _wrapped(f"For {percent(quantile)} of such jobs {what} with")
    for each in sooner[:MOST_LINES]:
        yield f"  {difference(told.shape, each.shape):<40} {duration(each.bound(quantile)):>12}"


def _understood(asked: AskedCluster, script: str | None, request: JobRequest | None, shape: Shape) -> str:
    """Say what was understood of the job."""
    told = [] if script is None else [script]
    if request is not None:
        told.append(counted(request.nodes, "node"))
        told += [counted(request.gpus, "GPU")] if request.gpus else []
    told += [counted(shape.processors, "processor")] if shape.processors is not None else []
    told += [in_words(shape.requested_time)] if shape.requested_time is not None else []
    told += [f"queue {shape.queue}"] if shape.queue is not None else []
    return f"{', '.join(told)} on {asked.name}" if told else asked.name


def _wrapped(text: str) -> Iterator[str]:
    """Yield the lines of a sentence."""
    yield from click.wrap_text(shown(text), WIDTH, subsequent_indent="  ").splitlines()
