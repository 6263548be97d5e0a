# SPDX-License-Identifier: BSD-3-Clause
"""The text form of names with parameters: what it means, what is refused, and that it leads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.parameters.as_text import read_assignments, read_entries, read_entry, read_scalar, write_entry
from swftools.parameters.strict_yaml import read_value
from tests.examples import examples

NUMBERS = {"x": 1.5, "y": -2, "z": 1000.0}
WORDS = {"x": "no", "y": "1:30", "z": "1,2", "u": "true", "v": "+1"}


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        ("easy", [("easy", {})]),
        (
            "fcfs,easy:reservations=2,backfill_order=sjf,conservative",
            [("fcfs", {}), ("easy", {"reservations": 2, "backfill_order": "sjf"}), ("conservative", {})],
        ),
        (" fcfs , easy : reservations = 2 ", [("fcfs", {}), ("easy", {"reservations": 2})]),
        ("easy:reservations=2,easy:reservations=3", [("easy", {"reservations": 2}), ("easy", {"reservations": 3})]),
        ("my.rules:short,default", [("my.rules:short", {}), ("default", {})]),
        ("my.rules:short:seconds=30,more=a:b=c", [("my.rules:short", {"seconds": 30, "more": "a:b=c"})]),
        ("a:x=1.5,y=-2,z=1e3,u=true,v=null,w=~", [("a", {**NUMBERS, "u": True, "v": None, "w": None})]),
        ("a:x=no,y=1:30,z='1,2',u=\"true\",v=+1", [("a", WORDS)]),
        ("a:m.x=1,m.n.y=2,z=3", [("a", {"m": {"x": 1, "n": {"y": 2}}, "z": 3})]),
    ],
)
def test_what_a_list_means(text: str, entries: list[tuple[str, dict[str, Any]]]) -> None:
    """A word without ``=``, or with a colon before it, begins a new entry; values are YAML scalars."""
    assert entries == read_entries(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("reservations=2", "'reservations=2' comes before any name; write NAME:reservations=2"),
        ("a,,b", "'a,,b': '' is not a name"),
        ("a,", "'a,': '' is not a name"),
        (":x=1", "':x=1' is not a name"),
        ("a:=1", "'a:=1' is not KEY=VALUE"),
        ("a:x=", "'a:x=' is not KEY=VALUE"),
        ("a:x=1,=2", "'=2' is not KEY=VALUE"),
        ("a:x=[1", r"'a:x=\[1' is not KEY=VALUE"),
        ("a:x.=1", "'a:x.=1' is not KEY=VALUE"),
        ("a:.x=1", "'a:.x=1' is not KEY=VALUE"),
        ("a:x=1,x=2", "x is given twice"),
        ("a:x=1,x.y=2", "x.y is given twice"),
        ("a:x=1,x.y.z=2", "x.y.z is given twice"),
        ("a:x.y=1,x=2", "x is given twice"),
        ("a:x.y=1,x.y=2", "x.y is given twice"),
        ("virtual:0.3", "'0.3' is not KEY=VALUE, such as virtual:KEY=VALUE"),
    ],
)
def test_mistakes_are_named(text: str, complaint: str) -> None:
    """The message holds the word that is wrong and what would be right."""
    with pytest.raises(ParameterError, match=complaint):
        read_entries(text, known=["virtual"])


@pytest.mark.parametrize(("text", "count"), [("", 0), ("a,b", 2), ("a:x=1,b", 2)])
def test_one_entry_is_one(text: str, count: int) -> None:
    """Where one name is asked for, none or several are refused."""
    with pytest.raises(ParameterError, match=f"is not one NAME or NAME:KEY=VALUE,KEY=VALUE but {count}"):
        read_entry(text)


def test_assignments_alone() -> None:
    """What stands behind the colon, where the name is known."""
    assert {} == read_assignments(" ")
    assert {"bound": 60, "nominal": "run_time"} == read_assignments("bound=60,nominal=run_time")
    with pytest.raises(ParameterError, match="'bound' is not KEY=VALUE"):
        read_assignments("x=1,bound")


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20) + 1, 10**20 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="ascii", exclude_characters='"\n\r')).filter(lambda word: word.isprintable())
)
KEYS = st.from_regex(r"[a-z_]+", fullmatch=True)
MAPPINGS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, min_size=1), max_size=5)


@examples(0.5)
@given(st.lists(st.tuples(st.sampled_from(["easy", "my.rules:short"]), MAPPINGS), max_size=3))
def test_what_is_written_is_read_back(entries: list[tuple[str, dict[str, Any]]]) -> None:
    """Whatever the values: their types too."""
    text = ",".join(write_entry(name, values) for name, values in entries)
    assert repr(entries) == repr(read_entries(text))


@example("007")
@example("00")
@example(".9")
@example("-.5e-3")
@example("1e4000")
@given(st.from_regex(r"-?[0-9.][0-9.eE+-]{0,20}|[a-zA-Z~][-+.~0-9a-zA-Z_]{0,9}|null|true|false|~", fullmatch=True))
def test_scalars_are_those_of_our_yaml(word: str) -> None:
    """A word of a command line means what it means in a card."""
    assert repr(read_value(word)) == repr(read_scalar(word))
