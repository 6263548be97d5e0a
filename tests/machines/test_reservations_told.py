# SPDX-License-Identifier: BSD-3-Clause
"""Reservations as Slurm's commands print them."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import ParameterError
from swftools.machines.reservations_told import read_reservations

NODES = [f"n{number:02}" for number in range(1, 9)]

SHOWN = """ReservationName=maint StartTime=2026-11-26T00:29:59 EndTime=2026-11-26T00:31:59 Duration=00:02:00
   Nodes=n[03-05] NodeCnt=3 CoreCnt=48 Features=(null) PartitionName=(null) Flags=MAINT,IGNORE_JOBS,SPEC_NODES
   TRES=cpu=48
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)

ReservationName=course StartTime=2026-11-27T08:00:00 EndTime=2026-11-27T09:00:00 Duration=01:00:00
   Nodes=n01 NodeCnt=1 CoreCnt=16 Features=(null) PartitionName=batch Flags=WEEKLY,FLEX
   TRES=cpu=16
   Users=ann,-eve,bob Groups=physics Accounts=phys,-bio Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)

ReservationName=licences StartTime=2026-11-27T08:00:00 EndTime=2026-11-27T09:00:00 Duration=01:00:00
   Nodes=(null) NodeCnt=0 CoreCnt=0 Features=(null) PartitionName=(null) Flags=LICENSE_ONLY
   TRES=(null)
   Users=root Groups=(null) Accounts=(null) Licenses=matlab:3 State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)
"""

LISTED = """Cluster|Name|NodeNames|Start|End|Flags
demo|maint|n[03-05]|2026-11-26T00:29:59|2026-11-26T00:31:59|MAINT,IGNORE_JOBS
demo|open|n08|2026-11-26T00:40:00|Unknown|
"""


def found(tmp_path: Path, text: str, **options: str) -> tuple[list[tuple[object, ...]], tuple[str, ...]]:
    """Return what is read of a text."""
    path = tmp_path / "reservations.txt"
    path.write_text(text)
    read = read_reservations(path, NODES, **{"time_zone": "UTC", **options})
    rows = [(*each.nodes, each.begin, each.end, each.kind, each.users, each.accounts) for each in read.outages]
    return rows, read.notes


def test_as_scontrol_shows_them(tmp_path: Path) -> None:
    """Nodes, times and who may use them; what is not simulated is named, one without nodes is left out."""
    maint = ("n[03-05]", "2026-11-26T00:29:59Z", "2026-11-26T00:31:59Z", "reservation", ("root",), ())
    course = ("n01", "2026-11-27T08:00:00Z", "2026-11-27T09:00:00Z", "reservation", ("ann", "bob"), ("phys",))
    notes = (
        "left out: reservation licences, which has no nodes of its own",
        "not simulated of reservation course: WEEKLY, FLEX, groups physics, -eve who may not use it, "
        "-bio who may not use it",
    )
    assert found(tmp_path, SHOWN) == ([maint, course], notes)
    in_one_line = "\n".join(" ".join(part.split()) for part in SHOWN.split("\n\n"))
    assert found(tmp_path, in_one_line)[0] == [maint, course]


def test_as_sacctmgr_lists_them(tmp_path: Path) -> None:
    """Nobody may use them, as it is not told; an end that is unknown never comes; times are in the zone."""
    rows, notes = found(tmp_path, LISTED, time_zone="Europe/Berlin")
    assert rows == [
        ("n[03-05]", "2026-11-25T23:29:59Z", "2026-11-25T23:31:59Z", "reservation", (), ()),
        ("n08", "2026-11-25T23:40:00Z", None, "reservation", (), ()),
    ]
    assert notes == ()


def test_none(tmp_path: Path) -> None:
    """There may be no reservations."""
    assert found(tmp_path, "No reservations in the system\n") == ([], ())
    assert found(tmp_path, "Name|NodeNames|TimeStart|TimeEnd\n") == ([], ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SHOWN.replace("n[03-05]", "n[03-09]"), "line 1: the machine has no node 'n09'"),
        (LISTED.replace("n08", "n0["), "line 3: "),
        (
            "Name|Start|End\n",
            "line 1: has no column nodenames of reservations; print it by sacctmgr -P list reservation",
        ),
        (LISTED + "demo|short\n", "line 4: 'demo|short' has not the 6 columns"),
        (LISTED.replace("T00:31:59", "T00:29:58"), "line 2: ends at 2026-11-26T00:29:58, before it begins"),
        (LISTED.replace("2026-11-26T00:40:00", "soon"), "line 3"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Unknown nodes, lines that are not as they should be, wrong times: by file and line."""
    with pytest.raises(ParameterError) as error:
        found(tmp_path, text)
    assert message in str(error.value)
    assert "reservations.txt" in str(error.value)
