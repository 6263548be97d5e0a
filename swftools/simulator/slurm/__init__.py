# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's rules: what jobs ask, priorities, limits, how nodes are chosen, the main scheduler and backfill."""
