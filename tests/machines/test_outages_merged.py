# SPDX-License-Identifier: BSD-3-Clause
"""Outages of single nodes put together: what is away when stays as it was, second by second."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.machines.description import MachineDescription
from swftools.machines.events.outages import outages_of
from swftools.machines.events.registry import Event
from swftools.machines.events.samples import Sample, State, events_of
from swftools.machines.hostlist import expand_hosts
from swftools.machines.outage_table import OutagesOfKind, largest, outage_rows, outages_by_kind

END = 40
"""Seconds that are looked at."""

Seconds = set[tuple[str, str, tuple[str, ...], bool, int]]


def event(node: str, begin: float, end: float | None, kind: str = "down", reason: str = "", line: int = 1) -> Event:
    """Return an outage at seconds of the log."""
    return Event(node, begin, end, kind, reason, line, is_dated=False)


def seconds_of(events: Iterable[Event]) -> Seconds:
    """Return each second in which a node is away: node, kind, users, whether it is dated, second."""
    return {
        (each.node, each.kind, each.users, each.is_dated, second)
        for each in events
        for second in range(int(each.begin), END if each.end is None else int(each.end))
    }


def single(outages: Iterable[dict[str, Any]]) -> list[Event]:
    """Return outages of a description node by node."""
    found = []
    for each in outages:
        rest = each["begin"], each.get("end"), each["kind"], each.get("reason", ""), 0, False
        found += [Event(node, *rest, tuple(each.get("users", ()))) for node in expand_hosts(each["nodes"])]
    return found


events = st.builds(
    lambda node, begin, length, kind, reason, users: Event(
        node,
        float(begin),
        None if length is None else float(begin + length),
        kind,
        reason,
        1,
        False,
        users if kind == "reservation" else (),
    ),
    st.sampled_from(["n1", "n2", "n10"]),
    st.integers(0, 20),
    st.none() | st.integers(0, 10),
    st.sampled_from(["down", "drain", "reservation"]),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from([(), ("ann",), ("ann", "bob")]),
)


@given(st.lists(events, max_size=12))
def test_seconds_stay(drawn: list[Event]) -> None:
    """Of each node and kind; and no two outages of one overlap."""
    found = single(outages_of(drawn)[0])
    assert seconds_of(found) == seconds_of(drawn)
    assert len(seconds_of(found)) == sum(len(seconds_of([each])) for each in found)


@given(st.lists(events, max_size=12))
def test_order_does_not_matter(drawn: list[Event]) -> None:
    """Files have the newest first, or last."""
    few = [each._replace(reason="") for each in drawn]
    assert outages_of(few)[0] == outages_of(few[::-1])[0]


@given(st.lists(events, max_size=12))
def test_again(drawn: list[Event]) -> None:
    """What is put together stays so."""
    once = outages_of(drawn)[0]
    again, notes = outages_of(single(once))
    assert (again, notes) == (once, [])


def test_overlap() -> None:
    """It becomes one, is told with its lines, and keeps the first reason and the last end."""
    two = [event("n1", 5, 9, reason="later", line=3), event("n1", 0, 10, reason="first", line=7)]
    assert outages_of(two) == (
        [{"nodes": "n1", "kind": "down", "begin": 0, "end": 10, "reason": "first"}],
        ["merged: 1 outage of a node that is away already: n1 (lines 7 and 3)"],
    )
    three = [event("n1", 0, 5), event("n1", 3, None), event("n1", 100, 200)]
    assert outages_of(three)[0] == [{"nodes": "n1", "kind": "down", "begin": 0}]
    _, (note,) = outages_of(event(f"n{number}", begin, 9) for number in range(7) for begin in (0, 1))
    assert note == (
        "merged: 7 outages of a node that is away already: n0 (lines 1 and 1), n1 (lines 1 and 1), n2 (lines 1 and 1), "
        "n3 (lines 1 and 1), n4 (lines 1 and 1) and 2 others"
    )


def test_one_behind_another() -> None:
    """One outage for one reason, and two for two; nothing is told of either."""
    same = [event("n1", 0, 5, reason="a"), event("n1", 5, 9, reason="a")]
    assert outages_of(same) == ([{"nodes": "n1", "kind": "down", "begin": 0, "end": 9, "reason": "a"}], [])
    other = [event("n1", 0, 5, reason="a"), event("n1", 5, 9, reason="b")]
    assert [each["begin"] for each in outages_of(other)[0]] == [0, 5]


def test_kinds_overlap() -> None:
    """A drained node may go down: both are kept."""
    assert len(outages_of([event("n1", 0, 9), event("n1", 3, 5, "drain")])[0]) == 2


def test_what_is_known_parts() -> None:
    """One that is planned, and one that is not, stay two, also of two nodes."""
    planned, surprise = event("n1", 0, 9)._replace(known=True), event("n1", 3, 12)._replace(known=False)
    found = outages_of([planned, surprise, surprise._replace(node="n2")])[0]
    assert [(each["nodes"], each["begin"], each["known"]) for each in found] == [("n1", 0, True), ("n[1-2]", 3, False)]


def test_nodes_together() -> None:
    """Those that go and come back together for one reason; n2 stands before n10."""
    four = [event("n10", 0, 5, reason="a"), event("n2", 0, 5, reason="a"), event("n3", 0, 5), event("n4", 0, 6)]
    assert [each["nodes"] for each in outages_of(four)[0]] == ["n3", "n[2,10]", "n4"]


def test_no_length() -> None:
    """Left out and told."""
    assert outages_of([event("n1", 5, 5)]) == ([], ["left out: 1 outage of no length"])


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "down", "drain"])), max_size=8))
def test_samples_second_by_second(drawn: list[dict[str, str]]) -> None:
    """A node is in the state of the last sample that names it."""
    samples = [Sample(place, {node: State(kind) for node, kind in each.items()}) for place, each in enumerate(drawn)]
    found = events_of(samples, [float(place) for place in range(len(samples))], "file")[0]
    expected = set()
    for node in "abc":
        kind = ""
        for second in range(END):
            kind = drawn[second].get(node, kind) if second < len(drawn) else kind
            if kind:
                expected.add((node, kind, (), True, second))
    assert seconds_of(found) == expected


MACHINE = {
    "nodes": [{"kind": "n", "count": 6, "cores": 4}],
    "outages": [
        {"nodes": ["n[1-2]", "n4"], "begin": 0, "end": 7200, "reason": "fan"},
        {"nodes": "n2", "begin": "2026-03-01T10:00:00Z", "end": "2026-03-01T12:30:00+01:00"},
        {"nodes": "n1", "begin": 5},
        {"nodes": "ALL", "kind": "drain", "begin": "2026-03-01T10:00", "end": "2026-03-01T11:00"},
        {"nodes": "n3", "kind": "drain", "begin": "2026-03-01T10:00", "end": "2026-03-01T11:00Z"},
    ],
}


def test_rows() -> None:
    """Node-hours where begin and end are told, in one way."""
    rows = outage_rows(MachineDescription.from_mapping(MACHINE))
    assert [row.node_hours for row in rows] == [6.0, 1.5, None, 6.0, None]
    assert [row.node_count for row in rows] == [3, 1, 1, 6, 1]
    assert rows[0]._asdict() == {
        "nodes": "n[1-2],n4",
        "node_count": 3,
        "kind": "down",
        "begin": "0 s",
        "end": "7,200 s",
        "seconds": 7200.0,
        "reason": "fan",
    }
    assert [row.node_hours for row in largest(rows, 2)] == [6.0, 6.0]
    assert [row.nodes for row in largest(rows, 9)] == ["n[1-2],n4", "ALL", "n2"]


def test_by_kind() -> None:
    """A node counts once; those without an end by themselves."""
    assert outages_by_kind(MachineDescription.from_mapping(MACHINE)) == [
        OutagesOfKind("down", 3, 3, 7.5, 1),
        OutagesOfKind("drain", 2, 6, 6.0, 1),
    ]


@pytest.mark.parametrize("end", [None, "2026-03-01T10:00:00.500000Z"])
def test_dates(end: str | None) -> None:
    """In UTC, parts of a second as they are."""
    drawn = Event("n1", 1_772_359_200.0, None if end is None else 1_772_359_200.5, "down", "", 1)
    (found,), _ = outages_of([drawn])
    assert (found["begin"], found.get("end")) == ("2026-03-01T10:00:00Z", end)
