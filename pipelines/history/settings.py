# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a re-evaluation: ``reevaluate.yaml``, each key with its default, checked with line numbers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, Strict
from pydantic.dataclasses import dataclass

from pipelines.catalog.cards import Count, Name, Positive, Text
from pipelines.logs.find import catalog_in_use
from pipelines.logs.how_read import HowRead
from pipelines.tasks.parameters import AugmentParameter, MethodsParameter, ParametersParameter
from pipelines.tasks.replay_predictor import ReplayOptionsParameter, groups_of
from pipelines.tasks.simulation_parameters import PoliciesParameter
from swftools.cleaning import resolve_rules
from swftools.errors import ParameterError
from swftools.parameters.problems import as_value_error, validated
from swftools.parameters.strict_yaml import read_yaml_file
from swftools.qbets.log_columns import METHOD as TOLD

_CLOSED = ConfigDict(extra="forbid")
_Share = Annotated[float, Field(gt=0, lt=1)]
_Factor = Annotated[float, Field(gt=0, lt=1e9)]
_Days = Annotated[float, Field(gt=0, le=36_500)]


def _check_policies(policies: tuple[Any, ...]) -> None:
    if policies:
        PoliciesParameter().normalize(list(policies))


def _check_methods(methods: tuple[str, ...]) -> None:
    """Refuse what is neither a bound nor a rival, nor what jobs were told at their submission."""
    others = [method for method in methods if method != TOLD]
    if others or methods != (TOLD,):
        MethodsParameter().normalize(others)


