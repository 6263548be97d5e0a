# SPDX-License-Identifier: BSD-3-Clause
"""What data sets are called: by the file or the model that the log is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.logs.find import find_log
from pipelines.logs.names import LONGEST, name_of_file, name_of_model
from pipelines.names import is_name
from pipelines.tasks.build import BuildAugmentedTrace
from swftools.errors import UnsafeNameError
from swftools.models.cirne_berman import CirneBermanParameters
from swftools.models.lublin_feitelson import LublinFeitelsonParameters


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("KTH-SP2-1996-2.1-cln.swf.gz", "KTH-SP2-1996-2.1-cln"),
        ("my log.SWF.XZ", "my-log"),
        ("Zürich.swf", "Zurich"),
        ("журнал.swf", "zhurnal"),
        ("日志.swf.zst", "RiZhi"),
        ("..odd..name.swf", "odd.name"),
    ],
)
def test_a_file_is_called_in_safe_letters(file: str, name: str) -> None:
    """Other alphabets are transliterated, not thrown away."""
    assert name == name_of_file(Path(file))


@pytest.mark.parametrize(
    "file", [".swf", "---.swf", "\u200b.swf", "\ud800.swf", f"{'x' * 246}.swf", f"{'x' * 300}.swf", f"{'й' * 200}.swf"]
)
def test_every_file_has_a_name_of_its_own(file: str) -> None:
    """Nothing but signs, or far too many letters: the name is safe, and another file has another."""
    other = Path(f"a{file}") if "x" not in file and "й" not in file else Path(file.replace(".swf", "y.swf"))
    name = name_of_file(Path(file))
    assert is_name(name)
    assert len(name) <= LONGEST
    assert name != name_of_file(other)


@pytest.mark.parametrize("file", ["latest.swf", "catalog.yaml.swf", "manifest.json.swf"])
def test_a_name_that_the_store_uses_is_refused_with_the_remedy(file: str) -> None:
    """Before anything is read."""
    with pytest.raises(UnsafeNameError, match=r"comes from the name of the log: give another by --data-set NAME"):
        _ = BuildAugmentedTrace(log=file, data_root="data", augment="").data_set_name


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({}, "lublin-feitelson"),
        ({"jobs": 10_000}, "lublin-feitelson"),
        ({"jobs": 500, "load": 0.8, "seed": 3}, "lublin-feitelson-jobs500-seed3-load0.8"),
        ({"overrides": {"all": {"u_med": 4.5}}}, "lublin-feitelson-overrides.all.u_med4.5"),
    ],
)
def test_a_model_is_called_by_what_is_not_default(parameters: dict[str, Any], name: str) -> None:
    """The parameters in their order, those within a mapping by a dot."""
    assert name == name_of_model(LublinFeitelsonParameters.from_mapping(parameters))


def test_a_name_that_would_be_too_long_ends_in_a_hash() -> None:
    """And still tells two models apart."""
    batch = {f"{name}": 0.5 for name in ("a1", "b1", "a2", "b2", "pa", "pb", "u_med", "serial_prob", "pow2_prob")}
    names = set()
    for seed in (1, 2):
        overrides = {"all": {**dict(list(batch.items())[:3]), "u_low": 0.123456789012345, "u_med": 4.5 + seed / 1e9}}
        model = LublinFeitelsonParameters.from_mapping({"jobs": 123_456_789, "seed": 2**63, "overrides": overrides})
        names.add(name_of_model(model))
    assert 2 == len(names)
    assert all(is_name(name) and len(name) <= LONGEST for name in names)


def test_find_log_calls_them_so() -> None:
    """A log that is a model, and one that is a file, have these names."""
    assert (
        "cirne-berman-jobs50" == find_log("cirne-berman:jobs=50").name == name_of_model(CirneBermanParameters(jobs=50))
    )
    assert "Zurich" == find_log("nowhere/Zürich.swf").name
