# SPDX-License-Identifier: BSD-3-Clause
"""A policy held against a real run, decision by decision.

``referee(run, machine)`` tries Slurm's rules in each state that a real run was in, and returns a ``Report``: which
starts they would have made, on which nodes, and what of the run each mechanism explains.
"""

from swftools.referee.report import Report, referee

__all__ = ["Report", "referee"]