_Methods = Annotated[tuple[Text, ...], AfterValidator(as_value_error(_check_methods))]
_Groups = Annotated[str, AfterValidator(as_value_error(groups_of))]
_Options = Annotated[dict[str, Any], AfterValidator(as_value_error(ReplayOptionsParameter().normalize))]
_Policies = Annotated[tuple[Any, ...], AfterValidator(as_value_error(_check_policies))]
_Rules = Annotated[tuple[Any, ...], AfterValidator(as_value_error(lambda rules: resolve_rules(list(rules) or None)))]
_Card = Annotated[str, AfterValidator(as_value_error(lambda name: name and catalog_in_use().log(name)))]
_Format = Annotated[str, AfterValidator(as_value_error(lambda text: HowRead(text).checked()))]


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class LogSettings:
    """What the files are."""

    card: _Card = ""
    """Of the catalogue: its machine, terms, queue ranks and cleaning."""
    format: _Format = ""
    """With options, as slurm:time_zone=Europe/Berlin; default: the card's, or recognised."""
    processors: Annotated[int, Strict(), Field(ge=0, le=1 << 31)] = 0
    """Of the machine; 0: the card's, or the most that a file's header says."""
    anonymise: Text = "no"
    most_bytes: Annotated[int, Strict(), Field(ge=1, le=1 << 40)] = 1 << 29
    """Of new text in one file, which is held in memory: a file of more is left, as one that was made to fill it."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class WaitSettings:
    """Which predictions of waits are followed, and when that is told."""

    methods: _Methods = ("binomial",)
    """Bounds and rivals; batch-system: what jobs were told at their submission, where the files say it."""
    by: _Groups = "queue"
    options: _Options = field(default_factory=dict)
    """Of the replay, as quantile and training."""
    chance: _Share = 0.001
    """Probability that a right bound is found to cover too little."""
    widest: _Factor = 1e6
    """Tightness beyond which it is told."""
    least_jobs: Positive = 100
    """Waits of a queue in a period, below which nothing is told of it."""
    days: tuple[_Days, ...] = (1.0, 30.0)
    """Periods before the end of the history; the last one is watched."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class PolicySettings:
    """Which policies are replayed on the last days, and when that is told."""

    names: _Policies = ()
    days: _Days = 30.0
    warm_up_days: Annotated[float, Field(ge=0, le=36_500)] = 7.0
    seeds: Positive = 5
    shake: Count = 300
    """The longest time by which a submission is moved in the runs that say what noise is, s."""
    noises: _Factor = 2.0
    floor: Annotated[float, Field(ge=0, lt=1e9)] = 0.5
    """A measure is worse by more than so many times the noise, and by more than this share."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class DriftSettings:
    """How the workload of the last days is compared with the time before."""

    days: Positive = 30
    reference_days: Positive = 365
    thresholds: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """By aspect and statistic; null: measured, never told."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class CleaningSettings:
    """How the records are cleaned, and when that is told."""

    rules: _Rules = ()
    """Default: the card's, or the default rules."""
    most_quarantined: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Share of the records of a month, or of the lines of a file."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class Settings:
    """All of them."""

    history: Name = "history"
    inbox: str = ""
    begins: date | None = None
    """Second 0 of the history, at midnight UTC; default: the first of January before its first job."""
    log: LogSettings = field(default_factory=LogSettings)
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)
    longest_gap: Annotated[float, Field(ge=31, le=36_500)] = 365.0
    """Days without a submission, behind which fewer than one job in a hundred is taken for wrongly dated, and told."""
    augment: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Augmentations by name, with their parameters."""
    refit: date | None = None
    """Augmentations of the whole trace are fitted to jobs submitted before it, as they are when it is set; default: to
    those of the version that first has the augmentation."""
    seed: Count = 0
    waits: WaitSettings = field(default_factory=WaitSettings)
    policies: PolicySettings = field(default_factory=PolicySettings)
    drift: DriftSettings = field(default_factory=DriftSettings)
    keep: Annotated[int, Strict(), Field(ge=0, le=1 << 31)] = 0
    """Newest versions that stay, beside tagged ones; 0: all."""
    report: Annotated[bool, Strict()] = False
    """Also write a report, VERSION.html beside the version."""
    on_finding: str = ""
    """Command that is run when something is found, with the findings as JSON on its standard input."""

    @property
    def plan(self) -> dict[str, Any]:
        """What determines a version, as JSON holds it."""
        plan: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self), default=str))
        for name in ("history", "inbox", "keep", "report", "on_finding"):
            del plan[name]
        return plan


def read_settings(path: str | Path | None, given: Mapping[str, Any] | None = None) -> Settings:
    """Read and check the settings of a re-evaluation.

    Parameters
    ----------
    path : str or Path, optional
        A file such as ``reevaluate.yaml``; by default all is as by default.
    given : mapping, optional
        What holds instead, such as ``inbox``; what is empty does not count.

    Raises
    ------
    ParameterError
        The file cannot be read or is not valid, and the message lists every problem with its line; or what was given
        instead is wrong.
    """
    content: Any = {}
    data = b""
    if path is not None:
        data, content = read_yaml_file(path, ParameterError, "check the path of the settings")
        if content is None:  # nothing but comments
            content = {}
        if not isinstance(content, dict):
            raise ParameterError(f"{path}: it must be a mapping such as history: NAME, see docs/histories.md")
    validated(Settings, str(path), data, content)
    whole = _with(content, given or {})
    settings = validated(Settings, "command line", b"", whole)
    _check_together(settings)
    return settings


def _with(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with what was given instead; what is empty was not."""
    whole = dict(content)
    for name, value in given.items():
        if isinstance(value, Mapping):
            inner = _with(whole.get(name) or {}, value)
            whole |= {name: inner} if inner else {}
        elif value:
            whole[name] = value
    return whole


def _check_together(settings: Settings) -> None:
    """Check what takes several keys, or what pydantic does not know."""
    HowRead(settings.log.format, settings.log.anonymise).checked()
    if settings.log.anonymise == "numbers":
        raise ParameterError(
            "log.anonymise: numbers differ from file to file; use hash, with a key in "
            "SWFTOOLS_ANONYMISE_KEY, so that a user is the same in all files"
        )
    AugmentParameter().normalize(list(settings.augment))
    ParametersParameter().normalize(settings.augment)
    if settings.waits.days and list(settings.waits.days) != sorted(settings.waits.days):
        raise ParameterError("waits.days: give the shortest first")


def settings_of(plan: Mapping[str, Any], history: str) -> Settings:
    """Return the settings that made a version, from the plan in its manifest."""
    return validated(Settings, f"manifest of {history}", b"", {**plan, "history": history})


def privacy_of(settings: Settings) -> dict[str, Any]:
    """Return what is told of names, and a fingerprint of the key by which they are hashed; nothing if all is told."""
    return HowRead(anonymise=settings.log.anonymise).key
