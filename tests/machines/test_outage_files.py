# SPDX-License-Identifier: BSD-3-Clause
"""When nodes were away, by files of batch systems: each format, and what is wrong with files."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from swftools.errors import ParameterError
from swftools.machines.description import MachineDescription, read_machine
from swftools.machines.events import read_outages
from swftools.machines.events.outages import outages_of
from swftools.machines.events.registry import FORMATS
from tests.folders import ROOT

SLURM = ROOT / "tests/machines/slurm"
NODES = [f"n{number:02d}" for number in range(1, 65)]

EVENTS = """\
Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
demo||2026-03-01T00:00:00|Unknown||Cluster Registered TRES|
demo|n[01-02]|2026-03-01T10:00:00|2026-03-01T12:00:00|DOWN*|fan|root(0)
demo|n03|2026-03-01T11:00:00|Unknown|DRAIN|a|b|root(0)
"""
SINFO = """\
2026-03-01T10:00:00Z
n[01-04]|idle|none
2026-03-01T10:05:00Z
n01|idle|none
n02|drained*|fan
n02|drained*|fan
n03|down|a|b
2026-03-01T10:10:00Z
n[01-03]|idle|none
n04|maint|none
"""
PBS = """\
2026-03-01T10:00:00Z
n01
     Mom = n01.site
     state = free
     resources_available.ncpus = 8

n[0]
     state = offline,job-busy
     comment = a fan

2026-03-01T10:05:00Z

n01
     state = down
     note = gone

n[0]
     state = job-busy
"""
JSON = """\
{"timestamp": 1772359200, "pbs_version": "22", "nodes": {"n01": {"state": "free"}, "n[0]":
 {"state": "offline,job-busy", "comment": "a fan"}}}
2026-03-01T10:05:00Z
{"timestamp": 1772359500, "pbs_version": "22", "nodes": {"n01": {"state": "down", "note": "gone"}, "n[0]":
 {"state": "job-busy"}}}
"""
CSV = """\
nodes,begin,end,kind,reason,users
"n[01,03]",0,2h,down,fan,
n02,100,,,,
n04,-5,50.5,reservation,course,ann bob

