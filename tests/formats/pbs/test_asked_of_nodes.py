# SPDX-License-Identifier: BSD-3-Clause
"""What select and nodes ask of each node, form by form."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from swftools.formats.pbs.chunks import is_alone, read_chunks


def _one(text: str | None) -> tuple[float, float, float, float, bool, str | None, str | None]:
    """Return cores, memory and GPUs of a node, all cores, whether nodes differ, features and types of GPU."""
    found = read_chunks(pa.array([text], pa.large_string()))
    numbers = (float(column[0]) for column in found[:4])
    return (*numbers, bool(found.is_mixed[0]), found.features[0].as_py(), found.gpu_types[0].as_py())  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "cores", "gpus", "all_cores", "features"),
    [
        ("1", 1, 0, 1, None),
        ("4", 1, 0, 4, None),
        ("n1", 1, 0, 1, "n1"),
        ("n1:ppn=4", 4, 0, 4, "n1"),
        ("2:ppn=4:fast:big", 4, 0, 8, "fast&big"),
        ("2:ppn=4:gpus=2:shared", 4, 2, 8, None),
        ("2:ppn=4:gpus=2:exclusive_process:fast", 4, 2, 8, "fast"),
        ("2:ppn=4#shared", 4, 0, 8, None),
        ("3:ncpus=2:ngpus=1:mpiprocs=2", 2, 1, 6, None),
        ("2:ncpus=2:feature=a:vnode=b", 2, 0, 4, "a&b"),
        ("2:ppn=4:fast+3:ppn=4:fast", 4, 0, 20, "fast"),
    ],
)
def test_requests(text: str, cores: float, gpus: float, all_cores: float, features: str | None) -> None:
    """Nodes that are alike."""
    found = _one(text)
    assert (found[0], *found[2:6]) == (cores, gpus, all_cores, False, features)


@pytest.mark.parametrize(
    ("text", "cores", "gpus", "all_cores", "features"),
    [
        ("2:ppn=4:fast+1:ppn=8:fast", 8, 0, 16, "fast"),
        ("2:ppn=4:fast+1:ppn=4:slow", 4, 0, 12, None),
        ("1:ncpus=4:ngpus=2+1:ncpus=8", 8, 2, 12, None),
    ],
)
def test_requests_for_several_kinds(
    text: str, cores: float, gpus: float, all_cores: float, features: str | None
) -> None:
    """The most of each amount, and only features that all must have."""
    found = _one(text)
    assert (found[0], *found[2:6]) == (cores, gpus, all_cores, True, features)


@pytest.mark.parametrize("text", [None, "", "2:ppn=x", "2:ppn=4+2:ncpus=", "1:gpus=1.5", "2:ppn=4+"])
def test_what_cannot_be_read_says_nothing(text: str | None) -> None:
    """No number, and no word of it."""
    found = _one(text)
    assert math.isnan(found[0])
    assert found[4:] == (False, None, None)


@pytest.mark.parametrize(
    ("size", "megabytes"),
    [("8gb", 8192), ("512MB", 512), ("1tb", 2**20), ("1048576", 1), ("1048576b", 1), ("2048kb", 2), ("131072w", 1)],
)
def test_memory_of_a_chunk(size: str, megabytes: float) -> None:
    """In MB; a plain number is of bytes, a word of eight."""
    assert _one(f"1:ncpus=1:mem={size}")[1] == megabytes
    assert math.isnan(_one("1:ncpus=1:mem=much")[1])
    assert _one("1:ncpus=1:mem=1gb+1:ncpus=1")[1] == 1024


def test_types_of_gpu() -> None:
    """Sites have a resource of their own for it."""
    assert [_one(f"1:ngpus=1:{key}=a100")[6] for key in ("gpu_type", "gputype", "gpu_model", "other")] == [
        *["a100"] * 3,
        None,
    ]


@pytest.mark.parametrize(
    ("place", "access", "alone"),
    [
        ("excl", None, 1),
        ("scatter:excl", None, 1),
        ("exclhost:pack", None, 1),
        ("scatter", None, 0),
        ("exclude", None, 0),
        ("shared", "SINGLEJOB", 1),
        (None, "singletask", 1),
        (None, "shared", 0),
        (None, None, 0),
    ],
)
def test_nodes_alone(place: str | None, access: str | None, alone: float) -> None:
    """By PBS's place, or Moab's access policy."""
    found = is_alone(pa.array([place], pa.large_string()), pa.array([access], pa.large_string()))
    assert found.tolist() == [alone]
