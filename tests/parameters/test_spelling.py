# SPDX-License-Identifier: BSD-3-Clause
"""Names as people type them: case does not matter, and _ and - are one; what is kept is the registered name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pipelines.tasks.augmentations  # noqa: F401 (registers them)
from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.logs.how_read import HowRead
from pipelines.tasks.parameters import AugmentParameter, MethodsParameter, ParametersParameter, RulesParameter
from pipelines.tasks.simulation_parameters import (
    PoliciesParameter,
    PredictorParameter,
    parameter_of,
)
from swftools import plots
from swftools.cleaning import resolve_rules
from swftools.drift.registry import find_drift_statistic
from swftools.errors import ParameterError
from swftools.formats.registry import find_format
from swftools.market import find_mechanism
from swftools.parameters.own_files import registered_here
from swftools.parameters.run_option_table import RUN_OPTIONS
from swftools.parameters.spelling import as_known, did_you_mean
from swftools.qbets.methods import find_method
from swftools.simulator import find_policy, find_predictor, simulate
from swftools.simulator.search.objectives import read_objective
from swftools.trace import Trace
from tests.drawn import draw_trace

OWN = """
from swftools.simulator import policy, predictor
import swftools.simulator as sim

@policy("Wfp_3")
def wfp3(machine):
    pass

@sim.python_policy(name="second")
def second(simulation):
    pass

@predictor("guess")
def guess(event, machine, job):
    pass

@policy(f"not-{policy}")
def third(machine):
    pass