n03,2026-03-01 10:00,2026-03-01T11:00:00Z,drain,,
"""

TEXTS = {"sacctmgr": EVENTS, "sinfo": SINFO, "pbsnodes": PBS, "pbsnodes-json": JSON, "csv": CSV}
"""One of each format."""


def write(tmp_path: Path, text: str) -> Path:
    """Return the path of a file without a suffix that would say what it is."""
    path = tmp_path / "file"
    path.write_text(text)
    return path


def outages(path: Path, nodes: list[str] = NODES, **options: Any) -> list[tuple[Any, ...]]:
    """Return nodes, kind, begin, end and reason of each outage; None where one is not told."""
    found = read_outages(path, nodes, **options).outages
    return [tuple(each.get(key) for key in ("nodes", "kind", "begin", "end", "reason")) for each in found]


def test_events_of_slurm(tmp_path: Path) -> None:
    """By the local time of the batch system; whole clusters are left out; a reason may have bars in it."""
    path = write(tmp_path, EVENTS)
    expected = [
        ("n[01-02]", "down", "2026-03-01T09:00:00Z", "2026-03-01T11:00:00Z", "fan"),
        ("n03", "drain", "2026-03-01T10:00:00Z", None, "a|b"),
    ]
    assert outages(path, time_zone="Europe/Berlin") == expected
    assert outages(path, format="sacctmgr:time_zone=Europe/Berlin") == expected
    assert read_outages(path, NODES, time_zone="UTC").notes == ["left out: 1 event of a whole cluster"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.partition("\n")[2],  # -n
        lambda text: "".join(f"{line}|\n" for line in text.splitlines()),  # -p
        lambda text: "".join(f"{line}|\n" for line in text.splitlines()[1:]),
        lambda text: text.replace("TimeStart|TimeEnd", "Start|End"),
        lambda text: text + text.partition("\n")[0] + "\n",  # several outputs
    ],
)
def test_forms_of_events(tmp_path: Path, change: Any) -> None:
    """With and without the line of names, and bars at ends of lines."""
    usual = outages(write(tmp_path, EVENTS), time_zone="UTC")
    assert outages(write(tmp_path, change(EVENTS)), time_zone="UTC") == usual
    assert len(usual) == 2


def test_columns_of_events(tmp_path: Path) -> None:
    """Fewer, in another order."""
    text = "State|End|Start|NodeName\nDOWN|2026-03-01T12:00:00|2026-03-01T10:00:00|n01\n"
    assert outages(write(tmp_path, text), time_zone="UTC") == [
        ("n01", "down", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", None)
    ]


def test_events_of_several_clusters(tmp_path: Path) -> None:
    """Nodes of two may have one name."""
    path = write(tmp_path, EVENTS + "other|n01|2026-03-02T10:00:00|Unknown|DOWN|x|root(0)\n")
    with pytest.raises(ParameterError, match=r"clusters demo, other; say whose .* sacctmgr:cluster=demo"):
        outages(path, time_zone="UTC")
    (only,) = outages(path, time_zone="UTC", cluster="other")
    assert only[:3] == ("n01", "down", "2026-03-02T10:00:00Z")
    with pytest.raises(ParameterError, match="no event of cluster 'third'; it has: demo, other"):
        outages(path, time_zone="UTC", cluster="third")


def test_events_of_a_real_slurm() -> None:
    """What the commands did; n20 stayed down when it was drained too, which only StateRaw says."""
    found = outages(SLURM / "events.txt", time_zone="UTC")
    day = "2026-11-28T"
    assert found == [
        ("n[05-06]", "drain", f"{day}07:06:05Z", f"{day}07:06:46Z", 'dimm|B2 "bad'),
        ("n40", "drain", f"{day}07:06:05Z", f"{day}07:06:56Z", "disk2"),
        ("n20", "down", f"{day}07:06:05Z", f"{day}07:07:51Z", "disk"),
        ("n40", "drain", f"{day}07:06:56Z", None, "disk is replaced"),
        ("n41", "drain", f"{day}07:07:16Z", f"{day}07:07:21Z", "first"),
        ("n41", "drain", f"{day}07:07:21Z", None, "second"),
        ("n07", "drain", f"{day}07:07:47Z", None, "after the job"),
    ]


def test_samples_of_a_real_slurm() -> None:
    """Away from the first sample that says so; one that does not answer is there."""
    found = outages(SLURM / "sinfo_samples.txt")
    day = "2026-11-28T"
    assert found == [
        ("n07", "drain", f"{day}07:11:30Z", None, "after the job"),
        ("n40", "drain", f"{day}07:11:30Z", None, "disk is replaced"),
        ("n41", "drain", f"{day}07:11:30Z", None, "second"),
        ("n10", "drain", f"{day}07:11:32Z", f"{day}07:11:34Z", "fan"),
        ("n11", "drain", f"{day}07:11:32Z", None, "fan"),
        ("n12", "down", f"{day}07:11:34Z", None, "psu"),
    ]


def test_hour_that_is_repeated(tmp_path: Path) -> None:
    """At the end of summer time; an end is the later of two meanings if the earlier is before its begin."""
    row = "demo|n0{}|2026-10-25T{}|2026-10-25T{}|DOWN|x|\n"
    text = row.format(1, "02:10:00", "02:20:00") + row.format(2, "02:50:00", "02:20:00")
    text += row.format(3, "01:30:00", "02:20:00")
    assert [each[:1] + each[2:4] for each in outages(write(tmp_path, text), time_zone="Europe/Berlin")] == [
        ("n03", "2026-10-24T23:30:00Z", "2026-10-25T00:20:00Z"),
        ("n01", "2026-10-25T00:10:00Z", "2026-10-25T00:20:00Z"),
        ("n02", "2026-10-25T00:50:00Z", "2026-10-25T01:20:00Z"),
    ]


def test_samples_of_sinfo(tmp_path: Path) -> None:
    """From the first sample in which a node is away to the first in which it is back; who is not named stays so."""
    expected = [
        ("n03", "down", "2026-03-01T10:05:00Z", "2026-03-01T10:10:00Z", "a|b"),
        ("n02", "drain", "2026-03-01T10:05:00Z", "2026-03-01T10:10:00Z", "fan"),
        ("n04", "reservation", "2026-03-01T10:10:00Z", None, None),
    ]
    assert outages(write(tmp_path, SINFO)) == expected
    seconds = SINFO.replace("2026-03-01T10:00:00Z", "1772359200").replace("2026-03-01T10:05:00Z", "# 1772359500")
    assert outages(write(tmp_path, seconds)) == expected
    blanks = SINFO.replace("|none", "").replace("n02|drained*|fan", "n02   drained*  fan")
    assert outages(write(tmp_path, blanks)) == expected
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(SINFO.encode()))
    assert outages(path) == expected


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        *[
            (state, "")
            for state in ("idle", "ALLOCATED", "mixed-", "comp", "planned", "idle~", "idle*", "unk", "idle@")
        ],
        *[(state, "down") for state in ("down", "DOWN*", "down+drain", "idle^", "error")],
        *[(state, "drain") for state in ("drained", "drng", "drain*", "DRAINING", "fail", "failing", "inval")],
        *[(state, "reservation") for state in ("maint", "resv", "RESERVED", "idle$")],
    ],
)
def test_states_of_slurm(tmp_path: Path, state: str, kind: str) -> None:
    """Long, short, with marks, in any case."""
    found = outages(write(tmp_path, f"1772359200\nn01|{state}|none\n"))
    assert [each[1] for each in found] == [kind] * bool(kind)


@pytest.mark.parametrize("states", [["idle|none", "down|x"], ["down|x", "idle|none"]])
def test_node_of_two_lines(tmp_path: Path, states: list[str]) -> None:
    """One of several partitions may be named in each: away counts."""
    found = outages(write(tmp_path, "1772359200\n" + "".join(f"n01|{state}\n" for state in states)))
    assert [(each[1], each[4]) for each in found] == [("down", "x")]


def test_events_of_no_length(tmp_path: Path) -> None:
    """As Slurm has them of nodes that answer at once: no error, and told."""
    path = write(tmp_path, EVENTS + "demo|n20|2026-03-01T10:00:00|2026-03-01T10:00:00|DOWN|x|root(0)\n")
    found = read_outages(path, NODES, time_zone="UTC")
    assert len(found.outages) == 2
    assert found.notes == ["left out: 1 event of a whole cluster", "left out: 1 outage of no length"]


def test_states_that_nobody_knows(tmp_path: Path) -> None:
    """Those of a later Slurm: the nodes are there, and it is told."""
    path = write(tmp_path, "1772359200\nn01|idle|x\nn02|sleepy*|x\nn03|IDLE+DOZING|x\nn04|down+powered_down|x\n")
    found = read_outages(path, NODES)
    assert [each["nodes"] for each in found.outages] == ["n04"]
    assert found.notes == ["taken for there: nodes of states that are not known (sleepy*, IDLE+DOZING)"]


def test_changes_of_kind(tmp_path: Path) -> None:
    """A drained node that goes down is away twice, one after the other; a changed reason is no news."""
    states = ["idle", "drained|a", "drained|b", "down|b", "down|b", "idle", "down|c"]
    text = "".join(f"{1_772_359_200 + 60 * at}\nn01|{state}\n" for at, state in enumerate(states))
    assert [each[1:] for each in outages(write(tmp_path, text))] == [
        ("drain", "2026-03-01T10:01:00Z", "2026-03-01T10:03:00Z", "a"),
        ("down", "2026-03-01T10:03:00Z", "2026-03-01T10:05:00Z", "b"),
        ("down", "2026-03-01T10:06:00Z", None, "c"),
    ]


def test_samples_without_nodes(tmp_path: Path) -> None:
    """The batch system did not answer: no news."""
    text = "1772359200\nn01|down|x\n1772359260\n1772359320\nn01|idle|none\n"
    path = write(tmp_path, text)
    assert [each[2:4] for each in outages(path)] == [("2026-03-01T10:00:00Z", "2026-03-01T10:02:00Z")]
    assert read_outages(path, NODES).notes == ["1 sample without any node: taken for no news"]


@pytest.mark.parametrize("text", [PBS, JSON])
def test_samples_of_pbs(tmp_path: Path, text: str) -> None:
    """As text with times before, and as JSON, which has its own; names are as in descriptions of PBS's machines."""
    assert outages(write(tmp_path, text), ["n01", "n-0"]) == [
        ("n-0", "drain", "2026-03-01T10:00:00Z", "2026-03-01T10:05:00Z", "a fan"),
        ("n01", "down", "2026-03-01T10:05:00Z", None, "gone"),
    ]


