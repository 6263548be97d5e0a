# SPDX-License-Identifier: BSD-3-Clause
"""A stage whose output changes declares another version; ``golden.py`` says how."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swftools.simulator import list_policies
from tests import golden, golden_outputs
from tests.examples import by_day


def recorded() -> dict[str, Any]:
    """Return the golden digests."""
    return dict(json.loads(golden.GOLDEN.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "stage",
    [pytest.param(each, marks=pytest.mark.slow) if each in golden.SLOW else each for each in golden.OUTPUTS],
)
def test_output_moves_only_with_the_version(stage: str) -> None:
    """What a stage makes of the golden logs has the digest recorded for its version."""
    assert None is golden.complaint(stage, recorded()[stage], golden.entry_of(stage))


def test_every_stage_is_golden() -> None:
    """Every stage that declares a version has a golden output."""
    assert set(golden.VERSIONS) == set(recorded()) == set(golden.OUTPUTS) == set(golden.UPSTREAM)


def outputs(changed: str | None = None) -> Any:
    """Return stand-ins for the stages' outputs, one of them changed."""

    def output(stage: str) -> Iterator[Any]:
        yield [stage, "changed" if stage == changed else "as it was"]

    return {stage: lambda stage=stage: output(stage) for stage in golden.OUTPUTS}


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record small outputs in a file of their own."""
    path = tmp_path / "golden.json"
    monkeypatch.setattr(golden, "GOLDEN", path)
    monkeypatch.setattr(golden, "OUTPUTS", outputs())
    assert 0 == golden.main([])
    return path


@pytest.mark.parametrize("stage", by_day(list(golden.OUTPUTS), 20))
def test_a_change_without_a_version_is_told(record: Path, stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which version to raise and what to run; until then nothing is recorded."""
    before = record.read_text()
    monkeypatch.setattr(golden, "OUTPUTS", outputs(stage))
    message = golden.complaint(stage, recorded()[stage], golden.entry_of(stage))
    assert message is not None
    assert f"raise the {golden.VERSIONS[stage][0]}, then run python -m tests.golden" in message
    assert 1 == golden.main([])
    assert before == record.read_text()
    assert 0 == golden.main(["--force"])
    assert before != record.read_text()


def test_a_change_with_a_version_is_recorded(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the version raised the record is out of date, and then written, also of the stages that follow."""
    monkeypatch.setattr(golden, "OUTPUTS", outputs("clean"))
    where, version = golden.VERSIONS["clean"]
    monkeypatch.setitem(golden.VERSIONS, "clean", (where, version + 1))
    for stage, out_of_date in {"parse": False, "clean": True, "build": True}.items():
        message = golden.complaint(stage, recorded()[stage], golden.entry_of(stage))
        assert ("run python -m tests.golden" in (message or "")) == out_of_date
    assert 0 == golden.main([])
    assert version + 1 == recorded()["build"]["versions"]["clean"]


def test_a_policy_has_a_version_of_its_own(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schedules that change with it leave those of other policies as they are recorded."""
    where, version = golden.VERSIONS["policy sjf"]
    assert "version of sjf in swftools/simulator/policies/strict.py" == where
    assert list_policies()["sjf"].version == version
    monkeypatch.setattr(golden, "OUTPUTS", outputs("policy sjf"))
    monkeypatch.setitem(golden.VERSIONS, "policy sjf", (where, version + 1))
    told = {stage: golden.complaint(stage, recorded()[stage], golden.entry_of(stage)) for stage in golden.OUTPUTS}
    assert ["policy sjf"] == [stage for stage, message in told.items() if message]
    assert 0 == golden.main([])
    assert version + 1 == recorded()["policy sjf"]["versions"]["policy sjf"]


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (1 / 3, "0.333333333"),
        (1 / 3 + 1e-12, "0.333333333"),
        (1 / 3 + 1e-8, "0.333333343"),
        (float("nan"), None),
        ([{"time": 2.0}], [{"time": "2"}]),
        (7, 7),
    ],
)
def test_the_last_digits_do_not_count(value: Any, rounded: Any) -> None:
    """Numbers are compared to 9 significant digits, which all platforms agree on."""
    assert rounded == golden_outputs.plain(value)
