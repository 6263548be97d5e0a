# SPDX-License-Identifier: BSD-3-Clause
"""Cleaning: named rules that keep, repair, flag, merge or quarantine jobs, and an account of every one.

A rule returns a ``Decision`` (``rules.py`` has ours); ``apply.py`` carries it out and keeps the books.
"""

import swftools.cleaning.rules  # noqa: F401 (imported for what it registers)
from swftools.cleaning.apply import CleaningReport, clean
from swftools.cleaning.decisions import FLAGS, Decision
from swftools.cleaning.flurries import propose_flurries
from swftools.cleaning.registry import DEFAULT_RULES, Rule, RuleSpec, cleaning_rule, list_rules, resolve_rules

__all__ = [
    "DEFAULT_RULES",
    "FLAGS",
    "CleaningReport",
    "Decision",
    "Rule",
    "RuleSpec",
    "clean",
    "cleaning_rule",
    "list_rules",
    "propose_flurries",
    "resolve_rules",
]