"""

NORMALIZED: list[tuple[Callable[[str], object], str, str]] = [
    (PoliciesParameter().normalize, "fcfs,easy:reservations=2", "FCFS,Easy:reservations=2"),
    (PoliciesParameter().normalize, "easy:backfill_order=sjf", "easy:backfill_order=SJF"),
    (PoliciesParameter().normalize, '["conservative-fixed"]', '["Conservative_Fixed"]'),
    (PoliciesParameter().normalize, '[{"policy": "easy"}]', '[{"policy": "EASY"}]'),
    (
        PoliciesParameter().normalize,
        "search:objective=lexical(T_w(5h) -> avgX)",
        "Search:objective=Lexical(t_W(5h)->AVGX)",
    ),
    (PredictorParameter().normalize, "user-average", "User_Average"),
    (PredictorParameter().normalize, "virtual:error=0.3", "VIRTUAL:error=0.3"),
    (parameter_of(RUN_OPTIONS["requests"]).normalize, "factor:factor=2", "Factor:factor=2"),
    (parameter_of(RUN_OPTIONS["restart_overhead"]).normalize, "uniform:per_processor=0.1", "UNIFORM:per_processor=0.1"),
    (RulesParameter().normalize, "default,never-started:action=quarantine", "Default,Never_Started:action=quarantine"),
    (RulesParameter().normalize, '["duplicates",{"rule":"cancelled"}]', '["Duplicates",{"rule":"CANCELLED"}]'),
    (MethodsParameter().normalize, "binomial,lognormal", "Binomial,LogNormal"),
    (MethodsParameter().normalize, '["binomial:confidence=0.9"]', '["BINOMIAL:confidence=0.9"]'),
    (AugmentParameter().normalize, "utility,arrivals", "Arrivals,UTILITY"),
    (ParametersParameter().normalize, '{"utility": {"globmax": 2}}', '{"Utility": {"globmax": 2}}'),
    (find_log, "lublin-feitelson:jobs=50", "Lublin_Feitelson:jobs=50"),
    (find_log, SHIPPED_LOG, SHIPPED_LOG.lower()),
    (HowRead, "slurm:time_zone=Europe/Berlin", "Slurm:time_zone=Europe/Berlin"),
    (find_format, "loadleveler", "LoadLeveler"),
    (find_policy, "pv-easy", "PV_Easy"),
    (find_predictor, "last-model", "Last_Model"),
    (find_drift_statistic, "total_variation", "Total-Variation"),
    (find_mechanism, "fixed:rate=2", "Fixed:rate=2"),
    (find_method, "gradient-boosting", "Gradient_Boosting"),
    (read_objective, "strict-tradeoff-a(avgW:avgX)", "Strict-Tradeoff-A(avgw:AVGX)"),
    (lambda name: resolve_rules([name]), "never-started", "Never_Started"),
    (lambda name: plots.find_picture(Trace.from_columns(), name).name, "arrivals", "Arrivals"),
]


@pytest.mark.parametrize(("resolve", "name", "typed"), NORMALIZED)
def test_what_is_typed_is_the_registered_name(resolve: Callable[[str], object], name: str, typed: str) -> None:
    """Keys, published names and colours are made of what comes out here."""
    assert repr(resolve(name)) == repr(resolve(typed))


def test_an_exact_name_goes_first_and_two_that_are_alike_are_told() -> None:
    """Names that are registered already stay as they are."""
    known = ["mine-1", "Mine_1", "other"]
    assert ["Mine_1", "MINE-1", "other"] == [as_known(name, known) for name in ("Mine_1", "MINE-1", "OTHER")]
    assert "; did you mean mine-1, Mine_1?" == did_you_mean(["MINE-1"], known)
    assert "" == did_you_mean(["zzz"], known)


@pytest.mark.parametrize(
    ("find", "name", "near"),
    [
        (find_policy, "eazy", "easy"),
        (find_policy, "EAZY", "easy"),
        (find_policy, "conservativ", "conservative"),
        (find_predictor, "LastModel", "last-model"),
        (find_format, "SLRUM", "slurm"),
        (find_method, "binomal", "binomial"),
        (lambda name: plots.find_picture(Trace.from_columns(), name), "arivals", "arrivals"),
    ],
)
def test_near_misses(find: Callable[[str], object], name: str, near: str) -> None:
    """The one that is nearest, whatever the case."""
    with pytest.raises(ParameterError, match=rf"did you mean {near}\?$"):
        find(name)


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of somebody's in the current folder; its name, which no other test imports."""
    (tmp_path / "wfp_here.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    (tmp_path / "not a module.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "wfp_here"


@pytest.mark.parametrize("typed", ["wfp_here", "wfp_here.py", "WFP-here"])
def test_a_file_beside(beside: str, typed: str) -> None:
    """It says what to write, and runs nothing of the file."""
    with pytest.raises(ParameterError, match=r"did you mean wfp_here:Wfp_3, wfp_here:second\?$"):
        find_policy(typed)
    with pytest.raises(ParameterError, match=r"did you mean wfp_here:guess\?$"):
        find_predictor(typed)
    assert beside not in sys.modules


@pytest.mark.parametrize(("size", "found"), [(1 << 20, ["long:own"]), ((1 << 20) + 1, [])])
def test_a_file_above_a_mebibyte_is_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, found: list[str]
) -> None:
    """It is no module that somebody wrote, and reading it takes seconds."""
    monkeypatch.chdir(tmp_path)
    text = "@policy('own')\ndef own(): ...\n#"
    Path("long.py").write_text(text.ljust(size, "-"))
    assert found == registered_here("own", ("policy",))


@pytest.mark.parametrize("typed", ["wfp-3", "wfp_here.py:wfp3"])
def test_what_a_file_beside_registers(beside: str, typed: str) -> None:
    """By the name that it registers, and with the file in place of the module."""
    assert ["wfp_here:Wfp_3"] == registered_here("wfp-3", ("policy",))
    with pytest.raises(ParameterError, match=r"did you mean wfp_here:Wfp_3"):
        find_policy(typed)
    assert beside not in sys.modules


def test_a_module_that_registers_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own names are told; a name within a module may be spelled otherwise, too."""
    text = "from swftools.simulator import policy\n\n@policy('spelled-here')\ndef one(machine):\n    pass\n"
    (tmp_path / "a_module_of_spelling.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ParameterError, match=r"did you mean a_module_of_spelling:spelled-here\?$"):
        find_policy("a_module_of_spelling:a_module_of_spelling")
    said = PoliciesParameter().normalize("a_module_of_spelling:Spelled_Here")
    assert '[{"policy":"a_module_of_spelling:spelled-here"}]' == said


def test_schedules_bear_the_registered_name() -> None:
    """So colours and tables are those of easy."""
    assert "easy" == simulate(draw_trace("submit run width / 0 5 1"), "EASY", 2, compiled=False).policy
