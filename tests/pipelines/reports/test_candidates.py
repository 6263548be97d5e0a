# SPDX-License-Identifier: BSD-3-Clause
"""The report on candidates: each heading is explained, once on a page, also beside words of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.experiments.advice import advice_of
from pipelines.experiments.candidates import study_candidates
from pipelines.logs import load_log
from pipelines.reports.candidates import parts_of_candidates
from pipelines.reports.page import page_of_centre, word_of, words_of
from pipelines.reports.report import Section
from swftools.simulator import logged_schedule
from tests.pipelines.experiments.test_candidates import BASE, run

PLAIN = {"candidate", "measure", "account", "jobs", "word", "meaning"}
"""Headings that are what they say, or of which the line below them says it."""


def parts(waits: Sequence[float]) -> list[Section]:
    """Return the parts of a report on one candidate."""
    study = study_candidates([run(BASE)], {"less": [run(waits)]})
    return parts_of_candidates(study.candidates, advice_of(study, ""))


def test_each_heading_is_explained() -> None:
    """One click from it."""
    made = parts([wait - 4 for wait in BASE])
    heads = {word_of(head) for part in made for table in part.tables for head in table.columns}
    assert heads - set(words_of(made)) - PLAIN == set()


def test_a_word_of_two_tables_has_one_place() -> None:
    """The first that explains it."""
    log = load_log("SDSC-BLUE-2000-4.2-cln-5000-9999")
    part = log.trace.with_jobs(log.trace.jobs.head(50))
    page = page_of_centre(replace(log, trace=part), logged_schedule(part), more=parts(BASE))
    places = re.findall(r' id="(word-[^"]*)"', page)
    assert len(places) == len(set(places)) > 40
    assert re.search(
        r'id="word-utilization">\s*<td>utilization</td>\s*<td>the processor time of the jobs that ran', page
    )
    assert 'href="#word-95-interval"' in page
