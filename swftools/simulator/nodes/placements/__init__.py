# SPDX-License-Identifier: BSD-3-Clause
"""Placements: which of the nodes that fit a job are taken. A rule is a file here, and its line below."""

from swftools.simulator.nodes.placements import best_fit, first_fit, lowest_weight  # noqa: F401 (they register)
