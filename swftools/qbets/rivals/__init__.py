# SPDX-License-Identifier: BSD-3-Clause
"""Rivals of QBETS: models of waits by the state of the machine; one file each, registered by being imported here."""

from swftools.qbets.rivals.at_submission import COLUMNS, features_at_submission
from swftools.qbets.rivals.conformal import Conformal, ConformalGradientBoosting
from swftools.qbets.rivals.gradient_boosting import GradientBoosting
from swftools.qbets.rivals.registry import Course, Model, Rival, find_rival, list_rivals, register_rival

__all__ = [
    "COLUMNS",
    "Conformal",
    "ConformalGradientBoosting",
    "Course",
    "GradientBoosting",
    "Model",
    "Rival",
    "features_at_submission",
    "find_rival",
    "list_rivals",
    "register_rival",
]