@pytest.mark.parametrize(
    ("states", "kind"),
    [
        ("free", ""),
        ("job-exclusive,resv", ""),
        ("down,offline", "down"),
        ("Down", "down"),
        ("state-unknown,down", "down"),
        ("offline", "drain"),
        ("maintenance", "drain"),
        ("resv-exclusive", "reservation"),
    ],
)
def test_states_of_pbs(tmp_path: Path, states: str, kind: str) -> None:
    """Several at once: down counts first."""
    found = outages(write(tmp_path, f"1772359200\nn01\n    state = {states}\n    comment = x\n"))
    assert [(each[1], each[4]) for each in found] == [(kind, "x")] * bool(kind)


def test_words_of_pbs_and_torque(tmp_path: Path) -> None:
    """A comment of PBS is over a note of Torque."""
    text = "1772359200\nn01\n    state = down\n    note = a note\n"
    assert [each[4] for each in outages(write(tmp_path, text))] == ["a note"]
    assert [each[4] for each in outages(write(tmp_path, text + "    comment = a comment\n"))] == ["a comment"]


def test_table(tmp_path: Path) -> None:
    """In seconds of the log or with dates; empty cells are as by default."""
    path = write(tmp_path, CSV)
    assert outages(path, time_zone="Europe/Berlin") == [
        ("n03", "drain", "2026-03-01T09:00:00Z", "2026-03-01T11:00:00Z", None),
        ("n04", "reservation", -5.0, 50.5, "course"),
        ("n[01,03]", "down", 0.0, 7200.0, "fan"),
        ("n02", "down", 100.0, None, None),
    ]
    found = read_outages(path, NODES, time_zone="UTC").outages
    assert [each.get("users") for each in found] == [None, ["ann", "bob"], None, None]
    short = "Node,Start,End\nn01,5,6\n"
    assert outages(write(tmp_path, short)) == [("n01", "down", 5.0, 6.0, None)]


