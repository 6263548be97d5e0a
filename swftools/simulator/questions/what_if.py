"""What if a job were submitted now? When it would start, by one policy or another, and what is free until then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.parameters import is_whole
from swftools.simulator.stepping.stepper import Stepper
from swftools.trace import Trace

LEAST = 1.0
"""What a running job beyond its request is taken to run on, s."""


def what_if(
    running: pd.DataFrame,
    waiting: pd.DataFrame,
    jobs: Iterable[Mapping[str, float]],
    processors: int,
    policies: Iterable[str] = ("easy",),
) -> pd.DataFrame:
    """Say when jobs would start that are submitted now, behind those that wait.

    Nobody else is taken to come, and every job to run as long as it requests: real ones end earlier, so that jobs
    start earlier, unless others come before them.

    Parameters
    ----------
    running : pandas.DataFrame
        One row a job that runs: processors, requested_time and elapsed (s), the time that it has run.
    waiting : pandas.DataFrame
        One row a job that waits, in order of submission: processors, requested_time, waited (s).
    jobs : iterable of mapping
        Those that are asked about, with ``processors`` and ``requested_time`` (s); each by itself, as if the others
        were not submitted.
    processors : int
        Of the machine, less what is out of order.
    policies : iterable of str
        As ``simulate`` takes them.

    Returns
    -------
    pandas.DataFrame
        One row a policy and job: policy, processors, requested_time, wait (s), behind (jobs that wait now and start
        before it).

    Raises
    ------
    ParameterError
        The running jobs have more processors than there are; a job needs more, or is no job.
    PolicyError
        As ``simulate`` does.

    Examples
    --------
    >>> running = pd.DataFrame({"processors": [3], "requested_time": [600.0], "elapsed": [60.0]})
    >>> waiting = pd.DataFrame({"processors": [4], "requested_time": [100.0], "waited": [20.0]})
    >>> asked = [{"processors": 1, "requested_time": 500.0}, {"processors": 1, "requested_time": 900.0}]
    >>> what_if(running, waiting, asked, 4, ["fcfs", "easy"])[["policy", "wait", "behind"]].values.tolist()
    [['fcfs', 640.0, 1], ['fcfs', 640.0, 1], ['easy', 0.0, 0], ['easy', 640.0, 1]]
    """
    if not is_whole(processors, 1, 2**31 - 1):
        raise ParameterError(f"processors={processors!r} is not a whole number from 1 on")
    held = int(running["processors"].sum())
    if held > processors:
        raise ParameterError(
            f"the running jobs hold {held:,} processors, and the machine has {processors:,}: is it of another machine, "
            "or a part of it (--processors)?"
        )
    asked = [dict(job) for job in jobs]
    for job in asked:
        _check(job, processors)
    if len(waiting) and (waiting["processors"] > processors).any():
        widest = int(waiting["processors"].max())
        raise ParameterError(f"a waiting job needs {widest:,} processors, and the machine has {processors:,}")
    rows = [(policy, *_asked(running, waiting, job, processors, policy)) for policy in policies for job in asked]
    return pd.DataFrame(rows, columns=["policy", "processors", "requested_time", "wait", "behind"])


def free_windows(running: pd.DataFrame, processors: int) -> pd.DataFrame:
    """Return how many processors are free from each time on, if running jobs end as requested and none starts.

    Parameters
    ----------
    running : pandas.DataFrame
        As ``what_if`` takes it.
    processors : int
        Of the machine.

    Returns
    -------
    pandas.DataFrame
        time (s from now, the first is 0) and free.

    Examples
    --------
    >>> running = pd.DataFrame({"processors": [3, 1], "requested_time": [60.0, 90.0], "elapsed": [20.0, 50.0]})
    >>> free_windows(running, 6).values.tolist()
    [[0.0, 2.0], [40.0, 6.0]]
    """
    left = _left(running)
    times = np.unique(np.concatenate([[0.0], left]))
    width = running["processors"].to_numpy(dtype=np.int64)
    free = [processors - int(width[left > time].sum()) for time in times]
    return pd.DataFrame({"time": times, "free": free})


def _left(running: pd.DataFrame) -> FloatArray:
    """Return how long running jobs are taken to run on, s."""
    return np.maximum((running["requested_time"] - running["elapsed"]).to_numpy(dtype=np.float64), LEAST)


def _check(job: dict[str, float], processors: int) -> None:
    """Refuse what is no job."""
    if set(job) != {"processors", "requested_time"}:
        raise ParameterError(f"job {job}: give processors and requested_time, as processors=64,time=4h")
    if not is_whole(job["processors"], 1, processors):
        raise ParameterError(f"job {job}: processors is not a whole number from 1 to {processors:,}, which there are")
    if not 0 < job["requested_time"] < np.inf:
        raise ParameterError(f"job {job}: requested_time is not above 0")


def _asked(
    running: pd.DataFrame, waiting: pd.DataFrame, job: Mapping[str, float], processors: int, policy: str
) -> tuple[int, float, float, int]:
    """Return a job, how long it waits under a policy, and behind how many of those that wait."""
    left = _left(running)
    waited = waiting["waited"].to_numpy(dtype=float)
    now = max(waited.max(initial=0.0), 1.0)
    submit = np.concatenate([np.zeros(len(left)), np.maximum(now - waited, 0.0), [now]])
    order = np.argsort(submit, kind="stable")  # running jobs first: they are started as soon as it is now
    times = np.concatenate([left, waiting["requested_time"].to_numpy(dtype=float), [job["requested_time"]]])
    width = np.concatenate([running["processors"], waiting["processors"], [job["processors"]]]).astype(np.int64)
    trace = Trace.from_columns(
        machine_processors=processors,
        job_number=np.arange(len(order)),
        submit_time=submit[order],
        run_time=times[order],
        requested_time=times[order],
        requested_processors=width[order],
    )
    stepper = Stepper(trace, policy, processors)
    while stepper.advance(to="event") and stepper.now < now:
        pass  # what was decided before now is known: these jobs wait
    for number in range(len(left)):
        stepper.start(number)
    starts = stepper.finish().jobs["start_time"].to_numpy(dtype=float)
    mine = starts[-1]
    behind = int((starts[len(left) : -1] < mine).sum())
    return int(job["processors"]), float(job["requested_time"]), float(mine - now), behind
