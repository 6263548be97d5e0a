# SPDX-License-Identifier: BSD-3-Clause
"""What a report of cleaning prints, and what a notebook shows of it."""

from __future__ import annotations

from dataclasses import replace

from swftools import Trace, clean

TRACE = Trace.from_columns(job_number=[1, 2], submit_time=[0, 5], requested_processors=[4, -1])


def test_a_report() -> None:
    """What became of the lines, how many rules and repairs, what was found; a row a step."""
    _, report = clean(TRACE, ["missing-processors"])
    assert repr(report) == (
        "CleaningReport: 2 job lines: 1 kept, 1 quarantined, 0 merged\n"
        "1 rule, no values repaired\n"
        "found: missing-processors 1"
    )
    page = report._repr_html_()
    assert page.count("<tr>") == 3
    assert ">missing-processors</td>" in page


def test_nothing_found() -> None:
    """A log without faults, without jobs, and a report without steps."""
    _, report = clean(Trace.from_columns(), ["missing-processors"])
    assert repr(report).startswith("CleaningReport: no job lines: 0 kept")
    assert repr(report).endswith("found: nothing")
    assert repr(replace(report, steps=report.steps[:0])) == "CleaningReport: no steps"


def test_a_hostile_remark() -> None:
    """Rules of anybody's own may say anything."""
    _, report = clean(TRACE, ["missing-processors"])
    evil = replace(report, steps=report.steps.assign(rule="<script>\u202e\n", remark="<b>"))
    assert "found: <script>\\u202e\\n 1" in repr(evil)
    assert "<script" not in evil._repr_html_()
    assert "&lt;b&gt;" in evil._repr_html_()
