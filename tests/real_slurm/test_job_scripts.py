# SPDX-License-Identifier: BSD-3-Clause
"""Scripts are submitted to a real Slurm, held: accounting has what was recorded; it refuses what we refuse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swftools.job_scripts import read_job_script
from tests.job_scripts.scripts import REFUSED, SCRIPTS
from tests.job_scripts.submitted import PARTITIONS, recorded, rows_of_request, rows_of_slurm, submit
from tests.real_slurm.cluster import Slurm, running_slurm, what_is_missing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Another one, with more partitions, whose nodes are down."""
    if missing := what_is_missing():
        pytest.skip(missing)
    with running_slurm(tmp_path_factory.mktemp("slurm") / "own", PARTITIONS) as running:
        yield running


def test_accounting_has_what_scripts_request(slurm: Slurm) -> None:
    """ReqTRES, TimelimitRaw and Partition of each, and of each component; and what was recorded is still so."""
    rows = rows_of_slurm(slurm)
    assert rows == [row for rows_of_one in recorded().values() for row in rows_of_one]
    path = slurm.folder / "job.sh"
    for name, script in SCRIPTS.items():
        path.write_text(script.text)
        request = read_job_script(path, arguments=script.arguments, environment=script.environment)
        theirs = [row for row in rows if row.script == name]
        assert rows_of_request(name, request, theirs) == theirs


@pytest.mark.parametrize("name", REFUSED)
def test_sbatch_refuses_what_we_refuse(slurm: Slurm, name: str) -> None:
    """No job comes of it, and it says why."""
    told = submit(slurm, REFUSED[name][1])
    assert not told.isdecimal()
    assert "sbatch" in told
