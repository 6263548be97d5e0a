# SPDX-License-Identifier: BSD-3-Clause
"""Slurm: what ``sacct -P`` and ``sacct --json`` print."""

from swftools.formats.slurm.reader import Slurm

__all__ = ["Slurm"]
