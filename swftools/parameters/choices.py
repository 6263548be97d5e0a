# SPDX-License-Identifier: BSD-3-Clause
"""The words that options take, apart from what is heavy to load, because help shows them."""

from __future__ import annotations

OVERRUN = ("extend", "kill", "run-on")
"""Jobs that ran longer than requested: raise the request, cut the run, or leave both."""

CANCELLED = ("drop", "end-at-once", "full-request")
"""Jobs without a run time: leave them out, let them run 1 s, or as long as requested."""

FOLLOW, IGNORE = DEPENDENCIES = ("follow", "ignore")
"""Jobs that wait for the end of others, by the log: let them wait, or take all as if they waited for none."""

INSTANT, PYSS, CQSIM = range(3)

SEMANTICS = {"instant": INSTANT, "pyss": PYSS, "cqsim": CQSIM, "dr_evt": INSTANT, "raps": INSTANT}
"""The order of events at one instant, and how often is decided: our own, and those of other simulators.

Two of these take an instant as we do, and differ in who may go ahead.
"""

ANONYMISE = ("no", "numbers", "hash")
"""Names in accounting logs: as they are; numbers only; or keyed hashes, by which those of several logs compare."""

PARTITION, MACHINE = "partition", "machine"
HEADS = (PARTITION, MACHINE)
"""On a machine of nodes, what has a first waiting job."""
