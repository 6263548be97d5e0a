# SPDX-License-Identifier: BSD-3-Clause
"""Lists of hosts: what they stand for, how they are written, and what is none."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.machines.hostlist import (
    count_hosts,
    expand_hosts,
    fold_hosts,
    fold_ranges,
    in_order,
    numbered_on,
    split_hosts,
)


def naive(text: str) -> list[str]:
    """Return the hosts of a list, the obvious way: the first bracket becomes names without it, and so on."""
    depth, items, item = 0, [], ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            items.append(item)
            item = ""
        else:
            item += letter
    found = []
    for each in [*items, item]:
        if "[" not in each:
            found.append(each)
            continue
        before, _, rest = each.partition("[")
        inside, _, behind = rest.partition("]")
        for part in inside.split(","):
            first, _, last = part.partition("-")
            for number in range(int(first), int(last or first) + 1):
                found += naive(before + str(number).rjust(len(first), "0") + behind)
    return found


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("n1", ["n1"]),
        ("n[01-03,7],m1", ["n01", "n02", "n03", "n7", "m1"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[098-101]", ["n098", "n099", "n100", "n101"]),
        ("r[1-2]c[1,3]-ib", ["r1c1-ib", "r1c3-ib", "r2c1-ib", "r2c3-ib"]),
        ("[1-2]x,n1,n1", ["1x", "2x", "n1", "n1"]),
        ("tux-0.example.org", ["tux-0.example.org"]),
    ],
)
def test_what_lists_stand_for(text: str, hosts: list[str]) -> None:
    """Padding, several brackets, text behind them, names that are there twice."""
    assert expand_hosts(text) == hosts == naive(text)
    assert count_hosts(text) == len(hosts)


NUMBERS = st.integers(0, 12).map(str)
PADDED = st.tuples(NUMBERS, st.integers(1, 3)).map(lambda each: each[0].zfill(each[1]))
RANGES = st.tuples(PADDED, st.integers(0, 4)).map(
    lambda each: each[0] if not each[1] else f"{each[0]}-{int(each[0]) + each[1]}"
)
BRACKETS = st.lists(RANGES, min_size=1, max_size=3).map(lambda each: f"[{','.join(each)}]")
WORDS = st.sampled_from(["n", "node-", "r", ".ib", "7", "x0"])
ITEMS = st.lists(WORDS | BRACKETS, min_size=1, max_size=3).map("".join)
LISTS = st.lists(ITEMS, min_size=1, max_size=3).map(",".join)


@given(LISTS)
def test_all_lists(text: str) -> None:
    """The same as the naive way; written and read again they are the same hosts in the same order."""
    hosts = expand_hosts(text)
    assert hosts == naive(text)
    assert count_hosts(text) == len(hosts)
    assert expand_hosts(fold_hosts(hosts)) == hosts
    assert [host for item in split_hosts(text) for host in expand_hosts(item)] == hosts


@given(LISTS)
def test_as_another_library_reads_them(text: str) -> None:
    """Which sorts them, and leaves out those that are there twice."""
    hostlist = pytest.importorskip("hostlist")
    assert set(expand_hosts(text)) == set(hostlist.expand_hostlist(text))


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ([], ""),
        (["n1"], "n1"),
        (["n1", "n2", "n3", "n5"], "n[1-3,5]"),
        (["n08", "n09", "n10"], "n[08-10]"),
        (["n8", "n9", "n10"], "n[8-10]"),
        (["n8", "n09"], "n[8,09]"),
        (["n3", "n2"], "n[3,2]"),
        (["login", "n1-ib", "n2-ib", "n3"], "login,n[1-2]-ib,n3"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
    ],
)
def test_how_they_are_written(hosts: list[str], text: str) -> None:
    """Ranges only where the next number has the digits that it would have in them."""
    assert fold_hosts(hosts) == text


def test_ranges_of_numbers() -> None:
    """Pairs of first and last, as schedules have them."""
    names = [f"n{number:03}" for number in range(20)]
    assert fold_ranges(names, [0, 3, 7, 7, 18, 19]) == "n[000-003,007,018-019]"
    assert fold_ranges(names, []) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a name is missing"),
        ("n1,,n2", "a name is missing"),
        ("n[1-2", "a bracket is not closed"),
        ("n[]", r"\[\] should be numbers"),
        ("n[1-]", r"\[1-\] should be numbers"),
        ("n[a-b]", "should be numbers"),
        ("n[5-3]", "5-3 runs backwards; write 3-5"),
        ("n]1", "']' stands in a name"),
        ("n 1", "' ' stands in a name"),
        ("n[1\N{SUPERSCRIPT TWO}]", "should be numbers"),
        ("n[1-99999999999]", "should be numbers"),
    ],
)
def test_what_is_no_list(text: str, said: str) -> None:
    """One sentence each, and not longer than a line or two."""
    with pytest.raises(ParameterError, match=said) as caught:
        expand_hosts(text)
    assert len(str(caught.value)) < 200


def test_too_many_are_refused_before_they_are_there() -> None:
    """However many there would be."""
    tracemalloc.start()
    with pytest.raises(ParameterError, match="names 1,000,000,000,001 hosts, more than 200,000"):
        expand_hosts("a,n[000000-999999]x[000000-999999]")
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    assert len(expand_hosts("n[1-200000]")) == 200_000
    with pytest.raises(ParameterError, match="more than 3"):
        expand_hosts("n[1-4]", 3)


def test_numbers_on() -> None:
    """Behind the last digits of a name; those that are taken are passed over."""
    assert numbered_on("n099-ib", 2, {"n100-ib"}) == ["n101-ib", "n102-ib"]
    assert numbered_on("login", 0) == []
    with pytest.raises(ParameterError, match="'login' has no number"):
        numbered_on("login", 1)


def test_order_of_people() -> None:
    """Numbers count as numbers; a name without goes first."""
    assert sorted(["n10", "n9", "n", "m2", "n9a"], key=in_order) == ["m2", "n", "n9", "n9a", "n10"]
    assert sorted(["n1", "n01", "n0", "n" + "1" * 5000, "n002"], key=in_order)[:4] == ["n0", "n01", "n1", "n002"]
