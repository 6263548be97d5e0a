# SPDX-License-Identifier: BSD-3-Clause
"""The policy of the tutorial ``plot_own_policy.py``."""

from swftools.simulator import NOBODY, first_waiting, fits, next_waiting, policy, start, width


@policy("narrow-ahead", version=1)
def narrow_ahead(machine):
    """Start the narrowest waiting job that fits, again and again; among equals the first that was submitted."""
    while True:
        best = NOBODY
        job = first_waiting(machine)
        while job != NOBODY:
            if best == NOBODY or width(machine, job) < width(machine, best):
                best = job
            job = next_waiting(machine, job)
        if not fits(machine, best):
            return
        start(machine, best)
