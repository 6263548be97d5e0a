"""The words that options of a simulation take, apart from what is heavy to load, because help shows them."""

from __future__ import annotations

OVERRUN = ("extend", "kill", "run-on")
"""What becomes of a job that ran longer than requested: the request is raised, the run is cut, or both are left."""

CANCELLED = ("drop", "end-at-once", "full-request")
"""What becomes of a job without a run time: it is left out, runs 1 s, or as long as it requested."""

INSTANT, PYSS, CQSIM = range(3)

SEMANTICS = {"instant": INSTANT, "pyss": PYSS, "cqsim": CQSIM}
"""How one instant is taken: one decision when all has happened, or in the manner of other simulators."""
