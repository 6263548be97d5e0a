# SPDX-License-Identifier: BSD-3-Clause
"""The columns of experiments: their cells' metrics, differences from a baseline, ranks over logs."""

from __future__ import annotations

from dataclasses import replace

from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field
from swftools.fields.schedules import METRICS, SEED
from swftools.parameters.run_option_table import ALWAYS, RUN_OPTIONS, RunOption

_STAGE = "experiment"


def _word(name: str, meaning: str) -> Field:
    """Return a column of words."""
    return Field(name, STRING, "1", meaning, NEVER, stage=_STAGE, known="never")


def _value(name: str, meaning: str, missing: str = NEVER, unit: str = "column unit") -> Field:
    """Return a column of values."""
    return Field(name, FLOAT64, unit, meaning, missing, stage=_STAGE, known="never")


def _count(name: str, meaning: str, unit: str = "1") -> Field:
    """Return a column of whole numbers."""
    return Field(name, INT64, unit, meaning, NEVER, stage=_STAGE, minimum=0, known="never")


def _option(option: RunOption) -> Field:
    """Return the column of an option of a run; one that came later is in a file only where it counts in some cell."""
    kind = {str: STRING, int: INT64, float: FLOAT64, bool: BOOL}[option.type]
    return replace(_word(option.name, option.column), type=kind, optional=option.in_key != ALWAYS)


_LOG = _word("log", "Name of the log.")
_OPTIONS = (
    _value("load", "Offered load that submissions are scaled to; 0 is the log's own.", unit="1"),
    _word("window", "Jobs that were simulated and measured, as JSON of select_jobs; empty: all."),
    _count("processors", "Processors of the machine; 0 is the log's own.", "processors"),
    *(_option(each) for each in RUN_OPTIONS.values() if not each.is_repetition),
)
_SHAKE = _count("shake", "Seed by which submissions are shaken; 0: they are not.")
_MEASURE = (
    _word("measure", "Measure and statistic, such as wait_mean."),
    _word("policy", "Policy with its parameters."),
)

EXPERIMENT = (_LOG, *_OPTIONS, _SHAKE, SEED, *METRICS)

EXPERIMENT_DIFFERENCES = (
    _LOG,
    *_OPTIONS,
    *_MEASURE,
    _word("unit", "Unit of the values."),
    _word("baseline", "Policy that it is compared with."),
    _count("pairs", "Repetitions (seeds and shakes) that both policies have a value of."),
    _value("mean", "Mean over the repetitions."),
    _value("baseline_mean", "Mean of the baseline over the same repetitions."),
    _value("difference", "mean - baseline_mean."),
    _value("low", "Lower end of the 95 % interval of the difference (bootstrap, BCa).", "null: fewer than two pairs"),
    _value("high", "Upper end of it.", "null: fewer than two pairs"),
    _value("p_value", "Of Fisher's test by signs turned round, two-sided.", unit="1"),
    _value("adjusted_p_value", "The same, adjusted for the number of comparisons of the measure (Holm).", unit="1"),
    Field(
        "is_told_apart",
        BOOL,
        "1",
        "The difference is more than noise: adjusted_p_value <= 0.05.",
        NEVER,
        stage=_STAGE,
        known="never",
    ),
)

EXPERIMENT_RANKS = (
    *_OPTIONS,
    *_MEASURE,
    _count("logs", "Logs that it was ranked on."),
    _value("mean_rank", "Mean rank over the logs; 1 is best.", unit="1"),
    _value("p_value", "Of Friedman's test: that all policies are alike.", "null: too few logs or policies", "1"),
    _value(
        "critical_difference", "Mean ranks further apart differ (Nemenyi, 5 %).", "null: too few logs or policies", "1"
    ),
)
