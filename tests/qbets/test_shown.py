# SPDX-License-Identifier: BSD-3-Clause
"""What an answer about a wait prints, and what a notebook shows of it."""

from __future__ import annotations

from dataclasses import replace

from swftools.qbets import WaitAnswer
from swftools.qbets.live_methods import ToldBound, ToldDeadline

ANSWER = WaitAnswer(
    method="binomial",
    by=("queue",),
    group="<script>\u202e",
    no_prediction=None,
    bounds=(ToldBound(0.95, 0.95, 7200.0, 59), ToldBound(0.99, 0.95, None, 299)),
    deadline=ToldDeadline(3600.0, 0.5, 0.95, 40),
    waits=60,
    known_waits=80,
    group_waits=1200,
    training=100,
    since=0.0,
    until=10.0,
    since_utc=None,
    until_utc=None,
    explanatory="requested_time",
    value=None,
    cluster=0,
    clusters=1,
    above=None,
    up_to=None,
)


def test_an_answer() -> None:
    """Who is told, what, and from what; bounds as a table; groups are text."""
    assert repr(ANSWER) == (
        "WaitAnswer: binomial, group <script>\\u202e\n"
        "95 % of jobs wait 2 h at most, 50 % start within 60 min\n"
        "made of 60 waits of 1,200 known in the group"
    )
    page = ANSWER._repr_html_()
    assert page.count("<tr>") == 3
    assert "<script" not in page


def test_no_answer() -> None:
    """It says why."""
    nothing = replace(ANSWER, bounds=(), deadline=None, no_prediction="training", by=(), group="all")
    assert repr(nothing) == (
        "WaitAnswer: binomial, all\nno bound\nno prediction: training, made of 60 waits of 1,200 known in the group"
    )
    assert "<table>" not in nothing._repr_html_()
