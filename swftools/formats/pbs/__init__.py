# SPDX-License-Identifier: BSD-3-Clause
"""Accounting logs of PBS: OpenPBS, Torque, PBS Professional."""

from swftools.formats.pbs.reader import Pbs

__all__ = ["Pbs"]
