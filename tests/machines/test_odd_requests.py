# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of a machine of nodes where it is easy to take it for something else: cases worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from swftools.machines.requests import ask_of
from tests.machines.tables import jobs, machine


def test_what_is_lacking_where_one_of_several_partitions_has_the_features() -> None:
    """Then it is the type of GPU, which nobody has there."""
    table = machine("fast 1 8 0 1 +fast gpu:a100 / slow 1 8 0 1 gpu:v100", "a fast / b slow")
    log = jobs("partition requested_processors constraints gpu_types / a,b 1 fast v100 / b 1 fast v100 / a 1 fast a100")
    asked = ask_of(log, table)
    assert [asked.reasons[code] for code in asked.code] == [
        "asks for a type of GPU that no node of its partition has",
        "asks for features that no node of its partition has",
        "",
    ]


def test_a_partition_whose_own_name_has_a_comma() -> None:
    """A log that names it does not name those before and behind the comma."""
    table = machine("thin 1 8 0 0 / fat 1 8 0 0 / wide 1 8 0 0", "a thin / b fat / x wide")
    table = replace(table, partitions=(*table.partitions[:2], replace(table.partitions[2], name="a,b")))
    asked = ask_of(jobs("partition requested_processors / a,b 1 / b,a 1"), table)
    assert [asked.places[place].partitions for place in asked.place] == [(2,), (1, 0)]


def test_cores_that_were_given_with_gpus() -> None:
    """What was given is the width of a plain log; who asks for GPUs has the cores that it asked for."""
    table = machine("fat 2 16 4000 2")
    heads = "requested_processors allocated_processors requested_gpus allocated_gpus"
    asked = ask_of(jobs(f"{heads} / 4 8 1 1 / 4 8 . . / . 8 1 1"), table)
    assert asked.cores.tolist() == [4, 8, 8]


def test_amounts_beyond_all_numbers_are_too_many() -> None:
    """However large they are: nothing overflows into something that fits."""
    log = jobs("requested_nodes node_cores node_gpus / 1 1e30 . / 4e18 1 . / 1 1 1e300 / 1 1 .")
    assert (ask_of(log, machine("fat 2 16 4000 2")).code > 0).tolist() == [True, True, True, False]
