# SPDX-License-Identifier: BSD-3-Clause
"""Failures by a model: their means and shapes are those asked for, and each node has its own."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from swftools import MachineDescription
from swftools.errors import ParameterError
from swftools.machines.failures import NodeFailures, draw_failures, failures_of
from swftools.machines.node_table import NodeTable

DAY = 86_400.0

MODEL = NodeFailures(mtbf=10 * DAY, repair=6 * 3600.0, seed=3)


def table(count: int, first: int = 1) -> NodeTable:
    """Return nodes whose names begin with a number."""
    nodes = [{"names": f"n[{first}-{first + count - 1}]", "cores": 4}]
    return MachineDescription.from_mapping({"nodes": nodes}).table()


def test_a_node_keeps_its_failures() -> None:
    """Whichever others there are, and however long is drawn; another seed draws others."""
    names = [f"n{number}" for number in range(5)]
    found = list(failures_of(names, MODEL, 0.0, 200 * DAY))
    assert len({tuple(times) for times in found}) == len(names)
    assert [*failures_of(names[3:], MODEL, 0.0, 200 * DAY)] == found[3:]
    for long, short in zip(found, failures_of(names, MODEL, 0.0, 90 * DAY), strict=True):
        assert short == [times for times in long if times[0] < 90 * DAY]
        assert short
    assert [*failures_of(names, NodeFailures(mtbf=10 * DAY, repair=6 * 3600.0, seed=4), 0.0, 200 * DAY)] != found


def test_times_follow_the_distributions() -> None:
    """Times between failures a Weibull distribution, repairs a lognormal one, with the means that are asked for."""
    names = [f"n{number}" for number in range(60)]
    found = [np.array(times) for times in failures_of(names, MODEL, 0.0, 4000 * DAY)]
    up = np.concatenate([times[1:, 0] - times[:-1, 1] for times in found])
    repair = np.concatenate([times[:, 1] - times[:, 0] for times in found])
    # Long times between failures are cut at the end of what is drawn: of 400 mean times that is less than a percent.
    assert np.mean(up) == pytest.approx(10 * DAY, rel=0.05)
    assert np.mean(repair) == pytest.approx(6 * 3600, rel=0.05)
    logs = np.log(repair)
    assert np.std(logs) == pytest.approx(1.0, abs=0.03)
    assert stats.skew(logs) == pytest.approx(0.0, abs=0.1)
    scale = 10 * DAY / math.gamma(1 + 1 / 0.75)
    early = np.mean(up < scale / 10)
    assert early == pytest.approx(1 - math.exp(-(0.1**0.75)), rel=0.08)


def test_as_many_fail_at_first_as_later() -> None:
    """Nodes are not new when a log begins: the first tenth of the time has a tenth of the failures."""
    names = [f"n{number}" for number in range(2000)]
    begins = np.concatenate([np.array(times)[:, 0] for times in failures_of(names, MODEL, 0.0, 20 * DAY) if times])
    counts, _ = np.histogram(begins, bins=10, range=(0.0, 20 * DAY))
    assert len(begins) == pytest.approx(2000 * 20 / 10.25, rel=0.06)
    assert (np.abs(counts - len(begins) / 10) < 4.5 * math.sqrt(len(begins) / 10)).all()


def test_without_spread_all_repairs_take_as_long() -> None:
    """In whole seconds, from the second at which failures begin to be drawn."""
    found = next(iter(failures_of(["n"], NodeFailures(mtbf=DAY, repair=100.0, spread=0.0), 50.0, 30 * DAY)))
    assert {back - down for down, back in found} == {100.0}
    assert all(down == int(down) >= 50 for down, _ in found)
    assert all(later[0] > earlier[1] for earlier, later in itertools.pairwise(found))


def test_a_machine_with_failures() -> None:
    """They stand beside its other outages, as surprises that take the nodes down."""
    machine = MachineDescription.from_mapping(
        {"nodes": [{"names": "n[1-9]", "cores": 4}], "outages": [{"nodes": "n1", "begin": 5, "kind": "drain"}]}
    )
    failing = draw_failures(machine.table(), MODEL, until=60 * DAY)
    assert failing.names == machine.table().names
    assert failing.outages.kind.tolist() == [1, *[0] * (len(failing.outages) - 1)]
    assert np.isinf(failing.outages.known).all()
    assert (failing.outages.known[1:] > 0).all()
    by_text = machine.changed(["failures: mtbf=10d,repair=6h,seed=3,for=60d"]).table().outages
    for name in ("node", "begin", "end", "kind", "known", "who"):
        assert getattr(by_text, name).tolist() == getattr(failing.outages, name).tolist()
    assert len(draw_failures(table(3), MODEL, until=1.0).outages) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("failures: mtbf=10d,for=3d", "lacks repair; write it as failures: mtbf=90d,repair=6h,for=30d"),
        ("failures: mtbf=0,repair=6h,for=3d", "mtbf=0 is no time above 0 such as"),
        ("failures: mtbf=soon,repair=6h,for=3d", "mtbf=soon is no time above 0 such as"),
        ("failures: mtbf=1,repair=1,for=300d", "would be 51,840,000 failures of 4 nodes; at most 1,000,000 are drawn"),
        ("failures: mtbf=1d,repair=6h,for=3d,shap=1", "did you mean shape"),
        ("failures: mtbf=1d,repair=6h,for=3d,shape=0", "shape=0"),
    ],
)
def test_what_is_refused(change: str, message: str) -> None:
    """In one sentence that names the change."""
    machine = MachineDescription.from_mapping({"nodes": [{"names": "n[1-4]", "cores": 4}]})
    with pytest.raises(ParameterError) as caught:
        machine.changed([change])
    assert f"change {change!r}: " in str(caught.value)
    assert message in str(caught.value)
