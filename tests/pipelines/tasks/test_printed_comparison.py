# SPDX-License-Identifier: BSD-3-Clause
"""A comparison as it is printed: times in units that people use, one a row; files have seconds."""

from __future__ import annotations

import pandas as pd

from pipelines.tasks.compare import as_markdown


def comparison(waits: dict[str, list[float]]) -> pd.DataFrame:
    """Return a comparison of mean waits, by policy and seed; the machine is half in use."""
    rows = [
        {"policy": policy, "seed": seed, "measure": measure, "statistic": statistic, "value": value, "unit": unit}
        for policy, values in waits.items()
        for seed, wait in enumerate(values)
        for measure, statistic, value, unit in (("wait", "mean", wait, "s"), ("utilization", "time_mean", 0.5, "1"))
    ]
    return pd.DataFrame(rows).assign(classed_by="all", job_class="all")


def cells(text: str) -> list[list[str]]:
    """Return the cells of a table in Markdown."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


def test_times_are_in_the_unit_of_the_longest() -> None:
    """So that a row can be compared; the name of the measure needs no unit then."""
    found = comparison({"fcfs": [53_135.5], "easy": [3600.0]})
    assert cells(as_markdown(found, is_printed=True))[2:] == [
        ["wait_mean", "14.8 h", "1 h"],
        ["utilization_time_mean", "0.5", "0.5"],
    ]
    assert cells(as_markdown(found))[2:] == [
        ["wait_mean (s)", "53,136", "3,600"],
        ["utilization_time_mean", "0.5", "0.5"],
    ]


def test_a_standard_deviation_has_its_own_unit() -> None:
    """It is much smaller than the mean."""
    found = comparison({"fcfs": [7200.0, 7260.0]})
    assert cells(as_markdown(found, is_printed=True))[2] == ["wait_mean", "2.01 h ± 42.4 s"]
    assert cells(as_markdown(found))[2] == ["wait_mean (s)", "7,230 ± 42"]


def test_who_waits_for_what_is_a_second_table() -> None:
    """On nodes: a row for each reason that any policy has, the mean over the seeds, in 80 columns."""
    found = comparison({"fcfs": [10.0, 20.0], "easy": [5.0, 5.0], "x" * 70: [1.0, 1.0]})
    values = {"cores": (3000.0, 2.0, 0.5), "memory": (0.0, 0.0, 0.0), "gpus": (0.0, 1.25, 0.0)}
    rows = [
        {"policy": policy, "seed": seed, "measure": "waited_for", "statistic": reason, "value": hours * (1 + seed)}
        for reason, of_reason in values.items()
        for policy, hours in zip(("fcfs", "easy", "x" * 70), of_reason, strict=True)
        for seed in (0, 1)
    ]
    more = pd.DataFrame(rows).assign(classed_by="all", job_class="all", unit="job-hours")
    text = as_markdown(pd.concat([found, more], ignore_index=True), is_printed=True)
    first, second, legend = text.split("\n\n")
    assert first == as_markdown(found, is_printed=True).split("\n\n")[0]
    assert cells(second) == [
        ["job-hours waited", "fcfs", "easy", "policy 3"],
        ["----------------", "----:", "---:", "-------:"],
        ["cores", "4,500", "3", "0.75"],
        ["GPUs", "0", "1.88", "0"],
    ]
    assert legend.startswith("policy 3: ")
    assert max(map(len, (*first.splitlines(), *second.splitlines()))) <= 80