def test_what_is_known_before(tmp_path: Path) -> None:
    """Of drains that a batch system recorded nobody says that they were planned; of a table the column says it."""
    recorded = [(EVENTS, "UTC"), (SINFO, None), (PBS.replace("n[0]", "n02"), None)]
    for text, zone in recorded:
        found = read_outages(write(tmp_path, text), NODES, time_zone=zone).outages
        assert {each["kind"]: each.get("known") for each in found} | {"reservation": None} == {
            "down": None,
            "drain": False,
            "reservation": None,
        }
    text = "nodes,begin,kind,known\nn01,1,down,true\nn02,1,drain,No\nn03,1,down,1h\nn04,1,down,\n"
    text += "n05,1,down,1\nn06,1,drain,YES\n"
    found = read_outages(write(tmp_path, text), NODES).outages
    assert {each["nodes"]: each.get("known") for each in found} == {
        "n01": True,
        "n02": False,
        "n03": 3600.0,
        "n04": None,
        "n05": 1.0,
        "n06": True,
    }
    assert next(each["known"] for each in found if each["nodes"] == "n01") is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n", "file: the file is empty; give a file that tells when nodes were away"),
        ("NodeName=n1 CPUTot=4\n", "(?s)is in no format of outages that is known:.*pbsnodes .*sacctmgr .*sinfo .*csv "),
        (
            "   Cluster NodeName                  TimeStart             TimeEnd  State\n---------- -----\n",
            "cut words off; print it by sacctmgr -P",
        ),
        ("NodeName|TimeStart|State\n", "file, line 1: has no column timeend"),
        (EVENTS + "demo|n01|2026\n", "file, line 5: 'demo.n01.2026' has not the 7 columns"),
        (EVENTS + "demo|n0[1|2026-03-01T10:00:00|Unknown|DOWN|x|\n", "file, line 5: 'n0.1' is no list of hosts"),
        (
            EVENTS + "demo|n01|2026-13-01T10:00:00|Unknown|DOWN|x|\n",
            "line 5: '2026-13-01T10:00:00' is no date and time",
        ),
        (EVENTS + "demo|n01||Unknown|DOWN|x|\n", "line 5: '' is no date and time"),
        (EVENTS + "demo|n01|2026-03-01T10:00:00|later|DOWN|x|\n", "line 5: 'later' is no date and time"),
        (
            EVENTS + "demo|n01|2026-03-01T10:00:00|2026-03-01T09:59:59|DOWN|x|\n",
            "line 5: ends at 2026-03-01T09:59:59, before it begins at 2026-03-01T10:00:00; correct the line",
        ),
        (EVENTS + "demo|n65|2026-03-01T10:00:00|Unknown|DOWN|x|\n", "line 5: the machine has no node 'n65'; did you"),
        (EVENTS.replace("n[01-02]", "n[65-67]"), r"line 3: the machine has no node 'n65' \(2 others neither\)"),
        (SINFO + "what?\n", r"line 11: 'what\?' is not what sinfo"),
        (SINFO + "n[2|idle|x\n", "line 11: 'n.2' is no list of hosts"),
        (SINFO + SINFO, "line 11: is older than the sample before it; sort the samples"),
        ("n01|idle\n" + SINFO, "no format of outages"),
        ("2026-03-01T10:00:00Z\n     state = down\nn01\n     state = free\n", "line 2: 'state = down' is indented"),
        (JSON[:-5], "line 5: not readable as JSON: .*is the file whole"),
        (JSON + "[]", "line 6: should be a mapping"),
        (JSON.replace('"timestamp": 1772359500, ', ""), "line 4: the document has no timestamp"),
        (JSON.replace('"nodes"', '"hosts"'), "line 1: the document has no nodes"),
        (CSV + "n01,1\n,2,3\n", "line 8: an outage needs nodes and a begin"),
        (CSV + "n01,10,9\n", "line 7: ends at 9, before it begins at 10"),
        (CSV + "n01,10,2026-03-01T10:00:00Z\n", "line 7: begin and end are a date and seconds"),
        (CSV + "n01,10,11,gone\n", "line 7: no kind 'gone' of outages; there are: down, drain, reservation"),
        (CSV + "n01,10,11,down,x,ann\n", "line 7: users are of a reservation, and this is down"),
        (CSV + "n01,1,2,down,a,b,c\n", "line 7: has 7 cells for 6 columns"),
        ("nodes,begin,known\nn01,1,perhaps\n", "line 2: known is 'perhaps', and not true, false or a time of the log"),
        (CSV + "n01,soon,\n", "line 7: 'soon' is no date and time"),
        (CSV + "n9[,1,2\n", "line 7: 'n9.' is no list of hosts"),
        ("nodes,begin,ende\nn01,1,2\n", "line 1: no column 'ende'; there are: .*did you mean end"),
        ("nodes,begin,node\nn01,1,2\n", "line 1: a column is there twice"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    """By file and line, and what to do."""
    with pytest.raises(ParameterError, match=message):
        outages(write(tmp_path, text), time_zone="UTC")


@pytest.mark.parametrize(
    ("text", "line"), [(EVENTS, 3), (SINFO.replace("Z", ""), 1), (CSV, 6), (PBS.replace("00Z", "00"), 1)]
)
def test_times_without_a_zone(tmp_path: Path, text: str, line: int) -> None:
    """They need one, and the message says how it is given."""
    with pytest.raises(ParameterError, match=rf"file, line {line}: '2026.*' does not say .*:time_zone=Europe/Berlin"):
        outages(write(tmp_path, text))


def test_hour_that_is_skipped(tmp_path: Path) -> None:
    """The zone has no such time."""
    text = "demo|n01|2026-03-29T02:30:00|Unknown|DOWN|x|\n"
    with pytest.raises(ParameterError, match="line 1: '2026-03-29T02:30:00' is no time of Europe/Berlin, which skips"):
        outages(write(tmp_path, text), time_zone="Europe/Berlin")


def test_files_that_are_none(tmp_path: Path) -> None:
    """Missing, or no text."""
    with pytest.raises(ParameterError, match=r"gone: No such file.*; give the path of a file that tells when"):
        outages(tmp_path / "gone")
    path = tmp_path / "file"
    path.write_bytes(b"nodes,begin\n\xff\n")
    with pytest.raises(ParameterError, match="line 2: is no text in UTF-8"):
        outages(path)


def test_options_that_are_wrong(tmp_path: Path) -> None:
    """Of formats and by their names."""
    path = write(tmp_path, SINFO)
    with pytest.raises(ParameterError, match=r"no format of outages 'sinfos'; there are: .*did you mean sinfo"):
        outages(path, format="sinfos")
    with pytest.raises(ParameterError, match=r"sinfo: unknown parameters \['cluster'\]"):
        outages(path, cluster="demo")
    with pytest.raises(ParameterError, match="time_zone='Berlin' is not a zone"):
        outages(path, time_zone="Berlin")


def test_each_is_recognised_alone() -> None:
    """Every sample looks like one format."""
    assert set(TEXTS) == set(FORMATS.list())
    for name, text in TEXTS.items():
        assert [each for each, form in FORMATS.list().items() if form.recognise(text).fits] == [name]


@pytest.mark.parametrize("name", list(TEXTS))
def test_damage(name: str) -> None:
    """Whatever happens to a text, it is read, or refused by a sentence with the name of the file."""
    draw = random.Random(name)
    told: list[str] = []
    for _ in range(300):
        letters = list(TEXTS[name])
        for _ in range(draw.randint(1, 3)):
            place, length = draw.randrange(len(letters)), draw.randint(1, 12)
            piece = letters[place : place + length] if draw.random() < 0.3 else [draw.choice('|\n,[]-: 09T=nZ{}"#@*é٣')]
            letters[place : place + length * draw.randint(0, 1)] = piece * draw.randint(0, 2)
        try:
            events = FORMATS.find(name)(time_zone="Europe/Berlin").read("".join(letters), "file").events
        except ParameterError as error:
            told.append(str(error))
        else:
            outages_of(events)
    assert 0 < len(told) < 300
    assert all("file" in each for each in told)


def test_unknown_nodes_that_are_left_out(tmp_path: Path) -> None:
    """Those that are no longer there."""
    found = read_outages(write(tmp_path, CSV), ["n01", "n02"], time_zone="UTC", unknown="skip")
    assert [each["nodes"] for each in found.outages] == ["n01", "n02"]
    assert found.notes == ["left out: 3 outages of nodes that are not there: n03, n04"]


def test_machine_with_outages(tmp_path: Path) -> None:
    """Beside those that it has; it is written and read back as it is."""
    machine = MachineDescription.from_mapping(
        {"nodes": [{"names": "n[01-64]", "cores": 4}], "outages": [{"nodes": "n64", "begin": 5}], "notes": "by hand"}
    )
    found = machine.with_outages(write(tmp_path, EVENTS), time_zone="UTC")
    assert [each.nodes for each in found.outages] == [("n64",), ("n[01-02]",), ("n03",)]
    assert found.notes == ("by hand", "left out: 1 event of a whole cluster")
    assert found.outages[1].reason == "fan"
    assert len(machine.outages) == 1
    path = tmp_path / "site.yaml"
    path.write_text(found.to_yaml())
    assert read_machine(path) == found
