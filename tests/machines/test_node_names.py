# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes are meant by names, features and types of GPU."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.machines.node_names import NodeNames, NotFollowedError
from swftools.machines.request_words import read_request
from swftools.machines.requests import ask_of
from tests.machines.tables import log_of, machine

NODES = machine("a 2 4 0 0 +fast +ib / b 2 8 0 1 +ib gpu:A100 / c 1 16 0 2 +old gpu:v100", "p a,b / q c")


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("fast", [0, 1]),
        ("ib", [0, 1, 2, 3]),
        ("fast&ib", [0, 1]),
        ("fast|old", [0, 1, 4]),
        ("ib&fast|old", [0, 1, 4]),
        ("old|ib&fast", [0, 1, 4]),
        ("ib&(fast|old)", [0, 1]),
        ("(fast|old)&(ib)", [0, 1]),
        (" fast , ib ", [0, 1]),
        ("nothing", []),
        ("nothing|old", [4]),
        ("q", [4]),
        ("b1", [3]),
        ("A100", [2, 3]),
    ],
)
def test_features_as_slurm_has_them(text: str, nodes: list[int]) -> None:
    """``&`` binds more than ``|``; a name that nothing has is of no node."""
    assert np.flatnonzero(NodeNames(NODES).with_features(text)).tolist() == nodes


@pytest.mark.parametrize(
    "text",
    ["[fast|old]", "fast*2", "fast&", "|fast", "(fast", "fast)", "()", "fast old", "&", " ", "(" * 9999, "a|(b&)"],
)
def test_other_forms_are_not_followed(text: str) -> None:
    """Whatever it is, it is no error of the machine."""
    with pytest.raises(NotFollowedError):
        NodeNames(NODES).with_features(text)
    asked = ask_of(log_of([{"requested_processors": 1, "constraints": text}]), NODES)
    assert not asked.code.any()
    assert any(told.startswith("features that are not followed") and told.endswith(": 1 job") for told in asked.assumed)


def test_features_of_a_machine_without_any() -> None:
    """Nothing is known of them: jobs run anywhere, and it is told."""
    table = machine("a 2 4 0 0")
    asked = ask_of(log_of([{"requested_processors": 1, "constraints": "fast"}] * 2), table)
    assert asked.places[0].nodes[0].tolist() == [0, 1]
    assert (
        "features that are not followed, as they are in another form than a&b|c or the machine names none: fast: 2 jobs"
        in asked.assumed
    )


def test_few_of_many_names_are_told() -> None:
    """The first five, and how many others."""
    log = log_of([{"requested_processors": 1, "constraints": f"f{number}"} for number in range(7)])
    told = ask_of(log, machine("a 2 4 0 0")).assumed[-1]
    assert told.endswith(": f0, f1, f2, f3, f4 and 2 others: 7 jobs")
    left_out = np.arange(7) < 4
    assert ask_of(log, machine("a 2 4 0 0"), cancelled=left_out).assumed[-1].endswith(" and 2 others: 3 jobs")


def test_who_asks_for_what_no_node_has_cannot_run() -> None:
    """One reason for features, one for types of GPU."""
    log = log_of(
        [
            {"requested_processors": 1, "constraints": "old", "partition": "p"},
            {"requested_processors": 1, "gpu_types": "v100", "partition": "p"},
            {"requested_processors": 1, "gpu_types": "a100|v100", "partition": "p"},
            {"requested_processors": 1, "gpu_types": "v100", "constraints": "ib", "partition": "q"},
        ]
    )
    asked = ask_of(log, NODES)
    assert [asked.reasons[code] for code in asked.code] == [
        "asks for features that no node of its partition has",
        "asks for a type of GPU that no node of its partition has",
        "",
        "asks for features that no node of its partition has",
    ]
    assert asked.places[asked.place[2]].nodes[0].tolist() == [2, 3]


def test_types_of_gpu() -> None:
    """Any of several, in small or capital letters; of a machine that names no types none is followed."""
    names = NodeNames(NODES)
    assert np.flatnonzero(names.with_gpu_type("a100")).tolist() == [2, 3]
    assert np.flatnonzero(names.with_gpu_type("V100|a100")).tolist() == [2, 3, 4]
    assert not names.with_gpu_type("h100").any()
    asked = ask_of(log_of([{"requested_processors": 1, "gpu_types": "T4"}]), machine("a 2 4 0 1"))
    assert not asked.code.any()
    assert "types of GPU that are not followed, as the machine names none: T4: 1 job" in asked.assumed


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("1", (1, 1, 0, False, ())),
        ("2:ppn=4", (2, 4, 0, False, ())),
        ("2:ncpus=4:ngpus=1:x#excl", (2, 4, 1, True, ("x",))),
        ("2:ppn=4:gpus=2#shared", (2, 4, 2, False, ())),
        ("1:ppn=2:a+3:ppn=1:a", (4, 2, 0, False, ("a",))),
        ("1:ppn=2:a+3:ppn=2:b", (4, 2, 0, False, ())),
        ("1:ppn=2:^n1:mem=3gb", (1, 2, 0, False, ("^n1",))),
        ("frontier:excl:10x56", (10, 56, 0, True, ())),
        ("frontier:shared:10x56", (10, 56, 0, False, ())),
    ],
)
def test_requests_in_words(text: str, asked: tuple[object, ...]) -> None:
    """Nodes, cores and GPUs of each, alone, and names."""
    found = read_request(text)
    assert found is not None
    assert (*found[:4], found.words) == asked


@pytest.mark.parametrize("text", ["", "x", "x:ppn=2", "1+", "-1:ppn=2", "1:ppn=2+x", "frontier:excl:1x", "9999999999"])
def test_no_requests(text: str) -> None:
    """What is none is told to be none."""
    assert read_request(text) is None


def test_a_request_of_several_kinds_is_told_to_be_one() -> None:
    """Parts that differ but in how many nodes they want are of one kind."""
    mixed = {text: read_request(text) for text in ("1:ppn=2+3:ppn=2", "1:ppn=2+1:ppn=3", "1:ppn=2:a+1:ppn=2")}
    assert [found is not None and found.is_mixed for found in mixed.values()] == [False, True, True]
