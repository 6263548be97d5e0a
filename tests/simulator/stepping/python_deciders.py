# SPDX-License-Identifier: BSD-3-Clause
"""Policies in Python that tests run, each the same as one of the package."""

from __future__ import annotations

from swftools.simulator import Stepper


def in_order(stepper: Stepper) -> None:
    """Decide as first come, first served."""
    for job in stepper.waiting.tolist():
        if stepper.width[job] > stepper.free:
            return
        stepper.start(job)


def shortest(stepper: Stepper) -> None:
    """Decide as shortest job first, of those in the queue's order that are equally short the first."""
    for job in sorted(stepper.waiting.tolist(), key=lambda job: stepper.estimated_time[job]):
        if stepper.width[job] > stepper.free:
            return
        stepper.start(job)


def filling(stepper: Stepper) -> None:
    """Decide as EASY."""
    while len(stepper.waiting):
        head = int(stepper.waiting[0])
        fits = stepper.width[head] <= stepper.free
        stepper.start_or_fill(head)
        if not fits:
            return
